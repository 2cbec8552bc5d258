/** The store is taken away under a gateway: what administrators and members still see, and that no amount is a wrong one. */
import { assert, assertEquals } from "@std/assert";
import { refused } from "../openapi/checking.ts";
import { onCluster } from "../support/cluster.ts";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";
import { eventually } from "../support/time.ts";
import { ADMIN, type Ask, askerOf } from "./rig.ts";

const admin = { authorization: `Bearer ${ADMIN}` };
const CHAT = { model: "demo/model", max_tokens: 5, messages: [{ role: "user", content: "hi" }] };

interface Ground {
  /** Of the configuration. */
  store: Record<string, unknown>;
  takeAway(): Promise<void> | void;
  giveBack(): Promise<void> | void;
}

async function withGateway(
  { store }: Ground,
  test: (ask: Ask, gateway: TestGateway) => Promise<void>,
): Promise<void> {
  const gateway = await testGateway({
    demo: { api: "demo", url: "", model: { pricing: { prompt: "0.01", completion: "0.01" } } },
  }, {
    admin_key: ADMIN,
    store,
    accounts: [{ name: "default", credits: "1000.00" }, { name: "acme", credits: null }],
    teams: [{ name: "research", spend_limit: { amount: "50.00", period: "month" } }],
    keys: [{ name: "shop", secret: SECRET, spend_limit: { amount: "100.00", period: "month" } }],
  });
  try {
    await eventually(() => gateway.gateway.accounts.storeUp());
    await test(askerOf(gateway), gateway);
  } finally {
    await gateway.close().catch(() => {});
  }
}

async function call(gateway: TestGateway, secret: string, tags: string): Promise<string> {
  const answer = await gateway.post("/v1/chat/completions", CHAT, {
    headers: { authorization: `Bearer ${secret}`, "x-svc-tags": tags },
  });
  assertEquals(answer.status, 200, await answer.text());
  return answer.headers.get("x-request-id")!;
}

async function showsWhatItKnows(ground: Ground): Promise<void> {
  await withGateway(ground, async (ask, gateway) => {
    const get = async (path: string) => {
      const answer = await ask("GET", path, { headers: admin });
      assertEquals(answer.status, 200, `${path}: ${answer.text}`);
      const schema = path.replace(/\?.*/, "").replace(/\/gen_[^/]+$/, "/{id}").replace(
        /(keys|teams)\/[^/]+/,
        (_, one) => `${one}/{${one.slice(0, -1)}}`,
      );
      assertEquals(refused("GET", schema, 200, answer.json), []);
      return answer;
    };
    const made = await ask("POST", "/admin/keys", {
      headers: admin,
      body: { name: "new", team: "research", spend_limit: { amount: "5.00", period: "day" } },
    });
    await ask("POST", "/admin/tokens", { headers: admin, body: { name: "ci", role: "auditor" } });
    const before = await call(gateway, SECRET, "phase=before");
    const ofMade = await call(gateway, made.json.secret, "phase=before");
    assertEquals(
      (await ask("PATCH", "/admin/keys/new", { headers: admin, body: { name: "made" } })).status,
      200,
    );
    assertEquals((await get("/admin/keys")).headers.get("x-svc-store"), "up");
    assertEquals((await get("/admin/keys")).json.store, undefined);

    await ground.takeAway();
    await eventually(() => !gateway.gateway.accounts.storeUp());
    const keys = await get("/admin/keys");
    assertEquals([keys.headers.get("x-svc-store"), keys.json.store, keys.json.next_cursor], [
      "away",
      "away",
      null,
    ]);
    const shown = Object.fromEntries(keys.json.data.map((key: { name: string }) => [key.name, key]));
    assertEquals(Object.keys(shown), ["shop", "made"]);
    for (const name of ["shop", "made"]) {
      assertEquals(shown[name].spend, null, "what was spent is not known here");
      assert(
        Number(shown[name].lease.granted) > 0 && shown[name].last_used !== null,
        JSON.stringify(shown[name]),
      );
    }
    assertEquals(shown.shop.spend_limit, { amount: "100.00", period: "month" });
    assertEquals((await get("/admin/keys?search=sho")).json.data.length, 1);
    assertEquals((await get("/admin/keys?limit=1")).json.data.map(({ name }: { name: string }) => name), [
      "shop",
    ]);
    const { next_cursor } = (await get("/admin/keys?limit=1")).json;
    assertEquals((await get(`/admin/keys?limit=1&cursor=${next_cursor}`)).json.data[0].name, "made");
    assertEquals((await get("/admin/keys/made")).json.team, "research");
    assertEquals((await get("/admin/keys/made/models")).json.data.length, 1);
    const [team] = (await get("/admin/teams")).json.data;
    assertEquals([team.name, team.spend, team.keys, team.spend_limit.amount], ["research", null, 1, "50.00"]);
    const accounts = (await get("/admin/accounts")).json.data;
    assertEquals(
      accounts.map((
        one: Record<string, unknown>,
      ) => [one.account, one.granted, one.added, one.spent, one.balance]),
      [
        ["acme", null, null, null, null],
        ["default", "1000.00", null, null, null],
      ],
    );
    assertEquals((await get("/admin/sessions")).json.store, "away");
    assertEquals((await get("/admin/tokens")).json.data.map(({ name }: { name: string }) => name), ["ci"]);

    // Calls go on, and are seen, though their records wait.
    const after = gateway.gateway.accounts.pendingCount() >= 0 ? await afterwards(gateway) : null;
    const generations = await get("/admin/generations");
    const ids = generations.json.data.map(({ id }: { id: string }) => id);
    assertEquals(ids.length, after === null ? 2 : 3);
    assert(ids.includes(before) && generations.json.store === "away" && generations.json.since !== null);
    assertEquals((await get("/admin/generations?tag=phase=before")).json.data.length, 2);
    assertEquals(
      (await get("/admin/generations?key=shop&tag=phase=before")).json.data.map(({ id }: { id: string }) =>
        id
      ),
      [before],
    );
    for (const name of ["made", "new"]) {
      const { data } = (await get(`/admin/generations?key=${name}`)).json;
      assertEquals(data.map(({ id }: { id: string }) => id), [ofMade], name);
    }
    assertEquals((await get("/admin/generations?status=failed")).json.data, []);
    const page = await get("/admin/generations?limit=1");
    const rest = await get(`/admin/generations?limit=5&cursor=${page.json.next_cursor}`);
    assertEquals([...page.json.data, ...rest.json.data].map(({ id }) => id), ids);
    const one = (await get(`/admin/generations/${before}`)).json;
    assertEquals([one.id, one.key, one.steps.length > 0], [before, "shop", true]);
    const usage = (await get("/admin/usage?by=key")).json;
    assertEquals([usage.store, usage.data.length, usage.since !== null], ["away", 2, true]);
    const sum = (rows: { cost: string }[]) => rows.reduce((n, { cost }) => n + Number(cost), 0).toFixed(6);
    assertEquals(sum(usage.data), sum(generations.json.data), "the sums are of the calls that are listed");
    assertEquals((await get("/admin/usage?by=day,tag:phase")).json.data[0]["tag:phase"], "before");
    const overview = (await get("/admin/overview?range=1h&by=key")).json;
    assertEquals([overview.store, overview.total.requests], [false, ids.length]);
    assertEquals((await get("/admin/attention")).json.store, "away");
    assertEquals((await get("/admin/audit")).json.store, "away");
    for (const path of ["/admin/config", "/admin/providers", "/admin/models", "/admin/policies"]) {
      await get(path);
    }
    const csv = await ask("GET", "/admin/generations", { headers: { ...admin, accept: "text/csv" } });
    assertEquals(csv.text.trim().split("\r\n").length, ids.length + 1);

    // What only the store knows is refused, and so is every change.
    for (
      const path of [
        "/admin/keys/nobody",
        "/admin/generations/gen_nothing",
        "/admin/accounts/default/statement?month=2026-01",
      ]
    ) {
      assertEquals((await ask("GET", path, { headers: admin })).status, 503, path);
    }
    const body = { name: "another" };
    assertEquals((await ask("POST", "/admin/keys", { headers: admin, body })).status, 503);
    assertEquals((await ask("PATCH", "/admin/keys/made", { headers: admin, body })).status, 503);

    await ground.giveBack();
    await eventually(() => gateway.gateway.accounts.storeUp());
    const again = await get("/admin/keys");
    assertEquals([again.headers.get("x-svc-store"), again.json.store], ["up", undefined]);
    assert(again.json.data.every(({ spend }: { spend: unknown }) => spend !== null));
    assertEquals((await get("/admin/generations")).json.data.length, ids.length);
  });
}

/** Null: this gateway takes no calls now. */
async function afterwards(gateway: TestGateway): Promise<string | null> {
  const answer = await gateway.post("/v1/chat/completions", CHAT, {
    headers: { "x-svc-tags": "phase=after" },
  });
  await answer.body?.cancel();
  return answer.ok ? answer.headers.get("x-request-id") : null;
}

Deno.test("sqlite: with its database moved away, every page shows what the process knows, and it goes on when that is back", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-away-" });
  const path = `${folder}/store.db`;
  try {
    await showsWhatItKnows({
      store: { url: `sqlite:${path}` },
      takeAway: () => Deno.renameSync(path, `${path}.away`),
      giveBack: () => Deno.renameSync(`${path}.away`, path),
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

onCluster((cluster) => {
  Deno.test("postgres: with its database stopped, every page shows what the process knows, and it goes on when that is back", async () => {
    const folder = await Deno.makeTempDir({ prefix: "sluice-away-" });
    try {
      await showsWhatItKnows({
        store: { url: cluster().url, journal: `${folder}/node` },
        takeAway: () => cluster().stop(),
        giveBack: () => cluster().start(),
      });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
});
