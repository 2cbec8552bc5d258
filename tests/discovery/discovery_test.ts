/** Which models a gateway has while providers come, go, hang and change their lists. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Discovery } from "../../src/discovery/discovery.ts";
import { decodeLists } from "../../src/discovery/saved_lists.ts";
import { apiNamed } from "../../src/providers/apis/mod.ts";
import { keyCredential } from "../../src/providers/credentials/key.ts";
import {
  eventually,
  type LoopbackProvider,
  loopbackProvider,
  SECRET,
  type TestGateway,
  testGateway,
} from "../support/mod.ts";

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

async function ids(gateway: TestGateway, secret = SECRET): Promise<string[]> {
  const response = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  const { data, first_id, last_id } = await response.json();
  assertEquals([first_id, last_id], [data.at(0)?.id ?? null, data.at(-1)?.id ?? null]);
  return data.map(({ id }: { id: string }) => id);
}

async function withGateway(
  config: Record<string, unknown>,
  test: (gateway: TestGateway) => Promise<void>,
): Promise<void> {
  const gateway = await testGateway({}, { models: undefined, ...config }, { discovers: true });
  try {
    await test(gateway);
  } finally {
    await gateway.close();
  }
}

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
    });
    assertEquals(known.pricing_tiers[0], {
      service_tier: "flex",
      prompt: "0.00000125",
      input_cache_read: "0.000000625",
      completion: "0.000005",
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

Deno.test("a cloud is not asked at the address of its models, and an entry of the file has the table's price", async () => {
  const provider = loopbackProvider(() => new Response("no", { status: 404 }));
  const azure = { base_url: provider.url, api_key: "k", deployments: ["gpt-4o"] };
  const models = [{ id: "openai/gpt-4o", routes: [{ provider: "azure", model: "gpt-4o" }] }];
  await withGateway({ providers: { azure }, models, catalog: { discover: true } }, async (gateway) => {
    assertEquals(await ids(gateway), ["openai/gpt-4o"]);
    assertEquals(gateway.gateway.models()[0].pricing.prompt, "0.0000025");
    assertEquals(gateway.logged, []);
  });
  assertEquals(provider.seen, []);
  await provider.close();
});

Deno.test("Azure's deployments are models with the facts of the table, called by the deployments' names", async () => {
  const provider = loopbackProvider(() =>
    Response.json({
      id: "r",
      object: "response",
      status: "completed",
      model: "m",
      output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "yes" }] }],
      usage: { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 },
    })
  );
  const azure = (deployments: unknown) => ({ base_url: provider.url, api_key: "k", deployments });
  const deployments = {
    "gpt-4o": "our-4o",
    "claude-sonnet-4-5": "our-claude",
    "text-embedding-3-large": "e",
  };
  await withGateway({ providers: { azure: azure(deployments) } }, async (gateway) => {
    assertEquals(await ids(gateway), ["openai/gpt-4o", "anthropic/claude-sonnet-4-5"]);
    const [gpt, claude] = gateway.gateway.models();
    assertEquals([gpt.pricing.prompt, gpt.contextLength], ["0.0000025", 128000]);
    assertEquals(claude.pricing.prompt, "0.000003");
    const answer = await gateway.post("/v1/chat/completions", {
      model: "openai/gpt-4o",
      messages: [{ role: "user", content: "hi" }],
    });
    assertEquals((await answer.json()).choices[0].message.content, "yes");
    assertEquals(provider.seen[0].body.model, "our-4o");
    const { data } = await gateway.gateway.accounts.generations({});
    assertEquals(data[0].cost, "0.0035");
  });
  await withGateway({ providers: { azure: azure(["gpt-4o", "house"]) } }, async (gateway) => {
    assertEquals(await ids(gateway), ["openai/gpt-4o", "azure/house"]);
  });
  // An entry of the file that calls a deployment is the only one that does.
  const models = [{ id: "our/gpt", routes: [{ provider: "azure", model: "gpt-4o" }] }];
  await withGateway({ providers: { azure: azure(["gpt-4o", "gpt-4.1"]) }, models }, async (gateway) => {
    assertEquals(await ids(gateway), ["our/gpt", "openai/gpt-4.1"]);
  });
  const off = { models, catalog: { discover: false } };
  await withGateway({ providers: { azure: azure(["gpt-4o", "gpt-4.1"]) }, ...off }, async (gateway) => {
    assertEquals(await ids(gateway), ["our/gpt"]);
  });
  await provider.close();
});

Deno.test("Bedrock is asked for its lists, and what the table knows of them is served", async () => {
  const provider = loopbackProvider(({ path }) =>
    path.startsWith("/foundation-models")
      ? Response.json({
        modelSummaries: [{ modelId: "amazon.nova-lite-v1:0", inferenceTypesSupported: ["ON_DEMAND"] }],
      })
      : Response.json({ inferenceProfileSummaries: [] })
  );
  const bedrock = { base_url: provider.url, api_key: "k" };
  await withGateway({ providers: { bedrock } }, async (gateway) => {
    assertEquals((await ids(gateway)).length, 1);
    const [model] = gateway.gateway.models();
    assertEquals(model.routes[0].model, "amazon.nova-lite-v1:0");
    assertEquals(gateway.logged, []);
  });
  await provider.close();
});

Deno.test("Bedrock's models are served where its profiles may not be listed, and the log says so", async () => {
  const provider = loopbackProvider(({ path }) =>
    path.startsWith("/foundation-models")
      ? Response.json({
        modelSummaries: [{ modelId: "amazon.nova-lite-v1:0", inferenceTypesSupported: ["ON_DEMAND"] }],
      })
      : new Response("{}", { status: 403 })
  );
  const bedrock = { base_url: provider.url, api_key: "k" };
  await withGateway({ providers: { bedrock } }, async (gateway) => {
    assertEquals((await ids(gateway)).length, 1);
    assertEquals(gateway.logged, [
      "bedrock: lists only some of its models: /inference-profiles: status 403",
    ]);
  });
  await provider.close();
});

/** One process's view of the lists, over a file. */
function discovery(file: string, url: string, follower = 1) {
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
    now: Date.now,
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

Deno.test("GitHub and Cloudflare list their models elsewhere; Perplexity has no list, and has the known ones", async () => {
  const provider = loopbackProvider(({ path }) =>
    path === "/catalog/models"
      ? Response.json([
        {
          id: "openai/gpt-4.1",
          name: "OpenAI GPT-4.1",
          publisher: "OpenAI",
          limits: { max_input_tokens: 1_048_576, max_output_tokens: 32_768 },
          supported_output_modalities: ["text"],
        },
        { id: "openai/text-embedding-3-small", limits: { max_input_tokens: 8191, max_output_tokens: null } },
      ])
      : path.startsWith("/ai/models/search")
      ? Response.json({ success: true, result: found(new URL(path, "http://x").searchParams) })
      : new Response("404 page not found", { status: 404 })
  );
  function found(asked: URLSearchParams) {
    const all = Array.from({ length: 103 }, (_, i) => ({
      id: crypto.randomUUID(),
      name: i === 101 ? "@cf/openai/gpt-oss-120b" : i === 102 ? "@cf/meta/llama-3-9b" : `@cf/baai/bge-${i}`,
      task: { name: i < 101 ? "Text Embeddings" : "Text Generation" },
      properties: [{ property_id: "context_window", value: "32000" }, { property_id: "beta", value: "true" }],
    }));
    const size = Number(asked.get("per_page"));
    return all.slice((Number(asked.get("page")) - 1) * size).slice(0, size);
  }
  await withGateway({
    providers: {
      github: { base_url: `${provider.url}/inference`, api_key: "k" },
      perplexity: { base_url: provider.url, api_key: "k" },
      cloudflare: { base_url: `${provider.url}/ai/v1`, api_key: "k" },
    },
    catalog: { unpriced: "free" },
  }, async (gateway) => {
    const all = await ids(gateway);
    assertEquals(all.filter((id) => id.startsWith("openai/")), ["openai/gpt-4.1", "openai/gpt-oss-120b"]);
    assert(all.includes("meta/llama-3-9b") && !all.some((id) => id.includes("bge")), all.join());
    assert(all.includes("perplexity/sonar"), all.join());
    const headers = { authorization: `Bearer ${SECRET}` };
    const entry = await (await fetch(`${gateway.url}/v1/models/openai/gpt-4.1`, { headers })).json();
    assertEquals([entry.context_length, entry.max_completion_tokens], [1_048_576, 32_768]);
    const small = await (await fetch(`${gateway.url}/v1/models/meta/llama-3-9b`, { headers })).json();
    assertEquals(small.context_length, 32_000);
    assertEquals(gateway.logged.filter((line) => line.includes("cannot list")), []);
  });
  assertEquals(provider.seen.map(({ path }) => path).sort(), [
    "/ai/models/search?per_page=100&page=1",
    "/ai/models/search?per_page=100&page=2",
    "/catalog/models",
  ]);
  await provider.close();
});
