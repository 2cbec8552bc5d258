/** What must not lose, double or let through anything: torn files, lost files, keys that end, configurations that change. */
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { NO_USAGE } from "../../src/exchange/usage.ts";
import { loadValue } from "../../src/config/load.ts";
import { encodeRecord, type Generation } from "../../src/store/mod.ts";
import { sqlitePlace } from "../support/cluster.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually, inTime } from "../support/time.ts";
import { codeOf, configOf, endOf, NOON, open, requestOf, SECRET as DEV_SECRET } from "./support.ts";

const answer = (prompt_tokens: unknown, completion_tokens: unknown) =>
  Response.json({
    id: "c",
    choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
    usage: { prompt_tokens, completion_tokens },
  });
const BODY = { model: "p/model", max_tokens: 20, messages: [{ role: "user", content: "hi" }] };

const begun = (id: string) =>
  JSON.stringify([id, NOON, "key_config_dev", "dev", "acme", "messages", "a/b", "a/b", 0]);

const ended = (id: string, more: Partial<Generation> = {}) =>
  encodeRecord({
    id,
    created: NOON,
    keyId: "key_config_dev",
    key: "dev",
    account: "acme",
    format: "messages",
    requestedModel: "a/b",
    model: "a/b",
    provider: "p",
    stream: false,
    status: "completed",
    errorCode: null,
    usage: { ...NO_USAGE, input: 3 },
    estimated: false,
    searches: 0,
    cost: 3n,
    ttftMs: 1,
    latencyMs: 2,
    clientGone: false,
    dlp: null,
    tags: null,
    session: null,
    team: null,
    priceVersion: null,
    cacheSaved: null,
    toolCalls: null,
    repaired: null,
    steps: null,
    listCost: null,
    ...more,
  }).json;

Deno.test("lines of a journal that are damaged in any way are set aside and said, and all others are taken over", async () => {
  const here = sqlitePlace();
  const store = here.open();
  const journal = [
    "H node_dead",
    ...["a", "b", "e", "f"].map((id) => `+ gen_${id} ${begun(`gen_${id}`)}`),
    '= gen_a ["gen_a",17683',
    `= gen_e ${ended("gen_e").replace("messages", 'messages",7,"')}`,
    `= gen_f ${ended("gen_f")}`,
    // A record that a page could not show.
    `= gen_g ${ended("gen_g").replace(",3,0,0", ',"x",0,0')}`,
    `+ gen_c ["gen_c",`,
    `+ gen_h ${begun("gen_h").replace('"acme"', "7")}`,
    "\0\0\0\0@@@@",
    `\0\0\0+ gen_d ${begun("gen_d")}`,
    "",
  ];
  const path = `${store.filePrefix}.node_dead.journal`;
  Deno.writeTextFileSync(path, journal.join("\n"));
  const service = await open(store, configOf());
  try {
    await service.flush();
    const { data } = await service.generations({});
    assertEquals(data.map((g) => [g.id, g.status]).sort(), [
      // Its end cannot be read, so nobody knows what it used.
      ["gen_a", "interrupted"],
      ["gen_b", "interrupted"],
      ["gen_d", "interrupted"],
      ["gen_e", "interrupted"],
      ["gen_f", "completed"],
    ]);
    assertMatch(service.warnings.join(), /6 unreadable lines, set aside in .*node_dead\.journal\.damaged/);
    assertEquals(Deno.readTextFileSync(`${path}.damaged`).trim().split("\n").length, 6);
    assertEquals(service.damagedLines(), 6);
  } finally {
    await service.close();
    here.remove();
  }
});

Deno.test("a journal with damaged lines for which there is no room is kept itself", async () => {
  const here = sqlitePlace();
  const store = here.open();
  const path = `${store.filePrefix}.node_dead.journal`;
  Deno.writeTextFileSync(path, `H node_dead\n+ gen_a ${begun("gen_a")}\n= gen_a [\n`);
  // Nothing can be written there.
  Deno.symlinkSync("/nowhere/at/all", `${path}.damaged`);
  const service = await open(store, configOf());
  try {
    await service.flush();
    assertEquals((await service.generations({})).data.map((g) => g.id), ["gen_a"]);
    assertMatch(Deno.readTextFileSync(`${path}.damaged`), /= gen_a \[/);
    assertThrows(() => Deno.statSync(path), Deno.errors.NotFound);
  } finally {
    await service.close();
    here.remove();
  }
});

Deno.test("a journal of a gateway on another store stays where it is, and is said once", async () => {
  const here = sqlitePlace();
  const store = here.open();
  const pathOf = (node: string) => `${store.filePrefix}.${node}.journal`;
  const write = (node: string, storeId: string) =>
    Deno.writeTextFileSync(
      pathOf(node),
      `H ${node}\n= gen_${node} ${ended(`gen_${node}`)}\nH ${node} ${storeId}\n`,
    );
  const names = () =>
    [...Deno.readDirSync(pathOf("").replace(/[^/]*$/, ""))].flatMap(({ name }) =>
      /node_(?:other|own)\.journal$/.exec(name)?.[0] ?? []
    );
  write("node_other", "another");
  const text = Deno.readTextFileSync(pathOf("node_other"));
  let service = await open(store, configOf());
  try {
    for (let turn = 0; turn < 21; turn++) await service.tick();
    assertEquals((await service.generations({})).data, []);
    assertEquals(service.warnings.filter((line) => line.includes("node_other")).length, 1);
    const own = await store.sharedValue("store_id") ?? "";
    assert(own !== "");
    await service.close();
    write("node_own", own);
    service = await open(here.open(), configOf());
    await eventually(() => names().length === 1);
    assertEquals((await service.generations({})).data.map(({ id }) => id), ["gen_node_own"]);
    assertEquals(names(), ["node_other.journal"]);
    assertEquals(Deno.readTextFileSync(pathOf("node_other")), text);
  } finally {
    await service.close();
    here.remove();
  }
});

Deno.test("a journal that was taken over stays until the store has the last of its records", async () => {
  const here = sqlitePlace();
  const store = here.open();
  const path = `${store.filePrefix}.node_dead.journal`;
  const lines = ["a", "b", "c"].map((id) => `= gen_${id} ${ended(`gen_${id}`)}\n`);
  Deno.writeTextFileSync(path, `H node_dead\n${lines.join("")}`);
  const exists = () =>
    [...Deno.readDirSync(path.slice(0, path.lastIndexOf("/")))].some(({ name }) => path.endsWith(name));
  let refused = ["gen_c", "gen_b"];
  const service = await open({
    ...store,
    sync(request) {
      if (request.records.some(({ id }) => refused.includes(id))) throw new Error("refused");
      return store.sync(request);
    },
  }, configOf());
  try {
    const ids = async () => (await service.generations({})).data.map((g) => g.id).sort();
    await eventually(async () => (await ids()).length === 1);
    assertEquals([await ids(), exists()], [["gen_a"], true]);
    for (const left of [["gen_c"], []]) {
      refused = left;
      await eventually(async () => {
        await service.tick();
        return (await ids()).length === 3 - left.length;
      });
      // Told of the record, it may still be about to remove the file.
      if (left.length > 0) assert(exists());
      else await eventually(() => !exists());
    }
  } finally {
    await service.close();
    here.remove();
  }
});

Deno.test("a key that is revoked, removed or expired while a body comes in is refused at admission", async () => {
  const here = sqlitePlace();
  const service = await open(here.open(), configOf({ expires_at: "2026-01-15T13:00:00Z" }));
  try {
    const { secret } = await service.createKey({ name: "ci" });
    const made = await service.authenticate(secret);
    const configured = await service.authenticate(DEV_SECRET);
    const code = (key: typeof made) => codeOf(async () => (await service.admit(requestOf(key, 1))).release());
    assertEquals([await code(made), await code(configured)], [null, null]);
    await service.revokeKey("ci");
    assertEquals(await code(made), "invalid_api_key");
    service.clock.move(3_600_000);
    assertEquals(await code(configured), "invalid_api_key");
    service.clock.move(-3_600_000);
    assertEquals(await code(configured), null);
    await service.reload({ ...configOf(), keys: [] });
    assertEquals(await code(configured), "invalid_api_key");
  } finally {
    await service.close();
    here.remove();
  }
});

Deno.test("a configuration that the store cannot be told of is not taken over, no part of it", async () => {
  /** Answers so many at a time. */
  let together = 1;
  const waiting: (() => void)[] = [];
  const provider = loopbackProvider(async () => {
    const release = new Promise<void>((resolve) => waiting.push(resolve));
    if (waiting.length >= together) { for (const go of waiting.splice(0)) go(); }
    await release;
    return answer(5, 7);
  });
  const folder = await Deno.makeTempDir({ prefix: "sluice-mishaps-" });
  const path = `${folder}/store.db`;
  const gateway = await testGateway(
    { p: { api: "openai-chat", url: provider.url } },
    { store: { url: `sqlite:${path}` }, accounts: [{ name: "default", credits: "1" }] },
  );
  const next = loadValue({
    store: { url: `sqlite:${path}` },
    providers: { p: { api: "openai-chat", base_url: provider.url, max_concurrent: 1 } },
    models: [{
      id: "p/other",
      routes: [{ provider: "p", model: "m" }],
      pricing: { prompt: "0", completion: "0" },
    }],
    accounts: [{ name: "default", credits: "2" }],
    keys: [{ name: "new", secret: "sk_live_newnewnewnewnewnewnewnewnewnew" }],
  }, { env: () => undefined }).config;
  const status = async (secret: string, model: string) => {
    const response = await gateway.post("/v1/chat/completions", { ...BODY, model }, {
      headers: { authorization: `Bearer ${secret}` },
    });
    await response.body?.cancel();
    return response.status;
  };
  try {
    Deno.renameSync(path, `${path}.away`);
    await assertRejects(() => gateway.gateway.reload(next));
    Deno.renameSync(`${path}.away`, path);
    await eventually(async () => await status("sk_live_newnewnewnewnewnewnewnewnewnew", "p/model") === 401);
    assertEquals(await status(SECRET, "p/other"), 404);
    await eventually(async () => await status(SECRET, "p/model") === 200);
    // Limits that providers keep over a reload are those of before, too.
    together = 2;
    assertEquals(
      await inTime(Promise.all([status(SECRET, "p/model"), status(SECRET, "p/model")]), { within: 20_000 }),
      [200, 200],
    );
    together = 1;
    await gateway.gateway.reload(next);
    assertEquals(await status("sk_live_newnewnewnewnewnewnewnewnewnew", "p/other"), 200);
    assertEquals(await status(SECRET, "p/other"), 401);
  } finally {
    await gateway.close();
    await provider.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("of reloads that overlap the last one stays", async () => {
  const provider = loopbackProvider(() => answer(5, 7));
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } });
  const configWith = (id: string, auto: boolean) =>
    loadValue({
      store: { url: "sqlite::memory:" },
      providers: { p: { api: "openai-chat", base_url: provider.url } },
      models: [{ id, routes: [{ provider: "p", model: "m" }] }],
      // Takes a while to be loaded.
      ...(auto && { auto: { models: [id] } }),
      keys: [{ name: "test", secret: SECRET }],
    }, { env: () => undefined }).config;
  try {
    await Promise.all([
      gateway.gateway.reload(configWith("p/first", true)),
      gateway.gateway.reload(configWith("p/last", false)),
    ]);
    const { data } = await (await fetch(`${gateway.url}/v1/models`, {
      headers: { authorization: `Bearer ${SECRET}` },
    })).json();
    assertEquals(data.map((model: { id: string }) => model.id), ["p/last"]);
  } finally {
    await gateway.close();
    await provider.close();
  }
});

Deno.test("usage that no model can have is bounded by its context, marked and said", async () => {
  const provider = loopbackProvider(({ body }) => answer(9e15, body.n === 2 ? 9e15 : 3));
  const pricing = { prompt: "0.001", completion: "0.001" };
  const gateway = await testGateway({
    p: { api: "openai-chat", url: provider.url, model: { context_length: 1000, pricing } },
    q: { api: "openai-chat", url: provider.url, model: { pricing } },
  });
  try {
    for (const body of [BODY, { ...BODY, n: 2 }, { ...BODY, model: "q/model" }]) {
      const response = await gateway.post("/v1/chat/completions", body);
      assertEquals(response.status, 200, await response.text());
    }
    const { accounts } = gateway.gateway;
    await accounts.flush();
    const { data } = await accounts.generations({});
    const seen = data.map(({ model, usage, cost, usage_estimated }) => [
      model,
      usage?.input_tokens,
      usage?.output_tokens,
      cost,
      usage_estimated,
    ]);
    assertEquals(seen.sort(), [
      ["p/model", 1000, 2000, "3.00", true],
      ["p/model", 1000, 3, "1.003", true],
      ["q/model", 10_000_000, 3, "10000.003", true],
    ]);
    assert(gateway.logged.some((line) => line.includes("is more than the model can hold")));
  } finally {
    await gateway.close();
    await provider.close();
  }
});

Deno.test("limits of keys are read whole or refused, on every way in", async () => {
  const here = sqlitePlace();
  const service = await open(here.open(), configOf());
  try {
    await service.createKey({ name: "ci" });
    for (
      const wrong of [
        { rate_limit: { foo: 1 } },
        { rate_limit: [] },
        { rate_limit: { requests_per_minute: "6" } },
        { spend_limit: [] },
        { spend_limit: { amount: "1", period: "month", foo: 1 } },
        { session_limit: { amount: "1", foo: 1 } },
        // Which of the two counts nobody could say.
        { tag_limits: ["5", "6"].map((amount) => ({ tag: "a", amount, period: "day" })) },
        { expires_at: "2030-02-30" },
        { expires_at: "2030-02-30T00:00:00Z" },
      ]
    ) {
      const said = JSON.stringify(wrong);
      assertEquals(
        await codeOf(() => service.createKey({ name: "bad", ...wrong } as never)),
        "validation_error",
        said,
      );
      assertEquals(await codeOf(() => service.patchKey("ci", wrong as never)), "validation_error", said);
      assertThrows(() => configOf(wrong), Error, undefined, said);
    }
    const key = await service.authenticate((await service.createKey({ name: "good" })).secret);
    await (await service.admit(requestOf(key, 1))).settle(endOf({ input: 1 }));
  } finally {
    await service.close();
    here.remove();
  }
});

Deno.test("a price above a cent for a token is doubted", () => {
  const warnings = (prompt: string) =>
    loadValue({
      providers: { p: { api: "openai-chat", base_url: "http://127.0.0.1:1/v1" } },
      models: [{ id: "p/m", routes: [{ provider: "p", model: "m" }], pricing: { prompt, completion: "0" } }],
    }, { env: () => undefined }).warnings.filter((warning) => warning.includes("pricing.prompt"));
  assertEquals(warnings("0.01"), []);
  assertMatch(warnings("1.25").join(), /models\[0\]\.pricing\.prompt: 1\.25 for one token/);
});

Deno.test("prices that change while a call runs count for the next one, that of searches too", async () => {
  const here = sqlitePlace();
  const config = { ...configOf({}, "1.00"), searchPrice: "0.10" };
  const service = await open(here.open(), config);
  try {
    const key = await service.authenticate(DEV_SECRET);
    const searching = { estimate: { input: 10, output: 0, searches: 2 } };
    const reservation = await service.admit(requestOf(key, 10, searching));
    await service.reload({ ...config, searchPrice: "5.00" });
    await reservation.settle(endOf({ input: 10 }, { searches: 2 }));
    assertEquals((await service.credits("acme")).balance, "0.70");
    assertEquals(await codeOf(() => service.admit(requestOf(key, 10, searching))), "insufficient_funds");
  } finally {
    await service.close();
    here.remove();
  }
});

Deno.test("a call that ends while it waits for more money leaves nothing reserved", async () => {
  const here = sqlitePlace();
  const service = await open(here.open(), configOf({}, "1.00"));
  try {
    const key = await service.authenticate(DEV_SECRET);
    const [one, other] = [await service.admit(requestOf(key, 60)), await service.admit(requestOf(key, 40))];
    const extended = one.extend(NO_USAGE, { input: 80, output: 0, searches: 0 });
    await one.release();
    assertEquals(await extended, false);
    await other.release();
    await (await service.admit(requestOf(key, 100))).release();
  } finally {
    await service.close();
    here.remove();
  }
});
