/** What must not lose, double or let through anything: keys that end, configurations that change, usage and limits that cannot be. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { NO_USAGE } from "../../src/exchange/usage.ts";
import { loadValue } from "../../src/config/load.ts";
import { sqlitePlace } from "../support/cluster.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually, inTime } from "../support/time.ts";
import { codeOf, configOf, endOf, open, requestOf, SECRET as DEV_SECRET } from "./support.ts";

const answer = (prompt_tokens: unknown, completion_tokens: unknown) =>
  Response.json({
    id: "c",
    choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
    usage: { prompt_tokens, completion_tokens },
  });
const BODY = { model: "p/model", max_tokens: 20, messages: [{ role: "user", content: "hi" }] };

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
      await inTime(Promise.all([status(SECRET, "p/model"), status(SECRET, "p/model")])),
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

Deno.test("a price above a cent for a token is doubted, in tiers and changes too, that of a request or search is not", () => {
  const warnings = (fields: Record<string, unknown>) =>
    loadValue({
      providers: { p: { api: "openai-chat", base_url: "http://127.0.0.1:1/v1" } },
      models: [{ id: "p/m", routes: [{ provider: "p", model: "m" }], ...fields }],
    }, { env: () => undefined }).warnings.filter((warning) => warning.includes("for one token"));
  const free = { prompt: "0", completion: "0" };
  const dear = { ...free, prompt: "1.25" };
  const fine = {
    ...free,
    prompt: "0.01",
    request: "0.5",
    web_search: "0.014",
    file_search: "0.0025",
    search_source: "0.025",
  };
  const from = "2030-01-01";
  assertEquals(
    warnings({
      pricing: fine,
      pricing_tiers: [{ ...fine, above_input_tokens: 200_000 }],
      price_changes: [{ from, pricing: fine, pricing_tiers: [{ ...fine, service_tier: "flex" }] }],
    }),
    [],
  );
  const said = (where: string) =>
    `models[0].${where}.prompt: 1.25 for one token; prices are for a token, not for a million`;
  assertEquals(warnings({ pricing: dear }), [said("pricing")]);
  assertEquals(warnings({ pricing: free, pricing_tiers: [{ ...free, service_tier: "flex" }, dear] }), [
    said("pricing_tiers[1]"),
  ]);
  assertEquals(
    warnings({
      pricing: free,
      price_changes: [{ from, pricing: dear, pricing_tiers: [{ ...dear, above_input_tokens: 5 }] }],
    }),
    [said("price_changes[0].pricing"), said("price_changes[0].pricing_tiers[0]")],
  );
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
