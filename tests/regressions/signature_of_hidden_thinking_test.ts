/**
 * Thinking whose text is hidden has its signature in a delta, as the API sends it. Claude Code 2.1 empties the signature
 * that a block begins with, and gives no redacted thinking back: either way the next turn went out without the proof.
 */
import { assertEquals } from "@std/assert";
import type { Part } from "../../src/exchange/part.ts";
import type { Proof } from "../../src/exchange/proof.ts";
import { encodeParts, framesOf, seal } from "../formats/messages/support.ts";

/** Types, blocks and deltas of the frames that belong to blocks. */
function blockFrames(...parts: Part[]): unknown[] {
  const text = encodeParts([{ type: "start", model: "m" }, ...parts, {
    type: "finish",
    choice: 0,
    reason: "stop",
  }]);
  return framesOf(text).map(({ data }) => JSON.parse(data)).filter((event) => "index" in event)
    .map(({ content_block, delta, type }) => content_block ?? delta ?? type);
}

const hidden = (signature: string) => [
  { type: "thinking", thinking: "", signature: "" },
  { type: "signature_delta", signature },
  "content_block_stop",
];

Deno.test("messages.encodeStream() sends the signature of hidden thinking in a delta", () => {
  assertEquals(
    blockFrames(
      { type: "reasoning-start", block: 0, choice: 0, kind: "text" },
      { type: "reasoning-end", block: 0, proof: { api: "messages", kind: "signature", data: "S" } },
    ),
    hidden("S"),
  );
});

Deno.test("messages.encodeStream() sends another API's proof of a call as hidden thinking before it", () => {
  const proof: Proof = { api: "gemini", kind: "thought", data: "T", call: "x" };
  assertEquals(
    blockFrames(
      { type: "call-start", block: 0, choice: 0, id: "x", name: "f", kind: "function", proof },
      { type: "call-end", block: 0 },
    ).slice(0, 3),
    hidden(seal(proof)),
  );
});
