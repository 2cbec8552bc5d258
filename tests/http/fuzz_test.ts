/** Requests that are nearly right, in every way: a clear answer, never a fault of the service. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { leastAnswer } from "../support/answers.ts";
import { testGateway } from "../support/gateway.ts";
import { openCalls } from "../support/open_calls.ts";
import { loopbackProvider } from "../support/provider.ts";

const TOOL_SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** One request of each format with as many fields as it has. */
const FULL: Record<string, Record<string, unknown>> = {
  "/v1/chat/completions": {
    messages: [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        name: "ann",
        content: [
          { type: "text", text: "What is this?", cache_control: { type: "ephemeral" } },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}`, detail: "low" } },
          { type: "file", file: { filename: "a.txt", file_data: "data:text/plain;base64,aGk=" } },
          { type: "input_audio", input_audio: { data: "aGk=", format: "wav" } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [{
          id: "call_1",
          type: "function",
          function: { name: "weather", arguments: '{"city":"Oslo"}' },
        }],
      },
      { role: "tool", tool_call_id: "call_1", content: "Rain." },
      { role: "user", content: "And now?" },
    ],
    stream: false,
    stream_options: { include_usage: true },
    max_tokens: 50,
    tools: [{ type: "function", function: { name: "weather", description: "d", parameters: TOOL_SCHEMA } }],
    tool_choice: { type: "function", function: { name: "weather" } },
    parallel_tool_calls: true,
    response_format: { type: "json_schema", json_schema: { name: "x", strict: true, schema: TOOL_SCHEMA } },
    reasoning_effort: "low",
    temperature: 0.5,
    top_p: 0.9,
    stop: ["END"],
    seed: 7,
    n: 1,
    logit_bias: { "50256": -100 },
    logprobs: true,
    top_logprobs: 2,
    user: "u",
    metadata: { a: "b" },
    plugins: { other: { x: 1 } },
    unknown_field: { deep: [1] },
  },
  "/v1/messages": {
    max_tokens: 50,
    system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral", ttl: "1h" } }],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
          {
            type: "document",
            source: { type: "text", media_type: "text/plain", data: "hi" },
            title: "t",
            citations: { enabled: true },
          },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "c2ln" },
          { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Oslo" } },
        ],
      },
      {
        role: "user",
        content: [{
          type: "tool_result",
          tool_use_id: "toolu_1",
          content: [{ type: "text", text: "Rain." }],
        }],
      },
    ],
    tools: [{ name: "weather", description: "d", input_schema: TOOL_SCHEMA }],
    tool_choice: { type: "auto", disable_parallel_tool_use: true },
    thinking: { type: "enabled", budget_tokens: 1024 },
    output_config: { effort: "low", format: { type: "json_schema", schema: TOOL_SCHEMA } },
    temperature: 1,
    top_k: 5,
    top_p: 0.9,
    stop_sequences: ["END"],
    metadata: { user_id: "u" },
    context_management: { edits: [] },
    stream: false,
  },
  "/v1/responses": {
    instructions: "Be brief.",
    input: [
      {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "What is this?" }, {
          type: "input_image",
          image_url: `data:image/png;base64,${PNG}`,
        }],
      },
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }] },
      { type: "function_call", call_id: "call_1", name: "weather", arguments: '{"city":"Oslo"}' },
      { type: "function_call_output", call_id: "call_1", output: [{ type: "input_text", text: "Rain." }] },
      { role: "assistant", content: [{ type: "output_text", text: "It rains." }] },
      { role: "developer", content: "Go on." },
    ],
    tools: [
      { type: "function", name: "weather", description: "d", parameters: TOOL_SCHEMA, strict: true },
      {
        type: "custom",
        name: "shell",
        format: { type: "grammar", syntax: "lark", definition: "start: /a/" },
      },
      { type: "namespace", name: "ns", tools: [{ type: "function", name: "inner", parameters: {} }] },
    ],
    tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "weather" }] },
    reasoning: { effort: "low", summary: "auto" },
    text: { format: { type: "json_schema", name: "x", schema: TOOL_SCHEMA, strict: true }, verbosity: "low" },
    include: ["reasoning.encrypted_content"],
    max_output_tokens: 50,
    store: false,
    metadata: { a: "b" },
    parallel_tool_calls: true,
    temperature: 0.5,
    stream: false,
    prompt_cache_key: "k",
  },
};

/** Values that a field may turn into. Infinity is what JSON.parse makes of 1e999. */
const STRANGE = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e308,
    Infinity,
    -0,
    2 ** 53,
    "",
    "none",
    "max",
    "auto",
  ),
  fc.constantFrom<unknown>([], {}, [null], [[]], [{}], { type: null }, { type: "nonsense" }, {
    __proto__: null,
  }),
  fc.constantFrom<unknown>(
    "\ud800",
    "\u0000",
    "a\r\nb: c",
    "ü€😀",
    "data:;base64,",
    "data:image/png;base64,!!",
    "http://",
  ),
  fc.constantFrom<unknown>("x".repeat(70_000), Array(300).fill({}), Array(300).fill("x")),
  fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text) as unknown),
);

const HOSTILE_NAMES = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "a\r\nb",
  "ü€",
  "",
  "then",
  "toJSON",
];

interface Change {
  /** Which of the places in the request, from 0 to 1. */
  where: number;
  how: "replace" | "delete" | "add" | "double" | "unwrap";
  value: unknown;
  name: string;
}

const CHANGE: fc.Arbitrary<Change> = fc.record({
  where: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  how: fc.constantFrom("replace", "replace", "replace", "delete", "add", "double", "unwrap"),
  value: STRANGE,
  name: fc.constantFrom(...HOSTILE_NAMES),
});

/** Every object or array of a value with each of its keys. */
function places(value: unknown, found: [Record<string, unknown>, string][] = []): typeof found {
  if (typeof value !== "object" || value === null) return found;
  for (const key of Object.keys(value)) {
    found.push([value as Record<string, unknown>, key]);
    places((value as Record<string, unknown>)[key], found);
  }
  return found;
}

function apply(request: Record<string, unknown>, { where, how, value: shared, name }: Change): void {
  // Later changes go into what earlier ones have put in, and a value is drawn more than once.
  const value = structuredClone(shared);
  const all = places(request);
  if (all.length === 0) return;
  const [holder, key] = all[Math.floor(where * all.length)];
  if (how === "replace") holder[key] = value;
  else if (how === "delete") delete holder[key];
  else if (how === "double" && Array.isArray(holder)) holder.push(structuredClone(holder[Number(key)]));
  else if (how === "unwrap" && typeof holder[key] === "object" && holder[key] !== null) {
    holder[key] = Object.values(holder[key])[0];
  } else Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });
}

/** JSON text, in which Infinity is a number too large to be one. */
function textOf(request: unknown): string {
  return JSON.stringify(request, (_, v) => v === Infinity ? "@huge@" : v).replaceAll('"@huge@"', "1e999");
}

function assertEnvelope(path: string, status: number, body: Record<string, unknown>, sent: string): void {
  const error = body.error as Record<string, unknown>;
  const shown = `${path} ${status} ${JSON.stringify(body).slice(0, 400)} for ${sent.slice(0, 1500)}`;
  assert(status < 500, shown);
  assertEquals(typeof error?.code, "string", shown);
  assertEquals(typeof error.message, "string", shown);
  if (path !== "/v1/chat/completions") assertEquals(typeof error.type, "string", shown);
  if (path === "/v1/messages") assertEquals(body.type, "error", shown);
  assert(JSON.stringify(body).length < 40_000, "an answer to a wrong request is short");
}

Deno.test("requests that are nearly right never are a fault of the service", async () => {
  const provider = loopbackProvider(leastAnswer);
  const apis = ["openai-chat", "openai-responses", "anthropic-messages", "gemini"] as const;
  const gateway = await testGateway(
    Object.fromEntries(apis.map((api) => [api, { api, url: `${provider.url}/v1` }])),
  );
  let good = 0;
  const request = fc.record({
    path: fc.constantFrom(...Object.keys(FULL)),
    api: fc.constantFrom(...apis),
    stream: fc.boolean(),
    changes: fc.array(CHANGE, { minLength: 0, maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(request, async ({ path, api, stream, changes }) => {
      const body: Record<string, unknown> = { model: `${api}/model`, ...structuredClone(FULL[path]), stream };
      for (const change of changes) apply(body, change);
      const sent = textOf(body);
      const response = await gateway.post(path, sent);
      const text = await response.text();
      if (response.status === 200) {
        good++;
        assert(
          !text.includes('"internal_service_error"'),
          `${path} ${api}: ${text.slice(-400)} for ${sent.slice(0, 1500)}`,
        );
      } else assertEnvelope(path, response.status, JSON.parse(text), `${api} ${sent}`);
    }),
    { numRuns: Number(Deno.env.get("FUZZ_RUNS") ?? 600), interruptAfterTimeLimit: 120_000 },
  );
  assert(good > 10, "some of them are still good requests");
  assertEquals(gateway.logged.filter((line) => /Error/.test(line)), []);
  assertEquals(await openCalls(gateway.gateway.accounts), 0);
  await gateway.close();
  await provider.close();
});
