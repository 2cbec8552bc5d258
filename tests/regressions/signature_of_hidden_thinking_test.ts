/**
 * Thinking whose text is hidden has its signature in a delta, as the API sends it. Claude Code 2.1 empties a signature
 * that the block begins with, so the next turn went out without it.
 */
import { assertEquals } from "@std/assert";
import { encodeParts, framesOf } from "../formats/messages/support.ts";

Deno.test("messages.encodeStream() sends the signature of hidden thinking in a delta", () => {
  const text = encodeParts([
    { type: "start", model: "m" },
    { type: "reasoning-start", block: 0, choice: 0, kind: "text" },
    { type: "reasoning-end", block: 0, proof: { api: "messages", kind: "signature", data: "S" } },
    { type: "finish", choice: 0, reason: "stop" },
  ]);
  assertEquals(framesOf(text).map(({ data }) => JSON.parse(data)).filter((event) => "index" in event), [
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "thinking", thinking: "", signature: "" },
    },
    { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "S" } },
    { type: "content_block_stop", index: 0 },
  ]);
});
