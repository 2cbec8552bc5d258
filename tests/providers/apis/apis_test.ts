/** What each provider API is told and where: the addresses, headers and lists that their documentation names. */
import { assertEquals, assertThrows } from "@std/assert";
import { API_NAMES, apiNamed, PROVIDER_APIS } from "../../../src/providers/apis/mod.ts";
import { keyCredential } from "../../../src/providers/credentials/key.ts";
import { type Provider, upstreamOf } from "../../../src/providers/provider.ts";

const BASE = "https://up.example/v1";

function provider(api: string, headers: Record<string, string> = {}, key = "k"): Provider {
  return {
    name: "p",
    api: apiNamed(api),
    baseUrl: BASE,
    credential: keyCredential(key),
    headers,
    firstByteMs: 1,
    idleMs: 1,
    retries: 0,
    breaker: { failures: 1, windowMs: 1, openMs: 1 },
    maxConcurrent: null,
    maxVersion: null,
  };
}

const headersOf = (p: Provider) => upstreamOf(p, p.api).headers;

Deno.test("PROVIDER_APIS has each name once, and apiNamed() finds each", () => {
  assertEquals(new Set(API_NAMES).size, PROVIDER_APIS.length);
  for (const api of PROVIDER_APIS) assertEquals(apiNamed(api.name), api);
  assertThrows(() => apiNamed("telepathy"), Error, "openai-chat");
});

/** Path of a streamed and of a whole call of model `m`. */
const ADDRESSES: Record<string, [streamed: string, whole: string]> = {
  "openai-chat": ["/chat/completions", "/chat/completions"],
  "openai-responses": ["/responses", "/responses"],
  "anthropic-messages": ["/messages", "/messages"],
  "gemini": ["/models/m:streamGenerateContent?alt=sse", "/models/m:generateContent"],
  "bedrock-converse": ["/model/m/converse-stream", "/model/m/converse"],
  "demo": ["/chat/completions", "/chat/completions"],
};

Deno.test("address() of each API of the list", () => {
  const found = PROVIDER_APIS.map(({ name, address }) =>
    [name, [true, false].map((stream) => address(BASE, "m", stream).slice(BASE.length))] as const
  );
  assertEquals(Object.fromEntries(found), ADDRESSES);
});

Deno.test("address() of Gemini takes names with the prefix of their kind", () => {
  const address = (model: string) => apiNamed("gemini").address(BASE, model, false).slice(BASE.length);
  assertEquals(address("models/m"), "/models/m:generateContent");
  assertEquals(address("tunedModels/m"), "/tunedModels/m:generateContent");
});

Deno.test("upstreamOf() carries the key where the API wants it, and the operator's headers above all", () => {
  const json = { "content-type": "application/json" };
  assertEquals(headersOf(provider("openai-chat")), { ...json, authorization: "Bearer k" });
  assertEquals(headersOf(provider("openai-responses")), { ...json, authorization: "Bearer k" });
  assertEquals(headersOf(provider("gemini")), { ...json, "x-goog-api-key": "k" });
  assertEquals(headersOf(provider("anthropic-messages", { "Anthropic-Version": "2026-10-21" })), {
    ...json,
    "x-api-key": "k",
    "anthropic-version": "2026-10-21",
  });
  assertEquals(headersOf(provider("openai-chat", { Authorization: "mine" }, "")), {
    ...json,
    authorization: "mine",
  });
  assertEquals(headersOf(provider("openai-chat", {}, "")), json);
});

Deno.test("toolForms() depends on the caller's format where the API's own tools are no common ground", () => {
  const forms = (name: string) =>
    (["chat_completions", "messages", "responses"] as const).map((from) => {
      const { custom, namespaces } = apiNamed(name).toolForms(from);
      return `${custom ? "custom" : "-"} ${namespaces ? "namespaces" : "-"}`;
    });
  assertEquals(forms("openai-chat"), ["custom -", "- -", "- -"]);
  assertEquals(forms("openai-responses"), ["custom -", "custom -", "custom namespaces"]);
  assertEquals(forms("anthropic-messages"), ["- -", "- -", "- -"]);
  assertEquals(forms("gemini"), ["- -", "- -", "- -"]);
});

Deno.test("modelsList of the OpenAI APIs reads ids, and sizes by the names that servers give them", () => {
  const { path, read } = apiNamed("openai-chat").modelsList!;
  assertEquals(path(null), "/models");
  const body = {
    object: "list",
    data: [
      { id: "gpt-5", object: "model", created: 1, owned_by: "openai" },
      { id: "qwen", max_model_len: 32768 },
      { id: "llama", context_window: 131072 },
      { id: "" },
      null,
    ],
  };
  assertEquals(read(body), {
    models: [{ id: "gpt-5" }, { id: "qwen", contextLength: 32768 }, { id: "llama", contextLength: 131072 }],
    next: null,
  });
  assertEquals(read([{ id: "a", context_length: 8 }])!.models, [{ id: "a", contextLength: 8 }]);
  assertEquals(read("no list"), null);
  assertEquals(read({ id: "chatcmpl-1", choices: [] }), null);
});

Deno.test("modelsList of the OpenAI APIs leaves out what the list says is for another purpose, or not served", () => {
  const { read } = apiNamed("openai-chat").modelsList!;
  const text = { output_modalities: ["text", "image"] };
  const chat = [
    { type: "chat" },
    { type: "language" },
    { type: "model" },
    { capabilities: { completion_chat: true } },
    { capabilities: ["completion"] },
    { supports_chat: true },
    { active: true },
    { architecture: text },
    { architecture: { output_modalities: null } },
  ];
  const other = [
    ...["image", "video", "audio", "embedding", "embeddings", "moderation", "rerank", "transcribe"].map((
      type,
    ) => ({ type })),
    { capabilities: { completion_chat: false, vision: false } },
    { supports_chat: false },
    { active: false },
    { architecture: { output_modalities: ["image"] } },
  ];
  for (const [rows, kept] of [[chat, true], [other, false]] as const) {
    for (const row of rows) {
      assertEquals([row, read({ data: [{ id: "a", ...row }] })!.models.length], [row, kept ? 1 : 0]);
    }
  }
});

Deno.test("modelsList of the OpenAI APIs reads prices for a token, and no others", () => {
  const { read } = apiNamed("openai-chat").modelsList!;
  const priced = (pricing: unknown) => read({ data: [{ id: "a", pricing }] })!.models[0].pricing;
  assertEquals(
    priced({ prompt: "0.000003", completion: "0.000015", input_cache_read: "0.0000003", image: "0" }),
    {
      prompt: "0.000003",
      completion: "0.000015",
      input_cache_read: "0.0000003",
    },
  );
  const parts = {
    internal_reasoning: "0.000004",
    audio: "0.000001",
    input_cache_write: "0",
    request: "0.005",
  };
  assertEquals(priced({ prompt: "0.000003", completion: "0.000015", ...parts }), {
    prompt: "0.000003",
    completion: "0.000015",
    ...parts,
  });
  // Reasoning costs as much as other output then.
  assertEquals(
    priced({ prompt: "0.000003", completion: "0.000015", internal_reasoning: "0", audio: "0", request: "0" }),
    { prompt: "0.000003", completion: "0.000015" },
  );
  // Depends on what answers; for a million; missing; hostile.
  for (
    const odd of [{ prompt: "-1", completion: "-1" }, { input: 3, output: 15 }, { prompt: "0.1" }, "1", null]
  ) {
    assertEquals(priced(odd), undefined);
  }
  assertEquals(priced({ prompt: "1e-6", completion: "0.0000000000000000001" }), undefined);
});

Deno.test("modelsList of the Messages API goes on after the last id", () => {
  const { path, read } = apiNamed("anthropic-messages").modelsList!;
  const first = read({
    data: [{ type: "model", id: "claude-a", display_name: "A", max_input_tokens: 200000, max_tokens: 64000 }],
    has_more: true,
    first_id: "claude-a",
    last_id: "claude-a",
  });
  assertEquals(first, {
    models: [{ id: "claude-a", contextLength: 200000, maxCompletion: 64000 }],
    next: "claude-a",
  });
  assertEquals(path(null), "/models?limit=1000");
  assertEquals(path(first!.next), "/models?limit=1000&after_id=claude-a");
  const last = read({
    data: [{ id: "b", max_input_tokens: null, max_tokens: null }],
    has_more: false,
    last_id: "b",
  });
  assertEquals(last, { models: [{ id: "b" }], next: null });
});

Deno.test("modelsList of Gemini leaves out what does not generate", () => {
  const { path, read } = apiNamed("gemini").modelsList!;
  const body = {
    models: [
      {
        name: "models/gemini-x",
        inputTokenLimit: 1048576,
        outputTokenLimit: 65536,
        supportedGenerationMethods: ["generateContent", "countTokens"],
      },
      { name: "models/embedding-1", supportedGenerationMethods: ["embedContent"] },
    ],
    nextPageToken: "a/b",
  };
  assertEquals(read(body), {
    models: [{ id: "gemini-x", contextLength: 1048576, maxCompletion: 65536 }],
    next: "a/b",
  });
  assertEquals(path("a/b"), "/models?pageSize=1000&pageToken=a%2Fb");
  assertEquals(read({ models: [] })!.next, null);
});
