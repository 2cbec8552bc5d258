/** Warnings of budgets at webhooks: signed, once, in spite of receivers that fail, hang or lead elsewhere. */
import { assert, assertEquals, assertObjectMatch } from "@std/assert";
import { createHmac } from "node:crypto";
import { ACCOUNTS, CONFIG_KEY, TEAMS, WEBHOOKS } from "../../src/accounts/config.ts";
import type { AccountsConfig } from "../../src/accounts/mod.ts";
import { onBothEngines, type Place } from "../support/cluster.ts";
import { eventually, StoppedClock } from "../support/time.ts";
import { codeOf, endOf, NOON, open, requestOf, type Running } from "./support.ts";

const SECRET = "sk_live_devdevdevdevdevdevdevdev";

interface Told {
  id: string;
  type: string;
  signed: boolean;
  data: Record<string, unknown>;
}

interface Receiver {
  url: string;
  told: Told[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** @param answer to the nth request, from 0 */
function receiver(
  answer: (nth: number) => Response | Promise<Response> = () => new Response(null, { status: 204 }),
): Receiver {
  const told: Told[] = [];
  let count = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const body = await request.text();
    const expected = `sha256=${createHmac("sha256", "whsec").update(body).digest("hex")}`;
    const response = await answer(count++);
    const { id, type, data } = JSON.parse(body);
    told.push({ id, type, data, signed: request.headers.get("x-svc-signature") === expected });
    assertEquals([request.headers.get("x-svc-event"), request.headers.get("x-svc-delivery")], [type, id]);
    return response;
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/hook?x=1`,
    told,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function configOf(
  webhooks: { url: string; events?: string[] }[],
  key: Record<string, unknown> = {},
): AccountsConfig {
  return {
    keys: [CONFIG_KEY.parse({
      name: "dev",
      secret: SECRET,
      spend_limit: { amount: "0.1", period: "day" },
      ...key,
    })],
    accounts: ACCOUNTS.parse([]),
    accessPolicies: [],
    teams: TEAMS.parse([{ name: "t", spend_limit: { amount: "0.2", period: "total" } }]),
    webhooks: WEBHOOKS.parse(webhooks.map((webhook) => ({ secret: "whsec", ...webhook }))),
  };
}

async function spend(node: Running, tokens: number, session: string | null = null): Promise<void> {
  const dev = await node.authenticate(SECRET);
  const reservation = await node.admit(requestOf(dev, tokens, { labels: { tags: null, session } }));
  await reservation.settle(endOf({ input: tokens }));
}

const types = ({ told }: Receiver) => told.map(({ type }) => type).sort();

onBothEngines(({ name, place }) => {
  function test(
    title: string,
    body: (run: (config: AccountsConfig) => Promise<Running>) => Promise<void>,
  ): void {
    Deno.test(`${name}: ${title}`, async () => {
      const here: Place = place();
      const clock = new StoppedClock(NOON);
      const nodes: Running[] = [];
      try {
        await body(async (config) => {
          nodes.push(await open(here.open(), config, { clock, ticking: true }));
          return nodes.at(-1)!;
        });
      } finally {
        for (const node of nodes) await node.close();
        here.remove();
      }
    });
  }

  test("shares of a budget are told once, signed, by one of two nodes", async (run) => {
    await using hook = receiver();
    const config = configOf([{ url: hook.url }], { team: "t", session_limit: { amount: "0.05" } });
    const nodes = [await run(config), await run(config)];
    for (let i = 0; i < 4; i++) await spend(nodes[i % 2], 1);
    for (const node of nodes) await node.flush();
    assertEquals(hook.told, []);
    for (let i = 0; i < 4; i++) await spend(nodes[i % 2], 1, "run");
    for (const node of nodes) await node.flush();
    await spend(nodes[0], 2);
    await nodes[0].flush();
    await eventually(() => hook.told.length >= 6);
    assert(hook.told.every(({ signed }) => signed));
    const told = hook.told.map(({ type, data }) => `${data.scope} ${type}`).sort();
    assertEquals(told, [
      "key budget.100",
      "key budget.50",
      "key budget.80",
      "session budget.50",
      "session budget.80",
      "team budget.50",
    ]);
    assertEquals(new Set(hook.told.map(({ id }) => id)).size, 6);
    const [fifty] = hook.told.filter(({ type, data }) => type === "budget.50" && data.scope === "key");
    assertObjectMatch(fifty.data, {
      key: "dev",
      key_id: "key_config_dev",
      percent: 50,
      limit: "0.10",
      period: { starts: "2026-01-15T00:00:00.000Z", ends: "2026-01-16T00:00:00.000Z" },
    });
    assertObjectMatch(hook.told.find(({ data }) => data.scope === "session")!.data, {
      key: "dev",
      session: "run",
    });
  });

  test("a budget that refuses calls counts as used up, once most of it is spent", async (run) => {
    await using hook = receiver();
    const node = await run(configOf([{ url: hook.url, events: ["budget.100"] }]));
    await spend(node, 1);
    const dev = await node.authenticate(SECRET);
    assertEquals(await codeOf(() => node.admit(requestOf(dev, 50))), "api_key_limit_exceeded");
    await spend(node, 8);
    await node.flush();
    for (let i = 0; i < 3; i++) {
      assertEquals(await codeOf(() => node.admit(requestOf(dev, 2))), "api_key_limit_exceeded");
    }
    await eventually(() => hook.told.length > 0);
    assertEquals(types(hook), ["budget.100"]);
    assertObjectMatch(hook.told[0].data, { spent: "0.09", remaining: "0.01" });
  });

  test("a session that was told to be used up is not told so again when it comes back", async (run) => {
    await using hook = receiver();
    const config = configOf([{ url: hook.url }], {
      session_limit: { amount: "0.05" },
      spend_limit: { amount: "100", period: "total" },
    });
    const nodes = [await run(config), await run(config)];
    const refused = async (node: Running) => {
      const dev = await node.authenticate(SECRET);
      const labels = { tags: null, session: "run" };
      assertEquals(await codeOf(() => node.admit(requestOf(dev, 2, { labels }))), "api_key_limit_exceeded");
      await node.flush();
    };
    await spend(nodes[0], 4, "run");
    await nodes[0].flush();
    for (let turn = 0; turn < 2; turn++) {
      for (const node of nodes) await refused(node);
      // Nobody uses it for so long that the nodes let go of it.
      nodes[0].clock.move(3_600_000);
      for (let tick = 0; tick < 21; tick++) for (const node of nodes) await node.tick();
      for (const node of nodes) await node.flush();
    }
    await spend(nodes[0], 3, "later");
    await nodes[0].flush();
    await eventually(() => hook.told.some(({ data }) => data.session === "later"));
    const told = hook.told.filter(({ data }) => data.session === "run");
    assertEquals(told.map(({ type }) => type).sort(), ["budget.100", "budget.50", "budget.80"]);
  });

  test("an account's credits are a budget too, and those that are added arm it again", async (run) => {
    await using hook = receiver();
    const config = configOf([{ url: hook.url, events: ["budget.80"] }], {
      spend_limit: null,
      account: "acme",
    });
    const node = await run({ ...config, accounts: ACCOUNTS.parse([{ name: "acme", credits: "0.10" }]) });
    await spend(node, 8);
    await eventually(() => hook.told.length === 1);
    assertObjectMatch(hook.told[0].data, { scope: "account", account: "acme", period: { ends: null } });
    await node.addCredits("acme", "0.10");
    await spend(node, 1);
    await node.flush();
    await spend(node, 7);
    await eventually(() => hook.told.length === 2);
    assertObjectMatch(hook.told[1].data, { limit: "0.20", spent: "0.16" });
  });

  test("what a receiver fails to take comes again, also after a restart", async (run) => {
    await using hook = receiver((nth) => new Response("no", { status: nth < 2 ? 500 : 200 }));
    const config = configOf([{ url: hook.url, events: ["budget.50"] }]);
    const first = await run(config);
    await spend(first, 5);
    await eventually(() => hook.told.length === 1);
    await first.close();
    const second = await run(config);
    second.clock.move(1500);
    await eventually(() => {
      second.clock.move(500);
      return hook.told.length === 3;
    });
    assertEquals(new Set(hook.told.map(({ id }) => id)).size, 1);
    assertEquals(types(hook), ["budget.50", "budget.50", "budget.50"]);
  });

  test("a receiver that hangs delays no other, and no redirect is followed", async (run) => {
    const hanging = Promise.withResolvers<void>();
    await using elsewhere = receiver();
    await using hung = receiver(async () => {
      await hanging.promise;
      return new Response(null);
    });
    await using leading = receiver(() => Response.redirect(elsewhere.url, 307));
    await using good = receiver();
    const hooks = [hung, leading, good].map(({ url }) => ({ url }));
    const node = await run(configOf(hooks));
    try {
      await spend(node, 10);
      await eventually(() => good.told.length === 3 && leading.told.length >= 3);
      assertEquals(elsewhere.told, []);
      // The receiver has answered before its answer is read.
      await eventually(() => node.warnings.some((line) => /webhooks\[1\] .* status 307/.test(line)), {
        what: () => node.warnings.join("\n"),
      });
      assert(node.warnings.every((line) => !line.includes(leading.url)));
    } finally {
      hanging.resolve();
    }
  });
});
