/** Budgets of teams, sessions and tags: on both databases, over several nodes, and as operators see them. */
import { assert, assertEquals, assertMatch, assertObjectMatch, assertRejects } from "@std/assert";
import { ACCOUNTS, CONFIG_KEY, TEAMS } from "../../src/accounts/config.ts";
import type { AccountsConfig, AdmissionRequest, Key, Reservation } from "../../src/accounts/mod.ts";
import { Failure } from "../../src/exchange/failure.ts";
import { onBothEngines, type Place } from "../support/cluster.ts";
import { StoppedClock } from "../support/time.ts";
import { codeOf, endOf, NOON, open, requestOf, type Running } from "./support.ts";

const DAY = 86_400_000;
const secretOf = (name: string) => `sk_live_${name.repeat(20)}`;

function configWith(
  keys: Record<string, unknown>[],
  teams: Record<string, unknown>[] = [],
): AccountsConfig {
  return {
    keys: keys.map((key) => CONFIG_KEY.parse({ secret: secretOf(String(key.name)), ...key })),
    accounts: ACCOUNTS.parse([{ name: "acme", credits: null }, { name: "labs", credits: "3" }]),
    accessPolicies: [{ name: "eu", allow: ["mistral/*"], deny: [] }],
    teams: TEAMS.parse(teams),
  };
}

type Labels = NonNullable<AdmissionRequest["labels"]>;
const inSession = (session: string): { labels: Labels } => ({ labels: { tags: null, session } });
const tagged = (tags: Record<string, string>): { labels: Labels } => ({ labels: { tags, session: null } });

/** Admits so many at once, of `tokens` cents each, and ends them. Answers what was spent in cents, and why others were not. */
async function spendAtOnce(
  nodes: readonly Running[],
  keys: readonly Key[],
  { calls, tokens = 1, labels }: { calls: number; tokens?: number; labels?: Labels | null },
): Promise<{ spent: number; refused: Map<string, number> }> {
  const open: Reservation[] = [];
  const refused = new Map<string, number>();
  await Promise.all(Array.from({ length: calls }, async (_, i) => {
    const node = nodes[i % nodes.length];
    try {
      open.push(await node.admit(requestOf(keys[i % keys.length], tokens, { labels })));
    } catch (error) {
      const { code } = error as Failure;
      refused.set(code, (refused.get(code) ?? 0) + 1);
    }
  }));
  await Promise.all(open.map((reservation) => reservation.settle(endOf({ input: tokens }))));
  return { spent: open.length * tokens, refused };
}

onBothEngines(({ name, place }) => {
  function test(
    title: string,
    config: AccountsConfig,
    count: number,
    body: (nodes: Running[], here: Place) => Promise<void>,
  ): void {
    Deno.test(`${name}: ${title}`, async () => {
      const here = place();
      const clock = new StoppedClock(NOON);
      const nodes: Running[] = [];
      try {
        for (let i = 0; i < count; i++) nodes.push(await open(here.open(), config, { clock }));
        await body(nodes, here);
      } finally {
        for (const node of nodes) await node.close();
        here.remove();
      }
    });
  }

  test(
    "a key that has come to another team or account while a body came in is bounded and billed as it is now",
    configWith([], [
      { name: "large", account: "acme", spend_limit: { amount: "5", period: "month" } },
      { name: "small", account: "labs", spend_limit: { amount: "0.03", period: "month" } },
    ]),
    1,
    async ([node]) => {
      const { secret } = await node.createKey({ name: "mover", team: "small" });
      const before = await node.authenticate(secret);
      await node.patchKey("mover", { team: "large", account: "acme" });
      assertEquals((await spendAtOnce([node], [before], { calls: 10 })).spent, 10);
      const [generation] = (await node.generations({})).data;
      assertEquals([generation.team, generation.account], ["large", "acme"]);
      const spentBy = async () => (await node.teams()).data.map(({ name, spend }) => [name, spend?.amount]);
      assertEquals(await spentBy(), [["large", "0.10"], ["small", "0.00"]]);
      // The other way round: the small limit holds at once.
      const after = await node.authenticate(secret);
      await node.patchKey("mover", { team: "small", account: "labs" });
      assertEquals((await spendAtOnce([node], [after], { calls: 10 })).spent, 3);
      assertEquals(await spentBy(), [["large", "0.10"], ["small", "0.03"]]);
      assertEquals((await node.credits("labs")).spent, "0.03");
      // Without its team nobody knows what it may spend.
      const member = await node.authenticate(secret);
      await node.reload(configWith([]));
      assertEquals(await codeOf(() => node.admit(requestOf(member, 1))), "policy_violation");
    },
  );

  test(
    "what any number of teams has spent is told at once",
    configWith(
      [{ name: "dev", account: "acme", team: "team7" }],
      Array.from(
        { length: 700 },
        (_, i) => ({ name: `team${i}`, spend_limit: { amount: "9", period: "day" } }),
      ),
    ),
    1,
    async ([node]) => {
      const dev = await node.authenticate(secretOf("dev"));
      await spendAtOnce([node], [dev], { calls: 4 });
      const { data } = await node.teams({ limit: 1000 });
      assertEquals(data.length, 700);
      assertEquals(data.filter(({ spend }) => spend?.amount !== "0.00").map(({ name }) => name), ["team7"]);
    },
  );

  test(
    "a session stops at its limit, and tells the agent why; other sessions go on",
    configWith([{ name: "dev", session_limit: { amount: "0.1" } }]),
    1,
    async ([node]) => {
      const dev = await node.authenticate(secretOf("dev"));
      assertEquals((await spendAtOnce([node], [dev], { calls: 9, ...inSession("loop") })).spent, 9);
      const failure = await assertRejects(() => node.admit(requestOf(dev, 2, inSession("loop"))), Failure);
      assertEquals(failure.code, "api_key_limit_exceeded");
      assertMatch(
        failure.message,
        /This session has reached its spend limit of 0\.10 \(0\.09 spent\).*new session/,
      );
      assertEquals(failure.row.retryable, undefined);
      assertEquals((await spendAtOnce([node], [dev], { calls: 3, ...inSession("other") })).spent, 3);
      assertEquals((await spendAtOnce([node], [dev], { calls: 50, labels: null })).spent, 50);
    },
  );

  test(
    "a session's budget is remembered when its lease is gone, and by the next process",
    configWith([{ name: "dev", session_limit: { amount: "0.1", requests_per_minute: 100 } }]),
    1,
    async ([node], here) => {
      const dev = await node.authenticate(secretOf("dev"));
      await spendAtOnce([node], [dev], { calls: 6, ...inSession("long") });
      await node.flush();
      const engine = here.engine();
      try {
        const rows = () => engine.query("SELECT id FROM budgets WHERE scope LIKE 'session%'");
        assertEquals((await rows()).length, 2);
        node.clock.move(3_600_000);
        for (let turn = 0; turn < 21; turn++) await node.tick();
        await node.flush();
        const { labels } = inSession("another");
        await spendAtOnce([node], [dev], { calls: 1, labels });
        await node.flush();
        const left = await rows();
        assert(
          left.length === 2 && left.every(({ id }) => String(id).includes("another")),
          JSON.stringify(left),
        );
      } finally {
        await engine.close();
      }
      assertEquals((await spendAtOnce([node], [dev], { calls: 9, ...inSession("long") })).spent, 4);
      const next = await open(here.open(), configWith([{ name: "dev", session_limit: { amount: "0.15" } }]), {
        clock: node.clock,
      });
      try {
        await node.close();
        const again = await next.authenticate(secretOf("dev"));
        assertEquals((await spendAtOnce([next], [again], { calls: 30, ...inSession("long") })).spent, 5);
      } finally {
        await next.close();
      }
    },
  );

  test(
    "sessions that are never used again leave no rows, whether they are limited or not",
    configWith([{ name: "dev", session_limit: { amount: "0.1", requests_per_minute: 100 } }, {
      name: "free",
    }]),
    1,
    async ([node], here) => {
      const [dev, free] = [
        await node.authenticate(secretOf("dev")),
        await node.authenticate(secretOf("free")),
      ];
      const engine = here.engine();
      const rows = async () =>
        (await engine.query("SELECT (SELECT COUNT(*) FROM budgets) AS b, (SELECT COUNT(*) FROM leases) AS l"))
          .map(({ b, l }) => [Number(b), Number(l)])[0];
      /** A new session with each call. */
      const crowd = async (key: Key, from: number, count: number) => {
        for (let i = from; i < from + count; i++) {
          await spendAtOnce([node], [key], { calls: 1, ...inSession(`s${i}`) });
        }
        await node.flush();
      };
      try {
        await crowd(free, 0, 1);
        await crowd(dev, 0, 1);
        const [budgets, leases] = await rows();
        await crowd(free, 1, 100);
        assertEquals(await rows(), [budgets, leases], "without a limit there is nothing to keep");
        const left = [];
        for (let round = 0; round < 3; round++) {
          await crowd(dev, 1 + round * 100, 100);
          left.push(await rows());
          node.clock.move(700_000);
          for (let turn = 0; turn < 21; turn++) await node.tick();
          await node.flush();
        }
        for (const [b, l] of left) {
          assert(b <= budgets + 200 && l <= leases + 200, JSON.stringify({ left, budgets, leases }));
          assert(b > budgets, "a limited session has a budget while it is used");
        }
      } finally {
        await engine.close();
      }
    },
  );

  test(
    "requests of a session in a minute are bounded, and say when it goes on",
    configWith([{ name: "dev", session_limit: { requests_per_minute: 5 } }]),
    1,
    async ([node]) => {
      const dev = await node.authenticate(secretOf("dev"));
      const { spent, refused } = await spendAtOnce([node], [dev], { calls: 12, ...inSession("loop") });
      assertEquals([spent, refused.get("provider_rate_limited")], [5, 7]);
      const failure = await assertRejects(() => node.admit(requestOf(dev, 1, inSession("loop"))), Failure);
      assertMatch(failure.message, /limit of 5 requests a minute\. If an agent is running in a loop/);
      assertEquals(failure.headers?.["x-should-retry"], "false");
      assert(failure.retryAfter! > 0);
      assertEquals((await spendAtOnce([node], [dev], { calls: 5, ...inSession("calm") })).spent, 5);
      node.clock.move(61_000);
      assertEquals((await spendAtOnce([node], [dev], { calls: 9, ...inSession("loop") })).spent, 5);
    },
  );

  test(
    "two keys that use one name have two sessions",
    configWith(["one", "two"].map((name) => ({ name, session_limit: { amount: "0.05" } }))),
    1,
    async ([node]) => {
      const keys = await Promise.all(["one", "two"].map((name) => node.authenticate(secretOf(name))));
      assertEquals((await spendAtOnce([node], keys, { calls: 30, ...inSession("same") })).spent, 10);
    },
  );

  test(
    "200 calls at once on three nodes spend a session's limit and no more",
    configWith([{ name: "dev", session_limit: { amount: "0.5" } }]),
    3,
    async (nodes) => {
      const dev = await nodes[0].authenticate(secretOf("dev"));
      const first = await spendAtOnce(nodes, [dev], { calls: 200, ...inSession("loop") });
      assert(first.spent <= 50, `${first.spent}`);
      // What one node held and did not need comes to those that do.
      let spent = first.spent;
      for (let round = 0; round < 20 && spent < 50; round++) {
        for (const node of nodes) await node.tick();
        nodes[0].clock.move(1100);
        spent += (await spendAtOnce(nodes, [dev], { calls: 30, ...inSession("loop") })).spent;
      }
      assertEquals(spent, 50);
    },
  );

  test(
    "200 calls at once of two keys on three nodes spend their team's limit and no more",
    configWith(
      [{ name: "one", team: "t" }, { name: "two", team: "t" }],
      [{ name: "t", spend_limit: { amount: "0.5", period: "day" } }],
    ),
    3,
    async (nodes) => {
      const keys = await Promise.all(["one", "two"].map((name) => nodes[0].authenticate(secretOf(name))));
      let { spent } = await spendAtOnce(nodes, keys, { calls: 200 });
      assert(spent <= 50, `${spent}`);
      for (let round = 0; round < 20 && spent < 50; round++) {
        for (const node of nodes) await node.tick();
        nodes[0].clock.move(1100);
        spent += (await spendAtOnce(nodes, keys, { calls: 30 })).spent;
      }
      assertEquals(spent, 50);
      await nodes[0].flush();
      await nodes[1].flush();
      await nodes[2].flush();
      const failure = await assertRejects(() => nodes[1].admit(requestOf(keys[1], 1)), Failure);
      assertMatch(failure.message, /spend limit of the team t/);
      assertEquals(failure.details?.reset_at, "2026-01-16T00:00:00.000Z");
      const { data: [team] } = await nodes[2].teams();
      assertObjectMatch(team, {
        name: "t",
        keys: 2,
        spend: { amount: "0.50", remaining: "0.00", forecast: "1.00", reset_at: "2026-01-16T00:00:00.000Z" },
      });
      nodes[0].clock.move(DAY);
      assertEquals((await spendAtOnce(nodes.slice(0, 1), keys, { calls: 1 })).spent, 1);
    },
  );

  test(
    "a team's rights hold beside its keys', the stricter of both limits too",
    configWith(
      [
        {
          name: "a",
          team: "t",
          spend_limit: { amount: "0.02", period: "total" },
          models: ["mistral/*", "x/y"],
        },
        { name: "b", team: "t", spend_limit: { amount: "9", period: "total" } },
      ],
      [{
        name: "t",
        account: "labs",
        models: ["mistral/*"],
        access_policy: "eu",
        dlp_policy: "finance",
        spend_limit: { amount: "0.05", period: "month" },
      }],
    ),
    1,
    async ([node]) => {
      const [a, b] = await Promise.all(["a", "b"].map((name) => node.authenticate(secretOf(name))));
      assertEquals(a.account, "labs");
      assertObjectMatch(a, {
        models: ["mistral/*", "x/y"],
        team: { models: ["mistral/*"], dlpPolicy: "finance" },
      });
      assertEquals((await spendAtOnce([node], [a], { calls: 9 })).spent, 2);
      assertEquals((await spendAtOnce([node], [b], { calls: 9 })).spent, 3);
      await node.flush();
      assertEquals((await node.credits("labs")).spent, "0.05");
      assertObjectMatch(await node.keyStatus(a), {
        team: "t",
        spend: { amount: "0.02" },
        team_spend: { amount: "0.05", remaining: "0.00" },
      });
    },
  );

  test(
    "keys of the store name a team, follow its account, and are refused when it is gone",
    configWith([], [{ name: "t", account: "labs", spend_limit: { amount: "0.03", period: "day" } }, {
      name: "u",
    }]),
    1,
    async ([node]) => {
      const { key, secret } = await node.createKey({
        name: "made",
        team: "t",
        session_limit: { amount: "0.02" },
        tag_limits: [{ tag: "env", amount: "0.01", period: "day" }],
      });
      assertObjectMatch(key, {
        account: "labs",
        team: "t",
        session_limit: { amount: "0.02", requests_per_minute: null },
        tag_limits: [{ tag: "env", amount: "0.01", period: "day" }],
      });
      const made = await node.authenticate(secret);
      assertEquals((await spendAtOnce([node], [made], { calls: 9, ...inSession("s") })).spent, 2);
      assertEquals((await spendAtOnce([node], [made], { calls: 9 })).spent, 1);
      assertEquals(await codeOf(() => node.createKey({ name: "x", team: "nobody" })), "validation_error");
      assertEquals(
        await codeOf(() => node.createKey({ name: "x", team: "t", account: "acme" })),
        "validation_error",
      );
      const moved = await node.patchKey("made", { team: "u", session_limit: null });
      assertObjectMatch(moved, { team: "u", session_limit: null });
      await node.reload(configWith([]));
      const orphan = await node.authenticate(secret);
      assertEquals(orphan.team?.accessPolicy, "missing");
      // What has nothing to do with its team can still be changed.
      assertObjectMatch(await node.patchKey("made", { team: null }), { team: null });
    },
  );

  test(
    "each value of a tag has a budget of its own, in each period",
    configWith([{ name: "dev", tag_limits: [{ tag: "customer", amount: "0.05", period: "day" }] }]),
    1,
    async ([node]) => {
      const dev = await node.authenticate(secretOf("dev"));
      const spend = async (tags: Record<string, string>) =>
        (await spendAtOnce([node], [dev], { calls: 9, ...tagged(tags) })).spent;
      assertEquals(await spend({ customer: "acme", env: "x" }), 5);
      assertEquals(await spend({ customer: "acme", env: "y" }), 0);
      assertEquals(await spend({ customer: "acme, inc: 100%" }), 5);
      assertEquals(await spend({ env: "x" }), 9);
      const failure = await assertRejects(
        () => node.admit(requestOf(dev, 1, tagged({ customer: "acme" }))),
        Failure,
      );
      assertMatch(failure.message, /spend limit of the tag customer=acme/);
      node.clock.move(DAY);
      assertEquals(await spend({ customer: "acme" }), 5);
    },
  );

  test(
    "budgets of tags in all go with their leases, and are remembered",
    configWith([{ name: "dev", tag_limits: [{ tag: "customer", amount: "0.1", period: "total" }] }]),
    1,
    async ([node], here) => {
      const dev = await node.authenticate(secretOf("dev"));
      const spend = async (customer: string, calls: number) =>
        (await spendAtOnce([node], [dev], { calls, ...tagged({ customer }) })).spent;
      for (let i = 0; i < 20; i++) await spend(`c${i}`, 4);
      // More than half is told of once, so it is not forgotten.
      assertEquals(await spend("large", 6), 6);
      await node.flush();
      const engine = here.engine();
      try {
        const rows = () => engine.query("SELECT id FROM budgets WHERE scope = 'tag'");
        assertEquals((await rows()).length, 21);
        node.clock.move(3_600_000);
        for (let turn = 0; turn < 21; turn++) await node.tick();
        await node.flush();
        await spend("another", 1);
        await node.flush();
        assertEquals((await rows()).length, 2);
      } finally {
        await engine.close();
      }
      assertEquals(await spend("c7", 20), 6);
      assertEquals(await spend("large", 20), 4);
    },
  );

  test(
    "records hold labels, also of calls whose process died, and usage is summed by them",
    configWith([{ name: "dev", team: "t" }], [{ name: "t" }]),
    1,
    async ([node]) => {
      const dev = await node.authenticate(secretOf("dev"));
      const labels: Labels = { tags: { env: "prod", user: "ann" }, session: "s1" };
      const reservation = await node.admit({ ...requestOf(dev, 5, { labels }), id: "gen_labelled" });
      await reservation.settle(endOf({ input: 5 }, { latencyMs: 1500, toolCalls: 2 }));
      await spendAtOnce([node], [dev], { calls: 2, labels: null });
      assertObjectMatch(await node.generation("gen_labelled"), {
        tags: { env: "prod", user: "ann" },
        session: "s1",
        team: "t",
        tool_calls: 2,
      });
      const usage = async (by: string) => (await node.usage({ by })).data;
      assertObjectMatch((await usage("session"))[0], {
        session: "s1",
        generations: 1,
        cost: "0.05",
        tool_calls: 2,
        latency_ms: 1500,
        cache_saved: "0.00",
      });
      assertObjectMatch((await usage("session"))[1], {
        session: "",
        generations: 2,
        cost: "0.02",
        tool_calls: null,
        latency_ms: null,
      });
      assertObjectMatch((await usage("tag:env,key"))[0], { "tag:env": "prod", key: "dev", cost: "0.05" });
      assertObjectMatch(await usage("team"), [{ team: "t", generations: 3, cost: "0.07" }]);
      assertObjectMatch((await usage("session,tag:user"))[0], { session: "s1", "tag:user": "ann" });
      assertEquals(await codeOf(() => usage("tag:")), "validation_error");
      assertEquals(await codeOf(() => usage("tag:a'b")), "validation_error");
      const page = await node.usage({ by: "session", limit: 1 });
      assertEquals(page.data.length, 1);
      const rest = await node.usage({ by: "session", limit: 1, cursor: page.next_cursor! });
      assertEquals([rest.data.length, rest.next_cursor], [1, null]);
    },
  );

  test(
    "more values of a tag than a day sums up go together, and the sums stay whole",
    configWith([{ name: "dev" }]),
    1,
    async ([node]) => {
      const dev = await node.authenticate(secretOf("dev"));
      for (let i = 0; i < 1010; i++) {
        const reservation = await node.admit(requestOf(dev, 1, tagged({ id: `v${i}` })));
        await reservation.settle(endOf({ input: 1 }));
      }
      await node.flush();
      const { data } = await node.usage({ by: "tag:id", from: "2026-01-15", to: "2026-01-16", limit: 1000 });
      const other = data.find((row) => row["tag:id"] === "(other)");
      assertEquals(other?.generations, 10);
    },
  );
});
