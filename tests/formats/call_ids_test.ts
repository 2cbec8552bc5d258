/** Calls that share an id, within a turn and over turns: every API gets them apart, each with its own result. */
import { assertEquals } from "@std/assert";
import type { Loose } from "../../src/exchange/json.ts";
import { PROVIDER_FORMATS } from "../../src/formats/mod.ts";
import { checkModelRequest, TARGETS } from "./check_model_request.ts";
import { type Caller, CALLERS, convert } from "./conversions.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** Calls of one row of the assistant, `id:n`, and results, `id=n`; `|` ends a row, `.` is a word of the user. */
type Script = string;

function requestOf(caller: Caller, script: Script): Loose {
  const rows = script.split(" ");
  const turns: Any[] = [];
  const text = (said: string) => ({ role: "user", content: said });
  turns.push(text("begin"));
  for (const row of rows) {
    if (row === ".") turns.push(text("go on"));
    else if (row.includes(":")) turns.push(calls(caller, row.split(",").map((c) => c.split(":"))));
    else turns.push(results(caller, row.split(",").map((c) => c.split("="))));
  }
  const parameters = { type: "object", properties: {}, required: [], additionalProperties: false };
  switch (caller) {
    case "chat_completions":
      return { messages: turns.flat(), tools: [{ type: "function", function: { name: "f", parameters } }] };
    case "responses":
      return {
        input: turns.flat(),
        tools: [{ type: "function", name: "f", parameters, strict: false }],
        store: false,
        stream: false,
      };
    case "messages":
      return { max_tokens: 9, messages: turns.flat(), tools: [{ name: "f", input_schema: parameters }] };
  }
}

function calls(caller: Caller, list: string[][]): Any {
  switch (caller) {
    case "chat_completions":
      return {
        role: "assistant",
        content: null,
        tool_calls: list.map(([id, n]) => ({
          id,
          type: "function",
          function: { name: "f", arguments: `{"n":${n}}` },
        })),
      };
    case "responses":
      return list.map(([call_id, n]) => ({
        type: "function_call",
        call_id,
        name: "f",
        arguments: `{"n":${n}}`,
      }));
    case "messages":
      return {
        role: "assistant",
        content: list.map(([id, n]) => ({ type: "tool_use", id, name: "f", input: { n: Number(n) } })),
      };
  }
}

function results(caller: Caller, list: string[][]): Any {
  switch (caller) {
    case "chat_completions":
      return list.map(([tool_call_id, n]) => ({ role: "tool", tool_call_id, content: `r${n}` }));
    case "responses":
      return list.map(([call_id, n]) => ({ type: "function_call_output", call_id, output: `r${n}` }));
    case "messages":
      return {
        role: "user",
        content: list.map(([tool_use_id, n]) => ({ type: "tool_result", tool_use_id, content: `r${n}` })),
      };
  }
}

/** Which result each call has at the provider, `n=m`; ids that come again count by their order. */
function pairsOf(body: Any): string[] {
  const found: string[] = [];
  const open = new Map<string, number[]>();
  const call = (id: string, input: Any) => {
    const { n } = typeof input === "string" ? JSON.parse(input) : input;
    open.set(id, [...open.get(id) ?? [], n]);
  };
  const result = (id: string, text: Any) => {
    const n = open.get(id)?.shift();
    const said = /r\d+/.exec(JSON.stringify(text))?.[0].slice(1) ?? "none";
    found.push(`${n}=${said}`);
  };
  for (const m of body.messages ?? body.input ?? body.contents) {
    for (const c of m.tool_calls ?? []) call(c.id, c.function.arguments);
    if (m.role === "tool") result(m.tool_call_id, m.content);
    if (m.type === "function_call") call(m.call_id, m.arguments);
    if (m.type === "function_call_output") result(m.call_id, m.output);
    for (const b of Array.isArray(m.content) ? m.content : m.parts ?? []) {
      if (b.toolUse) call(b.toolUse.toolUseId, b.toolUse.input);
      if (b.toolResult) result(b.toolResult.toolUseId, b.toolResult.content);
      if (b.type === "tool_use") call(b.id, b.input);
      if (b.type === "tool_result") result(b.tool_use_id, b.content);
      if (b.functionCall) call(b.functionCall.id, b.functionCall.args);
      if (b.functionResponse) result(b.functionResponse.id, b.functionResponse.response);
    }
  }
  return found.sort();
}

const LONG = "x".repeat(70);

const SCRIPTS: readonly (readonly [Script, readonly string[]])[] = [
  ["c:1,c:2 c=1,c=2", ["1=1", "2=2"]],
  ["c:1,c:2,c:3 c=1,c=2,c=3 . c:4,c:5 c=4,c=5", ["1=1", "2=2", "3=3", "4=4", "5=5"]],
  ["c:1 c=1 c:2 c=2 . c:3,d:4 d=4,c=3", ["1=1", "2=2", "3=3", "4=4"]],
  // A name that the second of two calls would get is a call's own.
  ["c:1,c:2,c_2:3 c=1,c_2=3,c=2", ["1=1", "2=2", "3=3"]],
  [`${LONG}a:1,${LONG}b:2,${LONG}a:3 ${LONG}b=2,${LONG}a=1,${LONG}a=3`, ["1=1", "2=2", "3=3"]],
  // Ids that are one where only letters and digits are taken.
  ["a.b:1,a_b:2,a/b:3 a/b=3,a_b=2,a.b=1", ["1=1", "2=2", "3=3"]],
];

for (const caller of CALLERS) {
  Deno.test(`${caller}: calls of one id reach every model apart, each with its result`, () => {
    for (const [script, expected] of SCRIPTS) {
      for (const [target, model] of TARGETS) {
        const { body } = convert(caller, requestOf(caller, script), target, model);
        assertEquals(pairsOf(body), expected, `${script} at ${target}`);
        if (target !== caller) checkModelRequest(target, model, body);
      }
    }
  });

  Deno.test(`${caller}: a call that was given up leaves the result to a later call of its id`, () => {
    for (const [target, model] of TARGETS) {
      if (target === caller) continue;
      const { body } = convert(caller, requestOf(caller, "c:1 . c:2 c=2 ."), target, model);
      checkModelRequest(target, model, body);
      assertEquals(pairsOf(body).includes("2=2"), true, `${target} ${JSON.stringify(body)}`);
    }
  });

  Deno.test(`${caller}: ids that its own API takes stay as they are`, () => {
    const request = requestOf(caller, "c:1 c=1 . d:2,e:3 e=3,d=2");
    const { body } = convert(caller, request, caller, "vendor-model");
    const field = caller === "responses" ? "input" : "messages";
    assertEquals(body[field], request[field]);
  });
}

const ANSWERS: Readonly<Record<keyof typeof PROVIDER_FORMATS, Loose>> = {
  chat_completions: {
    id: "chatcmpl-1",
    choices: [{
      index: 0,
      finish_reason: "tool_calls",
      message: {
        role: "assistant",
        content: null,
        tool_calls: [1, 2].map((n) => ({
          id: "c",
          type: "function",
          function: { name: "f", arguments: `{"n":${n}}` },
        })),
      },
    }],
  },
  messages: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    stop_reason: "tool_use",
    content: [1, 2].map((n) => ({ type: "tool_use", id: "c", name: "f", input: { n } })),
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  responses: {
    id: "resp_1",
    object: "response",
    status: "completed",
    output: [1, 2].map((n) => ({
      id: `fc_${n}`,
      type: "function_call",
      call_id: "c",
      name: "f",
      arguments: `{"n":${n}}`,
      status: "completed",
    })),
  },
  converse: {
    output: {
      message: {
        role: "assistant",
        content: [1, 2].map((n) => ({ toolUse: { toolUseId: "c", name: "f", input: { n } } })),
      },
    },
    stopReason: "tool_use",
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  },
  gemini: {
    candidates: [{
      finishReason: "STOP",
      content: {
        role: "model",
        parts: [1, 2].map((n) => ({ functionCall: { id: "c", name: "f", args: { n } } })),
      },
    }],
  },
};

Deno.test("calls of one id in an answer reach callers under ids of their own", () => {
  for (const [format, answer] of Object.entries(ANSWERS)) {
    const parts = PROVIDER_FORMATS[format as keyof typeof ANSWERS].decodeAnswer(answer);
    const ids = parts.flatMap((part) => part.type === "call-start" ? [part.id] : []);
    assertEquals([ids[0], new Set(ids).size], ["c", 2], format);
    const texts = parts.flatMap((part) => part.type === "call-delta" ? [part.text] : []);
    assertEquals(texts, ['{"n":1}', '{"n":2}'], format);
  }
});
