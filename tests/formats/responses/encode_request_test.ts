/** Prompts of every format as requests to a provider of this one. */
import { convert } from "../conversions.ts";
import { assertEquals, assertThrows } from "@std/assert";
import { Failure } from "../../../src/exchange/failure.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Content, Prompt, Turn } from "../../../src/exchange/prompt.ts";
import type { EncodeRequest } from "../../../src/formats/format.ts";
import { responses } from "../../../src/formats/responses/mod.ts";
import { decode, encoding } from "./support.ts";

/** A prompt of another format. */
function foreign(turns: Turn[], more: Partial<Prompt> = {}): Prompt {
  return {
    format: "messages",
    model: "a/b",
    stream: false,
    turns,
    tools: [],
    verbatim: {},
    unknown: {},
    ...more,
  };
}

const user = (...content: Content[]): Turn => ({ role: "user", content });
const assistant = (...content: Content[]): Turn => ({ role: "assistant", content });
const text = (words: string): Content => ({ type: "text", text: words });
const call = (id: string): Content => ({ type: "call", id, name: "f", kind: "function", arguments: "{}" });
const result = (callId: string, words = "ok"): Content => ({
  type: "result",
  callId,
  name: "f",
  kind: "function",
  content: [text(words)],
  isError: false,
});

function encode(prompt: Prompt, more: Partial<EncodeRequest> = {}): Loose {
  return JSON.parse(JSON.stringify(responses.encodeRequest(prompt, encoding(more)).body));
}
const input = (...turns: Turn[]) => encode(foreign(turns)).input;

// deno-lint-ignore no-explicit-any
type Any = any;

Deno.test("responses.encodeRequest() stores nothing and asks for reasoning that can be carried", () => {
  assertEquals(encode(foreign([user(text("Hi"))], { stream: true })), {
    model: "model",
    input: [{ role: "user", content: [{ type: "input_text", text: "Hi" }] }],
    stream: true,
    store: false,
    include: ["reasoning.encrypted_content"],
  });
  // Models that do not reason refuse it.
  assertEquals(encode(foreign([user(text("Hi"))]), { features: new Set(["tools"]) }).include, undefined);
});

Deno.test("responses.encodeRequest() makes top system text instructions and keeps other system turns in place", () => {
  const body = encode(foreign([
    { role: "system", content: [text("A"), text("B")], top: true },
    { role: "system", content: [text("C")], developer: true, plain: true },
    user(text("Hi")),
    { role: "system", content: [text("D")], plain: true },
  ]));
  assertEquals(body.instructions, "A\n\nB");
  assertEquals(body.input, [
    { role: "developer", content: "C" },
    { role: "user", content: [{ type: "input_text", text: "Hi" }] },
    { role: "system", content: "D" },
  ]);
});

Deno.test("responses.encodeRequest() writes attachments in the forms that the API takes", () => {
  const image: Content = { type: "image", source: { kind: "base64", mediaType: "image/png", data: "AA" } };
  const [turn] = input(user(
    image,
    { type: "image", source: { kind: "url", url: "https://a.org/b.png" }, detail: "high" },
    { type: "document", source: { kind: "base64", mediaType: "application/pdf", data: "BB" } },
    { type: "document", source: { kind: "text", text: "words" }, name: "Notes", context: "about" },
    { type: "document", source: { kind: "url", url: "https://a.org/c.pdf" }, name: "c" },
    { type: "audio", source: { kind: "base64", mediaType: "audio/mpeg", data: "CC" } },
    { type: "search-result", url: "https://a.org", title: "T", texts: ["x", "y"] },
  )) as Loose[];
  assertEquals(turn.content, [
    { type: "input_image", image_url: "data:image/png;base64,AA", detail: "auto" },
    { type: "input_image", image_url: "https://a.org/b.png", detail: "high" },
    { type: "input_file", filename: "document.pdf", file_data: "data:application/pdf;base64,BB" },
    { type: "input_text", text: "about" },
    { type: "input_text", text: "Notes\n\nwords" },
    { type: "input_file", file_url: "https://a.org/c.pdf" },
    { type: "input_audio", input_audio: { data: "CC", format: "mp3" } },
    { type: "input_text", text: "T\nhttps://a.org\n\nx\n\ny" },
  ]);
  const video: Content = { type: "video", source: { kind: "url", url: "https://a.org/d.mp4" } };
  const refused = assertThrows(() => input(user(video)), Failure);
  assertEquals([refused.code, refused.param], ["feature_not_supported", "messages"]);
});

Deno.test("responses: a video goes to a provider of the caller's format as it came, and a wrong one is named", () => {
  const part = { type: "input_video", video_url: "https://a.org/d.mp4", fps: 2 };
  const of = (sent: Loose) =>
    convert("responses", { input: [{ role: "user", content: [sent] }] }, "responses", "m");
  assertEquals(of(part).body.input, [{ role: "user", content: [part] }]);
  const asked = { input: [{ role: "user", content: [part] }] };
  const chat = convert("responses", asked, "chat_completions", "m").body as Any;
  assertEquals(chat.messages[0].content, [{ type: "video_url", video_url: { url: "https://a.org/d.mp4" } }]);
  const gemini = convert("responses", asked, "gemini", "gemini-2.5-flash").body as Any;
  assertEquals(gemini.contents[0].parts[0].fileData.fileUri, "https://a.org/d.mp4");
  const wrong = assertThrows(() => of({ type: "input_video", video_url: { url: "x" } }), Failure);
  assertEquals(wrong.code, "validation_error");
});

Deno.test("responses.encodeRequest() puts results behind their calls and words behind results", () => {
  assertEquals(
    input(assistant(text("I look."), call("c1"), call("c2")), user(text("and?"), result("c1"), result("c2"))),
    [
      { role: "assistant", content: [{ type: "output_text", text: "I look." }] },
      { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
      { type: "function_call", call_id: "c2", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "ok" },
      { type: "function_call_output", call_id: "c2", output: "ok" },
      { role: "user", content: [{ type: "input_text", text: "and?" }] },
    ],
  );
});

Deno.test("responses.encodeRequest() mends a call without a result and a result without a call", () => {
  assertEquals(input(assistant(call("c1")), user(result("c9"))), [
    { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
    { type: "function_call_output", call_id: "c1", output: "No result was given." },
    {
      role: "user",
      content: [{ type: "input_text", text: "Result of f:" }, { type: "input_text", text: "ok" }],
    },
  ]);
});

Deno.test("responses.encodeRequest() says that a result is an error, and keeps its images", () => {
  const image: Content = { type: "image", source: { kind: "url", url: "https://a.org/b.png" } };
  const failed: Content = {
    ...result("c1", "no file") as Extract<Content, { type: "result" }>,
    isError: true,
  };
  const seen: Content = {
    ...result("c2") as Extract<Content, { type: "result" }>,
    content: [text("x"), image],
  };
  const outputs = input(assistant(call("c1"), call("c2")), user(failed, seen)) as Loose[];
  assertEquals(outputs.slice(2).map((o) => o.output), [
    "Error: no file",
    [{ type: "input_text", text: "x" }, {
      type: "input_image",
      image_url: "https://a.org/b.png",
      detail: "auto",
    }],
  ]);
});

Deno.test("responses.encodeRequest() shortens ids that the API would refuse, the same for call and result", () => {
  const long = "x".repeat(200);
  const [made, answered] = input(assistant(call(long)), user(result(long))) as Loose[];
  assertEquals(made.call_id, answered.call_id);
  assertEquals(/^call_[0-9a-f]{16}$/.test(String(made.call_id)), true);
});

Deno.test("responses.encodeRequest() replays reasoning with its own proof and before its item only", () => {
  const own = (data: string, id?: string): Content => ({
    type: "reasoning",
    sections: ["s"],
    kind: "summary",
    proof: { api: "responses", kind: "encrypted", data, ...(id && { id }) },
  });
  const other: Content = {
    type: "reasoning",
    sections: ["thought"],
    kind: "text",
    proof: { api: "messages", kind: "signature", data: "sig" },
  };
  const bare: Content = { type: "reasoning", sections: ["thought"], kind: "text" };
  const wire = (data: string, id?: string) => ({
    ...(id && { id }),
    type: "reasoning",
    summary: [{ type: "summary_text", text: "s" }],
    encrypted_content: data,
  });
  const said = { role: "assistant", content: [{ type: "output_text", text: "a" }] };
  assertEquals(input(assistant(own("E1", "rs_1"), text("a"))), [wire("E1"), said]);
  assertEquals(input(assistant(other, text("a"))), [said]);
  assertEquals(input(assistant(bare, text("a"))), [said]);
  // A model that thinks in steps gives several before one item.
  assertEquals(input(assistant(own("E1"), own("E2"), text("a"))), [wire("E1"), wire("E2"), said]);
  assertEquals(input(assistant(text("a"), own("E1"), own("E2")), user(text("b"))), [
    said,
    { role: "user", content: [{ type: "input_text", text: "b" }] },
  ]);
  assertEquals(input(user(text("b")), assistant(own("E1"))), [
    { role: "user", content: [{ type: "input_text", text: "b" }] },
  ]);
});

Deno.test("responses.encodeRequest() replays reasoning text to a provider that writes it openly", () => {
  const items = [
    {
      type: "reasoning",
      id: "r1",
      summary: [],
      content: [{ type: "reasoning_text", text: "hm" }],
      encrypted_content: null,
    },
    { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
    { type: "function_call_output", call_id: "c1", output: "ok" },
  ];
  assertEquals(encode(decode({ model: "a/b", input: items })).input, items);
});

Deno.test("responses.encodeRequest() says strict outright for tools of other formats", () => {
  const { tools, tool_choice } = encode(foreign([user(text("x"))], {
    tools: [
      { kind: "function", name: "a", description: "d", parameters: { type: "object" } },
      { kind: "function", name: "b", strict: true, parameters: { type: "object" } },
      { kind: "function", name: "c" },
      {
        kind: "custom",
        name: "e",
        format: { type: "grammar", grammar: { syntax: "lark", definition: "x" } },
      },
    ],
    toolChoice: { type: "allowed", required: true, names: ["a", "e"] },
  }));
  assertEquals(tools, [
    {
      type: "function",
      name: "a",
      description: "d",
      parameters: { type: "object", properties: {} },
      strict: false,
    },
    { type: "function", name: "b", parameters: { type: "object", properties: {} }, strict: false },
    {
      type: "function",
      name: "c",
      parameters: { type: "object", properties: {}, additionalProperties: false },
      strict: false,
    },
    { type: "custom", name: "e", format: { type: "grammar", syntax: "lark", definition: "x" } },
  ]);
  assertEquals(tool_choice, {
    type: "allowed_tools",
    mode: "required",
    tools: [{ type: "function", name: "a" }, { type: "custom", name: "e" }],
  });
});

Deno.test("responses.encodeRequest() gives a caller of this format its tools and options back", () => {
  const request = {
    model: "model",
    input: "Hello",
    tools: [
      {
        type: "function",
        name: "f",
        description: "d",
        parameters: { type: "object" },
        strict: true,
        defer_loading: true,
      },
      {
        type: "namespace",
        name: "n",
        description: "N",
        tools: [
          { type: "function", name: "g", parameters: { type: "object" } },
          { type: "custom", name: "h", description: "H" },
        ],
      },
      { type: "mcp", server_label: "s" },
    ],
    tool_choice: { type: "mcp", server_label: "s" },
    reasoning: { effort: "low", summary: "auto", context: "all_turns" },
    text: { verbosity: "low", format: { type: "json_object" } },
    truncation: "auto",
    client_metadata: { a: 1 },
    safety_identifier: "u",
    include: ["reasoning.encrypted_content"],
    store: false,
    stream: false,
  };
  const { input: _, ...rest } = encode(decode({ ...request, model: "acme/model" }));
  const { input: __, ...expected } = request;
  assertEquals(rest, expected);
});

Deno.test("responses.encodeRequest() asks for the nearest effort that the model has", () => {
  const effort = (wish: Prompt["reasoning"], efforts: EncodeRequest["efforts"] = null) =>
    (encode(foreign([user(text("x"))], { reasoning: wish }), { efforts }).reasoning as Loose | undefined)
      ?.effort;
  assertEquals(effort({ effort: "max" }), "xhigh");
  assertEquals(effort({ effort: "max" }, ["low", "high"]), "high");
  assertEquals(effort({ effort: "minimal" }, ["low", "high"]), "low");
  assertEquals(effort({ mode: "on", budget: 4000 }), "low");
  assertEquals(effort({ mode: "off" }), "none");
  assertEquals(effort(undefined), undefined);
  const plain = responses.encodeRequest(
    foreign([user(text("x"))], { reasoning: { effort: "high" } }),
    encoding({ features: new Set(["tools"]) }),
  );
  assertEquals([plain.body.reasoning, plain.dropped], [undefined, ["thinking"]]);
});

Deno.test("responses.encodeRequest() asks for structure in the strongest way that the model has", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
    additionalProperties: false,
  };
  const shaped = (features: string[] | null, more: Loose = schema) =>
    encode(foreign([user(text("x"))], { output: { type: "schema", schema: more } }), {
      features: features && new Set(features),
    });
  assertEquals(shaped(null).text, { format: { type: "json_schema", name: "answer", schema, strict: true } });
  const loose = { type: "object", properties: { a: { type: "string" } } };
  assertEquals((shaped(null, loose).text as Loose).format, {
    type: "json_schema",
    name: "answer",
    schema: loose,
    strict: false,
  });
  const weaker = shaped(["response_format"]);
  assertEquals(weaker.text, { format: { type: "json_object" } });
  assertEquals(String(((weaker.input as Loose[]).at(-1)!).content).includes(JSON.stringify(schema)), true);
  assertEquals(shaped([]).text, undefined);
  assertEquals(String(((shaped([]).input as Loose[]).at(-1)!).content).includes("JSON"), true);
});

Deno.test("responses.encodeRequest() names what the API cannot be told as the caller named it", () => {
  const dropped = (more: Partial<Prompt>) =>
    responses.encodeRequest(foreign([user(text("x"))], more), encoding()).dropped.sort();
  assertEquals(dropped({ stop: ["a"], topK: 4, unknown: { thread: {} } }), [
    "stop_sequences",
    "thread",
    "top_k",
  ]);
  assertEquals(
    dropped({
      format: "chat_completions",
      stop: ["a"],
      seed: 1,
      logitBias: {},
      frequencyPenalty: 1,
      modalities: ["audio"],
    }),
    ["frequency_penalty", "logit_bias", "modalities", "seed", "stop"],
  );
  assertEquals(dropped({ verbatim: { thinking: {} }, metadata: {}, user: "u" }), []);
});

Deno.test("responses.encodeRequest() caps output between what the model and what the API allow", () => {
  const cap = (prompt: Prompt, maxOutput: number | null) => encode(prompt, { maxOutput }).max_output_tokens;
  assertEquals(cap(foreign([user(text("x"))], { maxOutput: 5 }), null), 16);
  assertEquals(cap(foreign([user(text("x"))], { maxOutput: 5000 }), 1000), 1000);
  assertEquals(cap(foreign([user(text("x"))]), 1000), undefined);
  assertEquals(cap(decode({ model: "a/b", input: "x", max_output_tokens: 5 }), null), 5);
});

Deno.test("responses.encodeRequest() leaves out sampling at its default, which reasoning models refuse by name", () => {
  const body = encode(foreign([user(text("x"))], { temperature: 1, topP: 0.5 }));
  assertEquals([body.temperature, body.top_p], [undefined, 0.5]);
});

Deno.test("encodeRequest() of another format: a cache key over OpenAI's limit is replaced by a hash of it", () => {
  const key = (cacheKey: string) => encode(foreign([user(text("Hi"))], { cacheKey })).prompt_cache_key;
  assertEquals(key("k".repeat(64)), "k".repeat(64));
  assertEquals(/^key_[0-9a-f]{16}$/.test(String(key("k".repeat(65)))), true);
  assertEquals(key("k".repeat(65)), key("k".repeat(65)));
  assertEquals(key("k".repeat(65)) === key("k".repeat(66)), false);
});
