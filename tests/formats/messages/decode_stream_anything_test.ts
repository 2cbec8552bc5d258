/** Whatever a provider sends, the decoder keeps the contract of parts, and throws nothing but a Failure. */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { Failure } from "../../../src/exchange/failure.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { messages } from "../../../src/formats/messages/mod.ts";
import { started, stopped } from "./frames.ts";
import { withoutLive } from "../../support/live.ts";
import { decodeFrames } from "./support.ts";

const anything = fc.jsonValue({ maxDepth: 2 });
const blockLike = fc.record({
  type: fc.constantFrom(
    "text",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "server_tool_use",
    "web_search_tool_result",
    "x",
  ),
  text: anything,
  thinking: anything,
  signature: anything,
  data: anything,
  id: anything,
  name: fc.oneof(fc.constant("web_search"), anything),
  input: anything,
  citations: anything,
  content: anything,
  tool_use_id: anything,
}, { requiredKeys: ["type"] });
const deltaLike = fc.record({
  type: fc.constantFrom(
    "text_delta",
    "input_json_delta",
    "thinking_delta",
    "signature_delta",
    "citations_delta",
    "compaction_delta",
    "x",
  ),
  text: anything,
  partial_json: anything,
  thinking: anything,
  signature: anything,
  citation: anything,
  content: anything,
  stop_reason: anything,
  stop_details: anything,
}, { requiredKeys: ["type"] });
const frameLike = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constantFrom(
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "ping",
      ),
      index: fc.oneof(fc.nat(2), anything),
      message: anything,
      content_block: fc.oneof(blockLike, anything),
      delta: fc.oneof(deltaLike, anything),
      usage: anything,
      context_management: anything,
    }, { requiredKeys: ["type"] }).map((v) => ({ event: "", data: JSON.stringify(v) })),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      event: fc.string(),
      data: fc.oneof(fc.string(), anything.map((v) => JSON.stringify(v))),
    }),
  },
);

Deno.test("decodeStream() throws nothing but a Failure, and keeps the contract of parts, whatever comes", () => {
  fc.assert(
    fc.property(fc.array(frameLike, { maxLength: 20 }), (frames) => {
      let parts: Part[];
      try {
        parts = decodeFrames([started(), ...frames, stopped]);
      } catch (thrown) {
        if (thrown instanceof Failure) return;
        throw thrown;
      }
      const open = new Set<number>();
      const seen = new Set<number>();
      for (const part of withoutLive(parts)) {
        if (!("block" in part)) continue;
        if ("choice" in part) {
          assertEquals(seen.has(part.block), false);
          seen.add(part.block);
          if (part.type !== "opaque") open.add(part.block);
        } else assertEquals(open.has(part.block), true);
        if (part.type.endsWith("-end")) open.delete(part.block);
      }
      assertEquals(open.size, 0);
      assertEquals(parts.filter((p) => p.type === "start" || p.type === "finish").length, 2);
    }),
    { numRuns: 1000 },
  );
});

Deno.test("decodeAnswer() throws nothing but a Failure on anything", () => {
  fc.assert(
    fc.property(
      fc.oneof(anything, fc.record({ content: fc.array(fc.oneof(blockLike, anything)), usage: anything })),
      (body) => {
        try {
          messages.decodeAnswer(body);
        } catch (thrown) {
          if (!(thrown instanceof Failure)) throw thrown;
        }
      },
    ),
    { numRuns: 500 },
  );
});
