/** Thinking, sampling, tools, schemas and marks of a prompt in this format. */
import { assert, assertEquals } from "@std/assert";
import { type Loose, object } from "../../../src/exchange/json.ts";
import type { Prompt } from "../../../src/exchange/prompt.ts";
import { messages } from "../../../src/formats/messages/mod.ts";
import { decodeRequest, encoding, foreign, request } from "./support.ts";
import { call, result, sent, text, turn } from "./prompts.ts";

Deno.test("encodeRequest() always has an output cap, within the model's", () => {
  const cap = (maxOutput: number | undefined, most: number | null) =>
    sent({ maxOutput }, { maxOutput: most }).body.max_tokens;
  assertEquals([cap(undefined, null), cap(undefined, 64000), cap(10, 64000), cap(99999, 64000)], [
    8192,
    64000,
    10,
    64000,
  ]);
});

Deno.test("encodeRequest() makes a budget from an effort, always below the cap", () => {
  const table: [Partial<Prompt>, Loose | undefined, number, string[]][] = [
    [{ reasoning: { effort: "high" } }, { type: "enabled", budget_tokens: 24576 }, 32768, []],
    [{ reasoning: { effort: "high" }, maxOutput: 4000 }, { type: "enabled", budget_tokens: 3000 }, 4000, []],
    [
      { reasoning: { effort: "minimal" }, maxOutput: 1100 },
      { type: "enabled", budget_tokens: 1024 },
      1100,
      [],
    ],
    [{ reasoning: { effort: "low" }, maxOutput: 500 }, undefined, 500, ["reasoning_effort"]],
    [{ reasoning: { effort: "none" } }, undefined, 8192, []],
    [{ reasoning: { mode: "off" } }, undefined, 8192, []],
    [{ reasoning: { budget: 5000 }, maxOutput: 50000 }, { type: "enabled", budget_tokens: 5000 }, 50000, []],
    [{ reasoning: { summary: "auto" } }, undefined, 8192, []],
  ];
  for (const [fields, thinking, cap, dropped] of table) {
    const { body, dropped: lost } = sent(fields);
    assertEquals([body.thinking, body.max_tokens, lost], [thinking, cap, dropped]);
    assert(thinking === undefined || (thinking.budget_tokens as number) < cap);
  }
});

Deno.test("encodeRequest() tells models from 4.6 on an effort instead of a budget", () => {
  const wish = (
    model: string,
    effort: "minimal" | "high" | "xhigh" | "none",
    efforts = null as null | ["low", "high"],
  ) => {
    const { body } = sent({ reasoning: { effort } }, { model, efforts });
    return [object(body.thinking).type, object(body.output_config).effort];
  };
  assertEquals(wish("claude-opus-4-6", "high"), ["adaptive", "high"]);
  assertEquals(wish("claude-sonnet-5", "minimal"), ["adaptive", "low"]);
  assertEquals(wish("eu.anthropic.claude-opus-4-7-20260101-v1:0", "xhigh", ["low", "high"]), [
    "adaptive",
    "high",
  ]);
  assertEquals(wish("claude-opus-4-8", "none"), ["disabled", undefined]);
  assertEquals(wish("claude-sonnet-4-5-20250929", "high"), ["enabled", undefined]);
  assertEquals(wish("claude-opus-4-20250514", "high"), ["enabled", undefined]);
  assertEquals(wish("claude-3-7-sonnet-latest", "high"), ["enabled", undefined]);
  assertEquals(wish("kimi-k2", "high"), ["enabled", undefined]);
});

Deno.test("encodeRequest() keeps a caller's budget below a cap that the model lowers, and passes on what the caller wrote", () => {
  const thinking = { type: "enabled", budget_tokens: 9000 };
  const own = (fields: Loose, most: number | null = null) =>
    messages.encodeRequest(decodeRequest(request({ thinking, ...fields })), encoding({ maxOutput: most }));
  assertEquals(own({ max_tokens: 10000 }).body.thinking, thinking);
  assertEquals(own({ max_tokens: 10000 }, 8000).body.thinking, { type: "enabled", budget_tokens: 6000 });
  assertEquals(own({ max_tokens: 10000 }, 500).body.thinking, undefined);
  assertEquals(own({ max_tokens: 10000 }, 500).dropped, ["thinking"]);
  for (const max_tokens of [500, 2000, 9000]) {
    for (const most of [null, 300]) {
      assertEquals(own({ max_tokens }, most).body.thinking, thinking);
      assertEquals(own({ max_tokens }, most).dropped, []);
    }
  }
});

Deno.test("encodeRequest() keeps a budget for thinking between calls, which may be above the cap", () => {
  const thinking = { type: "enabled", budget_tokens: 9000 };
  const prompt = decodeRequest(request({ thinking, max_tokens: 500 }));
  const told = {
    ...prompt,
    headers: { "anthropic-beta": "context-1m-2025-08-07,interleaved-thinking-2025-05-14" },
  };
  assertEquals(messages.encodeRequest(told, encoding()).body.thinking, thinking);
  const inBody = { ...prompt, unknown: { anthropic_beta: ["interleaved-thinking-2025-05-14"] } };
  assertEquals(messages.encodeRequest(inBody, encoding({ maxOutput: 300 })).body.thinking, thinking);
});

Deno.test("encodeRequest() does not think on in a tool loop whose thinking it had to leave out", () => {
  const turns = (
    proof?: { api: "messages" | "responses"; kind: "signature" | "encrypted"; data: string },
  ) => [
    turn("user", text("Hi")),
    turn(
      "assistant",
      { type: "reasoning", sections: ["hm"], kind: "text", ...(proof && { proof }) },
      call("a"),
    ),
    turn("user", result("a")),
  ];
  const thinks = (fields: Partial<Prompt>) => {
    const { body, dropped } = sent({
      reasoning: { effort: "low" },
      tools: [{ kind: "function", name: "f" }],
      ...fields,
    });
    return [body.thinking !== undefined, dropped];
  };
  assertEquals(thinks({ turns: turns({ api: "messages", kind: "signature", data: "s" }) }), [true, []]);
  assertEquals(thinks({ turns: turns({ api: "responses", kind: "encrypted", data: "s" }) }), [false, [
    "reasoning_effort",
  ]]);
  assertEquals(thinks({ turns: turns() }), [false, ["reasoning_effort"]]);
  assertEquals(thinks({ turns: [...turns(), turn("assistant", text("x")), turn("user", text("y"))] }), [
    true,
    [],
  ]);
  const own = messages.encodeRequest(
    {
      ...foreign({ turns: turns(), verbatim: { thinking: { type: "enabled", budget_tokens: 1024 } } }),
      format: "messages",
    },
    encoding(),
  );
  assertEquals([own.body.thinking, own.dropped], [undefined, ["thinking"]]);
});

Deno.test("encodeRequest() keeps the rules of sampling and of forced tools beside thinking", () => {
  const tools = [{ kind: "function" as const, name: "f" }];
  const table: [Partial<Prompt>, Loose, string[]][] = [
    [{ temperature: 1.7 }, { temperature: 1 }, ["temperature"]],
    [{ temperature: 0.5, topP: 1 }, { temperature: 0.5 }, []],
    [{ temperature: 0.5, topP: 0.9 }, { temperature: 0.5 }, ["top_p"]],
    [{ topP: 0.9, topK: 5 }, { top_p: 0.9, top_k: 5 }, []],
    [{ temperature: 0.5, reasoning: { effort: "low" } }, {}, ["temperature"]],
    [{ temperature: 1, reasoning: { effort: "low" } }, { temperature: 1 }, []],
    [{ topP: 0.96, topK: 5, reasoning: { effort: "low" } }, { top_p: 0.96 }, ["top_k"]],
    [{ topP: 0.5, reasoning: { effort: "low" } }, {}, ["top_p"]],
    [
      { tools, toolChoice: { type: "required" }, reasoning: { effort: "low" }, temperature: 0 },
      { temperature: 0 },
      ["reasoning_effort"],
    ],
  ];
  for (const [fields, expected, lost] of table) {
    const { body, dropped } = sent(fields);
    const { temperature, top_p, top_k } = body;
    assertEquals(JSON.parse(JSON.stringify({ temperature, top_p, top_k })), expected);
    assertEquals(dropped, lost);
  }
});

Deno.test("encodeRequest() tells every form of tool choice", () => {
  const tools = ["f", "g"].map((name) => ({ kind: "function" as const, name }));
  const choice = (fields: Partial<Prompt>) => sent({ tools, ...fields }).body.tool_choice;
  assertEquals(choice({}), undefined);
  assertEquals(choice({ toolChoice: { type: "required" } }), { type: "any" });
  assertEquals(choice({ toolChoice: { type: "none" } }), { type: "none" });
  assertEquals(choice({ toolChoice: { type: "tool", kind: "function", name: "f" } }), {
    type: "tool",
    name: "f",
  });
  assertEquals(choice({ parallelCalls: false }), { type: "auto", disable_parallel_tool_use: true });
  assertEquals(sent({ toolChoice: { type: "auto" } }).body.tool_choice, undefined);
  const { body } = sent({ tools, toolChoice: { type: "allowed", required: true, names: ["g"] } });
  assertEquals([body.tools, body.tool_choice], [
    [{ name: "g", input_schema: { type: "object", properties: {} } }],
    { type: "any" },
  ]);
});

Deno.test("encodeRequest() declares the tools of a history whose request has none", () => {
  const { body } = sent({
    turns: [turn("user", text("Hi")), turn("assistant", call("a")), turn("user", result("a"))],
  });
  assertEquals([body.tools, body.tool_choice], [
    [{ name: "f", input_schema: { type: "object", properties: {} } }],
    { type: "none" },
  ]);
});

Deno.test("encodeRequest() enforces a schema where it can, else asks for it in words", () => {
  const schema = { type: "object", properties: { a: { type: "integer", minimum: 1 } }, required: ["a"] };
  const output = { type: "schema" as const, schema };
  assertEquals(sent({ output }).body.output_config, {
    format: {
      type: "json_schema",
      schema: {
        type: "object",
        properties: { a: { type: "integer", description: '{"minimum":1}' } },
        required: ["a"],
        additionalProperties: false,
      },
    },
  });
  const asked = sent({ output }, { features: new Set(["tools"]) }).body;
  assertEquals(asked.output_config, undefined);
  assert(String(asked.system).includes(JSON.stringify(schema)));
  const json = sent({
    output: { type: "json" },
    turns: [{ role: "system", content: [text("S")], plain: true }, turn("user", text("Hi"))],
  }).body.system as Loose[];
  assertEquals([json.length, json[0].text], [2, "S"]);
  assert(String(json[1].text).includes("JSON"));
});

Deno.test("encodeRequest() names the fields that it cannot tell, as their caller calls them", () => {
  const fields: Partial<Prompt> = {
    seed: 1,
    frequencyPenalty: 0.5,
    presencePenalty: 0,
    logitBias: { 5: 1 },
    logprobs: true,
    topLogprobs: 3,
    verbosity: "low",
    modalities: ["text", "audio"],
    serviceTier: "flex",
    stop: ["\n", "END"],
    unknown: { future: 1 },
  };
  const chat = sent(fields);
  assertEquals(chat.dropped.toSorted(), [
    "frequency_penalty",
    "future",
    "logit_bias",
    "logprobs",
    "modalities",
    "seed",
    "service_tier",
    "stop",
    "top_logprobs",
    "verbosity",
  ]);
  assertEquals(chat.body.stop_sequences, ["END"]);
  assertEquals(sent({ format: "responses", verbosity: "low" }).dropped, ["text"]);
  assertEquals(sent({ verbatim: { response_format: {} }, user: "u" }).dropped, []);
  assertEquals(sent({ user: "u" }).body.metadata, { user_id: "u" });
});

Deno.test("encodeRequest() carries cache marks over, at most four", () => {
  const cache = {};
  const { body } = sent({
    tools: [{ kind: "function", name: "f", cache: { ttl: "1h" } }],
    turns: [
      { role: "system", content: [{ type: "text", text: "S", cache }] },
      ...[1, 2, 3, 4].map((i) => turn("user", { type: "text", text: `${i}`, cache })),
    ],
  });
  const marks = [body.tools, body.system, (body.messages as Loose[])[0].content].map((list) =>
    (list as Loose[]).map((b) => b.cache_control)
  );
  const mark = { type: "ephemeral" };
  assertEquals(marks, [[{ type: "ephemeral", ttl: "1h" }], [mark], [undefined, undefined, mark, mark]]);
  assertEquals(sent({ cache: { ttl: "5m" } }).body.cache_control, { type: "ephemeral", ttl: "5m" });
});

Deno.test("encodeRequest() makes an object of every tool schema", () => {
  const schema = (parameters: Loose | undefined) =>
    (sent({ tools: [{ kind: "function", name: "f", parameters, strict: true }] }).body.tools as Loose[])[0]
      .input_schema;
  assertEquals(schema(undefined), { type: "object", properties: {} });
  assertEquals(schema({}), { type: "object" });
  assertEquals(
    schema({
      anyOf: [
        { type: "object", properties: { a: { type: "string" } }, required: ["a", "c"] },
        { type: "object", properties: { b: { type: "string" } }, required: ["c"] },
      ],
    }),
    { type: "object", properties: { a: { type: "string" }, b: { type: "string" } }, required: ["c"] },
  );
});

Deno.test("a caller's system messages that only change settings, and fields of a mark on the request, go on", () => {
  const cache_control = { type: "ephemeral", ttl: "1h", scope: "global" };
  const output_config = { effort: "low" };
  const body = request({
    cache_control,
    messages: [
      { role: "system", output_config },
      { role: "user", content: "Hi" },
      { role: "system", content: [], output_config: { effort: "high" } },
      { role: "system", content: "Be brief.", clear_at: "next_user_message" },
    ],
  });
  const sentBody = messages.encodeRequest(decodeRequest(body), encoding()).body;
  assertEquals(sentBody.messages, [
    { role: "system", content: [], output_config },
    { role: "user", content: "Hi" },
    { role: "system", content: [], output_config: { effort: "high" } },
    { role: "system", content: "Be brief.", clear_at: "next_user_message" },
  ]);
  assertEquals(sentBody.cache_control, cache_control);
});
