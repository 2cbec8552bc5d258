/**
 * A sealed proof that a caller changed, or that another gateway made, was taken for a provider's own signature and sent to
 * it. The words beside it stay, the proof goes nowhere.
 */
import { assertEquals } from "@std/assert";
import type { Content } from "../../src/exchange/prompt.ts";
import { CALLER_FORMATS } from "../../src/formats/mod.ts";
import { sealer } from "../../src/pipeline/seal.ts";

const { seal, unseal } = sealer(new Uint8Array(32).fill(7)).of("default");
const good = seal({ api: "messages", kind: "signature", data: "SIG" });
const forged = good.slice(0, -2) + (good.endsWith("AA") ? "BB" : "AA");

function reasoning(format: keyof typeof CALLER_FORMATS, body: Record<string, unknown>): Content[] {
  const prompt = CALLER_FORMATS[format].decodeRequest({ model: "a/b", ...body }, {
    unseal,
    headers: () => ({}),
  });
  return prompt.turns.flatMap((turn) => turn.content).filter((c) => c.type === "reasoning");
}

const proofs = (content: Content[]) => content.map((c) => c.type === "reasoning" && c.proof?.data);

for (const [token, expected] of [[good, ["SIG"]], [forged, [undefined]]] as const) {
  const what = token === good ? "a sealed proof" : "a changed one";
  Deno.test(`messages.decodeRequest() ${what} as a signature`, () => {
    const content = [{ type: "thinking", thinking: "hm", signature: token }, { type: "text", text: "x" }];
    const messages = [{ role: "assistant", content }];
    assertEquals(proofs(reasoning("messages", { max_tokens: 9, messages })), expected);
  });
  Deno.test(`responses.decodeRequest() ${what} as encrypted content`, () => {
    const item = { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }] };
    const input = [{ ...item, encrypted_content: token }, { role: "assistant", content: "x" }];
    assertEquals(proofs(reasoning("responses", { input })), expected);
  });
}

Deno.test("chat_completions.decodeRequest() a changed sealed proof in reasoning_details", () => {
  const details = [{ type: "reasoning.text", text: "hm", signature: forged, index: 0 }, {
    type: "reasoning.encrypted",
    data: forged,
    index: 1,
  }];
  const messages = [{ role: "assistant", content: "x", reasoning: "hm", reasoning_details: details }];
  const found = reasoning("chat_completions", { messages });
  assertEquals(JSON.stringify(found).includes(forged), false);
  assertEquals(found.map((c) => c.type === "reasoning" && c.sections), [["hm"]]);
});

Deno.test("messages.decodeRequest() a changed sealed proof as redacted thinking", () => {
  const content = [{ type: "redacted_thinking", data: forged }, { type: "text", text: "x" }];
  assertEquals(reasoning("messages", { max_tokens: 9, messages: [{ role: "assistant", content }] }), []);
});
