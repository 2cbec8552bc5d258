/** Reasoning of earlier turns: decode_reasoning.ts and encode_reasoning.ts. */
import { assert, assertEquals } from "@std/assert";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Content } from "../../../src/exchange/prompt.ts";
import type { Proof } from "../../../src/exchange/proof.ts";
import { encode, foreign, request, seal } from "./support.ts";
import { callOf, other, own, text, turns } from "./turns.ts";

// ---- reasoning sent back ----

const assistant = (fields: Loose): Loose => ({ role: "assistant", content: "x", ...fields });
const proofOf = (data: Loose): Proof => ({
  api: "chat_completions",
  kind: "details",
  data: JSON.stringify(data),
});

Deno.test("decodeReasoning() text under one name goes back under it", () => {
  for (const field of ["reasoning", "reasoning_content"]) {
    const message = assistant({ [field]: "because" });
    assertEquals(turns([message])[0].content[0], {
      type: "reasoning",
      sections: ["because"],
      kind: "text",
      proof: proofOf({ field }),
    });
    assertEquals(own([message]), [message]);
  }
});

Deno.test("decodeReasoning() of both names the first goes back", () => {
  const sent = own([assistant({ reasoning: "because", reasoning_content: "because" })]);
  assertEquals(sent, [assistant({ reasoning: "because" })]);
});

Deno.test("decodeReasoning() raw details go back as they came, with the text as the pipeline left it", () => {
  const details = [
    { type: "reasoning.text", text: "because", signature: "S", format: "anthropic-claude-v1", index: 0 },
    { type: "reasoning.encrypted", data: "E", format: "unknown", index: 0 },
  ];
  const message = assistant({ reasoning: "because", reasoning_details: details });
  assertEquals(own([message]), [message]);
  const prompt = request({ messages: [message] });
  const [content] = prompt.turns[0].content;
  assert(content.type === "reasoning");
  if (content.type === "reasoning") content.sections = ["***"];
  const sent = (encode(prompt).body.messages as Loose[])[0];
  assert(!JSON.stringify(sent).includes("because"));
  assertEquals((sent.reasoning_details as Loose[])[0].text, "***");
});

Deno.test("decodeReasoning() sealed proofs come back with their texts, whole or in pieces", () => {
  const proof: Proof = { api: "messages", kind: "signature", data: "SIG" };
  const token = seal(proof);
  const details = [
    { type: "reasoning.text", text: "be", index: 0 },
    { type: "reasoning.text", text: "cause", index: 0 },
    { type: "reasoning.text", text: "", signature: token, format: "anthropic-claude-v1", index: 0 },
  ];
  for (const list of [details, [{ ...details[2], text: "because" }]]) {
    const [turn] = turns([
      assistant({ reasoning_content: "because", reasoning: "because", reasoning_details: list }),
    ]);
    assertEquals(turn.content, [
      { type: "reasoning", sections: ["because"], kind: "text", proof },
      { type: "text", text: "x" },
    ]);
  }
});

Deno.test("decodeReasoning() a sealed summary, and a proof alone", () => {
  const proof: Proof = { api: "responses", kind: "encrypted", data: "ENC", id: "rs_1" };
  const encrypted = {
    type: "reasoning.encrypted",
    data: seal(proof),
    id: "rs_1",
    format: "openai-responses-v1",
  };
  const [turn] = turns([assistant({
    reasoning: "sum",
    reasoning_details: [
      { type: "reasoning.summary", summary: "sum", format: "openai-responses-v1", index: 0 },
      { ...encrypted, index: 0 },
      { ...encrypted, index: 1 },
    ],
  })]);
  assertEquals(turn.content.slice(0, 2), [
    { type: "reasoning", sections: ["sum"], kind: "summary", proof },
    { type: "reasoning", sections: [], kind: "text", proof },
  ]);
});

Deno.test("decodeReasoning() a proof that names a call moves onto it", () => {
  const proof: Proof = { api: "gemini", kind: "thought", data: "T", call: "a" };
  const [turn] = turns([{
    role: "assistant",
    content: null,
    reasoning_details: [{ type: "reasoning.encrypted", data: seal(proof), id: "a", index: 0 }],
    tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
  }]);
  assertEquals(turn.content, [callOf("a", { proof })]);
});

Deno.test("decodeReasoning() Google's signatures go back where they were", () => {
  const signed = { google: { thought_signature: "S" } };
  const message = {
    role: "assistant",
    content: "x",
    extra_content: signed,
    tool_calls: [{
      id: "a",
      type: "function",
      function: { name: "f", arguments: "{}" },
      extra_content: signed,
    }],
  };
  assertEquals(own([message]), [message]);
});

Deno.test("decodeReasoning() thinking parts of content go back as such", () => {
  const message = {
    role: "assistant",
    content: [
      { type: "thinking", thinking: [{ type: "text", text: "because" }], closed: true },
      { type: "text", text: "x" },
    ],
  };
  assertEquals(own([message]), [message]);
});

Deno.test("encodeReasoning() a proof of this API comes back from any caller in its own field", () => {
  for (const field of ["reasoning", "reasoning_content"]) {
    const [sent] = other([{
      role: "assistant",
      content: [
        { type: "reasoning", sections: ["because"], kind: "text", proof: proofOf({ field }) },
        text("x"),
      ],
    }]);
    assertEquals(sent, assistant({ [field]: "because" }));
  }
});

Deno.test("encodeReasoning() of another origin goes out only with a call, where the field is known to be taken", () => {
  const proof: Proof = { api: "messages", kind: "signature", data: "SIG" };
  const thought: Content = { type: "reasoning", sections: ["a", "b"], kind: "text", proof };
  const sent = (content: Content[], model = "one") =>
    (encode(foreign({ turns: [{ role: "assistant", content }] }), { model }).body.messages as Loose[])[0];
  assertEquals(sent([thought, callOf("a")], "deepseek-reasoner").reasoning_content, "a\n\nb");
  assertEquals(sent([thought, text("x")], "deepseek-reasoner"), assistant({}));
  assertEquals(sent([thought, callOf("a")]).reasoning_content, undefined);
  const own: Content = { ...thought, sections: ["c"], proof: proofOf({ field: "reasoning_content" }) };
  assertEquals(sent([own, thought, callOf("a")]).reasoning_content, "ca\n\nb");
});
