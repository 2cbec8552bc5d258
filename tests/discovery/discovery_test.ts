/** Which models a gateway has while providers come, go, hang and change their lists. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Discovery } from "../../src/discovery/discovery.ts";
import { decodeLists } from "../../src/discovery/saved_lists.ts";
import { apiNamed } from "../../src/providers/apis/mod.ts";
import { keyCredential } from "../../src/providers/credentials/key.ts";
import { SECRET } from "../support/gateway.ts";
import { type LoopbackProvider, loopbackProvider } from "../support/provider.ts";
import { eventually } from "../support/time.ts";
import { ids, withGateway } from "./listed.ts";

const list = (...ids: string[]) => Response.json({ object: "list", data: ids.map((id) => ({ id })) });

/** A provider whose list is what `ids` says at the time. */
function listing(ids: () => readonly string[] | Promise<readonly string[]>): LoopbackProvider {
  return loopbackProvider(async ({ path }) => {
    if (!path.endsWith("/models")) {
      return Response.json({
        id: "c",
        object: "chat.completion",
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: "yes" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
      });
    }
    return list(...await ids());
  });
}

const openai = (url: string) => ({
  preset: "openai",
  api: "openai-chat",
  base_url: url,
  api_key: "k",
  retries: 0,
});

Deno.test("models may be left out: a preset's list and the table make the catalog, with prices", async () => {
  const provider = listing(() => ["gpt-4o", "text-embedding-3-small", "gpt-never-heard-of"]);
  await withGateway({ providers: { openai: openai(provider.url) } }, async (gateway) => {
    assertEquals(await ids(gateway), ["openai/gpt-4o", "openai/gpt-never-heard-of"]);
    const headers = { authorization: `Bearer ${SECRET}` };
    const known = await (await fetch(`${gateway.url}/v1/models/openai/gpt-4o`, { headers })).json();
    assertEquals(known.pricing, {
      prompt: "0.0000025",
      input_cache_read: "0.00000125",
      completion: "0.00001",
      file_search: "0.0025",
    });
    assertEquals(known.pricing_tiers[0], {
      service_tier: "flex",
      prompt: "0.00000125",
      input_cache_read: "0.000000625",
      completion: "0.000005",
      file_search: "0.0025",
    });
    assertEquals(known.context_length, 128_000);
    const unknown = await (await fetch(`${gateway.url}/v1/models/openai/gpt-never-heard-of`, { headers }))
      .json();
    assertEquals(unknown.pricing, { prompt: null, completion: null });
    const answer = await gateway.post("/v1/chat/completions", {
      model: "openai/gpt-4o",
      messages: [{ role: "user", content: "Is it?" }],
    });
    assertEquals((await answer.json()).choices[0].message.content, "yes");
    const { data: [record] } = await gateway.gateway.accounts.generations({});
    assertEquals([record.cost, record.price_version], ["0.000045", "genai-prices 0.1.8"]);
  });
  await provider.close();
});

Deno.test("a model without a price exists for keys without any limit alone, unless it is to be free", async () => {
  const provider = listing(() => ["gpt-4o", "gpt-never-heard-of"]);
  const keys = {
    accounts: [{ name: "default" }, { name: "poor", credits: "5" }],
    keys: [
      { name: "free", secret: SECRET },
      { name: "limited", secret: `${SECRET}2`, spend_limit: { amount: "5", period: "day" } },
      { name: "poor", secret: `${SECRET}3`, account: "poor" },
      { name: "slow", secret: `${SECRET}4`, rate_limit: { requests_per_minute: 100 } },
    ],
  };
  const providers = { openai: openai(provider.url) };
  await withGateway({ providers, ...keys }, async (gateway) => {
    const both = ["openai/gpt-4o", "openai/gpt-never-heard-of"];
    assertEquals(await ids(gateway), both);
    assertEquals(await ids(gateway, `${SECRET}2`), ["openai/gpt-4o"]);
    assertEquals(await ids(gateway, `${SECRET}3`), ["openai/gpt-4o"]);
    // A rate is no limit of money.
    assertEquals(await ids(gateway, `${SECRET}4`), both);
    const refused = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${SECRET}2` },
      body: JSON.stringify({
        model: "openai/gpt-never-heard-of",
        messages: [{ role: "user", content: "x" }],
      }),
    });
    assertEquals(refused.status, 404);
    const { error } = await refused.json();
    assertEquals(error.code, "model_not_found");
    assertStringIncludes(error.message, "its price is not known");
    assert(
      gateway.logged.some((line) => line.includes('catalog.unpriced: "free"')),
      gateway.logged.join("\n"),
    );
  });
  await withGateway({ providers, ...keys, catalog: { unpriced: "free" } }, async (gateway) => {
    assertEquals(await ids(gateway, `${SECRET}2`), ["openai/gpt-4o", "openai/gpt-never-heard-of"]);
  });
  await provider.close();
});

Deno.test("a provider whose callers bring their credential, and that has none, has the known models and is not asked", async () => {
  const provider = listing(() => ["gpt-4o"]);
  const { api_key: _, ...without } = openai(provider.url);
  await withGateway({ providers: { openai: { ...without, pass_credentials: true } } }, async (gateway) => {
    const all = await ids(gateway);
    assert(all.includes("openai/gpt-4o") && all.length > 10);
    assert(!all.some((id) => /embedding|whisper|tts|moderation/.test(id)), all.join());
    assertEquals(provider.seen, []);
    const ask = (headers: Record<string, string>) =>
      gateway.post("/v1/chat/completions", {
        model: "openai/gpt-4o",
        messages: [{ role: "user", content: "Is it?" }],
      }, { headers });
    const answer = await ask({ authorization: "Bearer the-callers-own", "x-svc-key": SECRET });
    assertEquals((await answer.json()).choices[0].message.content, "yes");
    assertEquals(provider.seen.map(({ headers }) => headers.get("authorization")), [
      "Bearer the-callers-own",
    ]);
    const refused = await ask({});
    assertEquals([refused.status, (await refused.json()).error.code], [422, "validation_error"]);
  });
  await provider.close();
});

Deno.test("models that come and go reach a running gateway, whose configuration may be read again meanwhile", async () => {
  let now = ["gpt-4o"];
  const provider = listing(() => now);
  const config = { providers: { openai: openai(provider.url) }, catalog: { discover_hours: 0.001 } };
  await withGateway(config, async (gateway) => {
    assertEquals(await ids(gateway), ["openai/gpt-4o"]);
    now = ["gpt-4.1", "gpt-4o"];
    await eventually(async () => (await ids(gateway)).length === 2);
    assertStringIncludes(gateway.logged.join("\n"), "2 in the catalog, 1 before");
    // An empty list is a fault, and no reason to take all models away.
    now = [];
    await eventually(() => gateway.logged.some((line) => line.includes("the list is empty")));
    assertEquals((await ids(gateway)).length, 2);
  });
  await provider.close();
});

Deno.test("a start waits for no provider that does not answer, and a late list still comes", async () => {
  const late = Promise.withResolvers<string[]>();
  const slow = listing(() => late.promise);
  const quick = listing(() => ["gpt-4o"]);
  await withGateway({
    providers: { openai: openai(quick.url), openrouter: { ...openai(slow.url), preset: "openrouter" } },
  }, async (gateway) => {
    assertEquals(await ids(gateway), ["openai/gpt-4o"]);
    late.resolve(["late"]);
    await eventually(async () => (await ids(gateway)).length === 2);
  });
  await Promise.all([slow.close(), quick.close()]);
});

Deno.test("half of the providers being down takes nothing away from the other half", async () => {
  const provider = listing(() => ["gpt-4o"]);
  const down = { preset: "mistral", base_url: "http://127.0.0.1:9", api_key: "secret-of-mistral" };
  await withGateway({ providers: { mistral: down, openai: openai(provider.url) } }, async (gateway) => {
    assertEquals(await ids(gateway), ["openai/gpt-4o"]);
    const line = gateway.logged.find((l) => l.includes("mistral"));
    assertEquals(line, "mistral: cannot list its models: no connection: the connection was refused");
  });
  await provider.close();
});

Deno.test("a provider that the file describes whole, with models of its own, is not asked unless the file says so", async () => {
  const provider = listing(() => ["other"]);
  const config = {
    providers: { p: { api: "openai-chat", base_url: provider.url } },
    models: [{
      id: "p/m",
      routes: [{ provider: "p", model: "m" }],
      pricing: { prompt: "0", completion: "0" },
    }],
  };
  await withGateway(config, async (gateway) => assertEquals(await ids(gateway), ["p/m"]));
  assertEquals(provider.seen.length, 0);
  await withGateway({ ...config, catalog: { discover: true } }, async (gateway) => {
    assertEquals(await ids(gateway), ["p/m", "p/other"]);
  });
  await withGateway({ ...config, catalog: { discover: false } }, async (gateway) => {
    assertEquals(await ids(gateway), ["p/m"]);
  });
  assertEquals(provider.seen.length, 1);
  await provider.close();
});

/** One process's view of the lists, over a file. */
function discovery(file: string, url: string, follower = 1, set = 0) {
  const logged: string[] = [];
  const asked = {
    provider: {
      name: "p",
      api: apiNamed("openai-chat"),
      baseUrl: url,
      credential: keyCredential(""),
      headers: {},
      maxVersion: null,
      firstByteMs: 1,
      idleMs: 1,
      retries: 0,
      breaker: { failures: 1, windowMs: 1, openMs: 1 },
      maxConcurrent: null,
    },
    settings: { name: "p", preset: null },
  };
  const made = new Discovery({
    file,
    follower,
    now: () => Date.UTC(2026, 10, 22) + set,
    log: (line) => logged.push(line),
    changed: () => {},
  });
  return {
    logged,
    close: () => made.close(),
    follow: () => made.follow([asked], 3_600_000),
    ids: () => made.list(asked)?.map(({ id }) => id) ?? null,
  };
}

Deno.test("a list of a later time keeps no process from asking: the clock was set back", async () => {
  const folder = await Deno.makeTempDir();
  const file = `${folder}/store.models.json`;
  const provider = listing(() => ["a"]);
  const ahead = discovery(file, provider.url, 1, 86_400_000);
  await ahead.follow();
  const second = discovery(file, provider.url, 2);
  await second.follow();
  assertEquals([second.ids(), provider.seen.length], [["a"], 2]);
  for (const one of [ahead, second]) one.close();
  await provider.close();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("lists are kept on disk for a start while the provider is away, and for the other processes of a machine", async () => {
  const folder = await Deno.makeTempDir();
  const file = `${folder}/store.models.json`;
  const provider = listing(() => ["a", "b"]);
  const first = discovery(file, provider.url);
  await first.follow();
  assertEquals(decodeLists(await Deno.readTextFile(file))[0].models, [{ id: "a" }, { id: "b" }]);
  const second = discovery(file, provider.url, 2);
  await second.follow();
  assertEquals([second.ids(), provider.seen.length], [["a", "b"], 1]);
  await provider.close();

  const later = discovery(file, provider.url);
  await later.follow();
  assertEquals(later.ids(), ["a", "b"]);
  assertStringIncludes(
    later.logged[0],
    "p: cannot list its models: no connection: the connection was refused; its list of 20",
  );
  // Another address may have other models.
  const moved = discovery(file, "http://127.0.0.1:9/v1");
  await moved.follow();
  assertEquals(moved.ids(), null);
  for (
    const damaged of [
      "",
      "{",
      "null",
      '{"version":2,"lists":[]}',
      '{"version":1,"lists":[{"provider":"p","models":[1]}]}',
    ]
  ) {
    await Deno.writeTextFile(file, damaged);
    const odd = discovery(file, "http://127.0.0.1:9/v1");
    await odd.follow();
    assertEquals(odd.ids(), null);
    odd.close();
  }
  for (const one of [first, second, later, moved]) one.close();
  await Deno.remove(folder, { recursive: true });
});
