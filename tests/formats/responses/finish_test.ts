import { assertEquals } from "@std/assert";
import type { FinishReason } from "../../../src/exchange/part.ts";
import { responses } from "../../../src/formats/responses/mod.ts";
import { answering, answerOf } from "./support.ts";

const ENDS: Partial<Record<FinishReason, [status: string, reason: string | undefined]>> = {
  stop: ["completed", undefined],
  "tool-calls": ["completed", undefined],
  refusal: ["completed", undefined],
  length: ["incomplete", "max_output_tokens"],
  // A suspended turn is not over, and the format has no word for that.
  pause: ["incomplete", "max_output_tokens"],
  "content-filter": ["incomplete", "content_filter"],
};

Deno.test("responses.encodeAnswer() says of each end whether and why it is incomplete", () => {
  for (const [reason, [status, why]] of Object.entries(ENDS)) {
    const finish = { type: "finish", choice: 0, reason: reason as FinishReason } as const;
    const body = responses.encodeAnswer(answerOf([{ type: "start" }, finish]), answering());
    assertEquals([body.status, body.incomplete_details], [
      status,
      why === undefined ? null : { reason: why },
    ], reason);
  }
});
