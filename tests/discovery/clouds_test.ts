/** Models of clouds, and of providers whose list is elsewhere or missing. */
import { assert, assertEquals } from "@std/assert";
import { SECRET } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { ids, withGateway } from "./listed.ts";

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
      // The name of the first says nothing about its task.
      name: [
        "@cf/microsoft/resnet-50",
        ...Array.from({ length: 100 }, (_, n) => `@cf/baai/bge-${n}`),
      ].at(i) ??
        (i === 101 ? "@cf/openai/gpt-oss-120b" : "@cf/meta/llama-3-9b"),
      task: { name: i === 0 ? "Image Classification" : i < 101 ? "Text Embeddings" : "Text Generation" },
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
    assert(all.includes("meta/llama-3-9b") && !all.some((id) => /bge|resnet/.test(id)), all.join());
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

Deno.test("Cohere and Databricks list their models in their own way, with others than those that converse", async () => {
  const model = (name: string, endpoints: string[], more = {}) => ({
    name,
    endpoints,
    context_length: 128_000,
    ...more,
  });
  const served = (name: string, task: string | null, ready = "READY") => ({ name, task, state: { ready } });
  const provider = loopbackProvider(({ path }) => {
    if (path.startsWith("/v1/models")) {
      const next = path.includes("page_token=");
      return Response.json({
        models: next ? [model("command-r-08-2024", ["chat", "generate"])] : [
          model("command-a-03-2025", ["chat"]),
          model("embed-v4.0", ["embed"]),
          model("command-light", ["chat"], { is_deprecated: true }),
        ],
        ...(!next && { next_page_token: "a b" }),
      });
    }
    return path === "/api/2.0/serving-endpoints"
      ? Response.json({
        endpoints: [
          served("databricks-claude-sonnet-4-5", "llm/v1/chat"),
          served("databricks-gte-large-en", "llm/v1/embeddings"),
          served("our-forecast", null),
          served("our-chat", "llm/v1/chat", "NOT_READY"),
        ],
      })
      : new Response("{}", { status: 404 });
  });
  await withGateway({
    providers: {
      cohere: { base_url: `${provider.url}/compatibility/v1`, api_key: "k" },
      databricks: { base_url: `${provider.url}/ai-gateway/mlflow/v1`, api_key: "k" },
    },
    catalog: { unpriced: "free" },
  }, async (gateway) => {
    assertEquals((await ids(gateway)).sort(), [
      "anthropic/claude-sonnet-4-5",
      "cohere/command-a-03-2025",
      "cohere/command-r-08-2024",
    ]);
    assertEquals(gateway.logged.filter((line) => line.includes("cannot list")), []);
  });
  assertEquals(provider.seen.map(({ path, headers }) => `${path} ${headers.get("authorization")}`).sort(), [
    "/api/2.0/serving-endpoints Bearer k",
    "/v1/models?endpoint=chat&page_size=1000 Bearer k",
    "/v1/models?endpoint=chat&page_size=1000&page_token=a%20b Bearer k",
  ]);
  await provider.close();
});

Deno.test("servers that stand for Cohere or Databricks at other addresses may have OpenAI's list", async () => {
  const provider = loopbackProvider(() => Response.json({ data: [{ id: "one" }] }));
  await withGateway({
    providers: {
      cohere: { base_url: `${provider.url}/v1`, api_key: "k" },
      databricks: { base_url: `${provider.url}/v1`, api_key: "k" },
    },
    catalog: { unpriced: "free" },
  }, async (gateway) => {
    assertEquals((await ids(gateway)).sort(), ["cohere/one", "databricks/one"]);
  });
  assertEquals(provider.seen.map(({ path }) => path.replace(/\?.*/, "")), ["/v1/models", "/v1/models"]);
  await provider.close();
});
