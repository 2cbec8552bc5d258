/** Databricks has Claude's reasoning as parts of `content`, with a signature that it needs back beside a tool call. */
import { assertEquals } from "@std/assert";
import { collect } from "../../../src/exchange/answer.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import type { Proof } from "../../../src/exchange/proof.ts";
import { chatCompletions } from "../../../src/formats/chat_completions/mod.ts";
import { CALLER_FORMATS } from "../../../src/formats/mod.ts";
import { decodeChunks, delta, encode } from "./support.ts";

type Caller = "chat_completions" | "messages" | "responses";

const seal = (proof: Proof) => `svc1.${btoa(JSON.stringify(proof))}`;
const unseal = (text: string) => text.startsWith("svc1.") ? JSON.parse(atob(text.slice(5))) : null;

const FIRST: Readonly<Record<Caller, Loose>> = {
  chat_completions: { messages: [{ role: "user", content: "Hi" }] },
  messages: { max_tokens: 10, messages: [{ role: "user", content: "Hi" }] },
  responses: { input: [{ role: "user", content: "Hi" }] },
};
const RESULT: Readonly<Record<Caller, Loose>> = {
  chat_completions: { role: "tool", tool_call_id: "c1", content: "17" },
  messages: { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "17" }] },
  responses: { type: "function_call_output", call_id: "c1", output: "17" },
};

function prompt(caller: Caller, more: Loose) {
  return CALLER_FORMATS[caller].decodeRequest({ model: "acme/one", ...more }, {
    unseal,
    headers: () => ({}),
  });
}

/** The assistant's message that the provider gets with the caller's next request. */
function next(caller: Caller, parts: Part[]): Loose {
  const context = { id: "gen_1", created: 1, model: () => "m", prompt: prompt(caller, FIRST[caller]), seal };
  const answer = JSON.parse(JSON.stringify(CALLER_FORMATS[caller].encodeAnswer(collect(parts), context)));
  const [first] = (FIRST[caller].messages ?? FIRST[caller].input) as Loose[];
  const turns = caller === "chat_completions"
    ? [answer.choices[0].message]
    : caller === "messages"
    ? [{ role: "assistant", content: answer.content }]
    : answer.output;
  const all = [first, ...turns, RESULT[caller]];
  const body = { ...FIRST[caller], [caller === "responses" ? "input" : "messages"]: all };
  return (encode(prompt(caller, body)).body.messages as Loose[]).find(({ role }) => role === "assistant")!;
}

const SUMMARY = [
  { type: "summary_text", text: "Let me look.", signature: "SIG1" },
  { type: "summary_encrypted_text", data: "ENC" },
];
const TEXT = { type: "text", text: "Looking." };
const CALL = { id: "c1", type: "function", function: { name: "look", arguments: "{}" } };

const whole = chatCompletions.decodeAnswer({
  id: "c",
  model: "m",
  choices: [{
    index: 0,
    message: {
      role: "assistant",
      content: [{ type: "reasoning", summary: SUMMARY }, TEXT],
      tool_calls: [CALL],
    },
    finish_reason: "tool_calls",
  }],
});
const piece = (fields: Loose) => delta({ content: [{ type: "reasoning", summary: [fields] }] });
const streamed = decodeChunks([
  piece({ type: "summary_text", text: "Let me ", signature: "" }),
  piece({ type: "summary_text", text: "look.", signature: "" }),
  piece({ type: "summary_text", text: "", signature: "SIG1" }),
  piece(SUMMARY[1]),
  delta({ content: [TEXT] }),
  delta({ tool_calls: [{ index: 0, ...CALL }] }),
  { id: "c", model: "m", choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
  "[DONE]",
]);

for (const caller of ["chat_completions", "messages", "responses"] as const) {
  for (const [mode, parts] of Object.entries({ whole, streamed })) {
    Deno.test(`the signature of reasoning in content comes back through ${caller}: ${mode}`, () => {
      const { content, tool_calls } = next(caller, parts);
      assertEquals(content, [{ type: "reasoning", summary: SUMMARY }, TEXT]);
      assertEquals((tool_calls as Loose[]).length, 1);
    });
  }
}
