/** Encodes a complete answer for a caller, with the same encoder as a stream. */
import { blockParts } from "../../exchange/block_parts.ts";
import type { Answer } from "../../exchange/answer.ts";
import type { Loose } from "../../exchange/json.ts";
import type { EncodeAnswer } from "../format.ts";
import { ResponseWriter } from "./encode_blocks.ts";

export function encodeAnswer(answer: Answer, context: EncodeAnswer): Loose {
  const writer = new ResponseWriter(context, null);
  const choice = answer.choices[0];
  writer.write({ type: "start", extra: answer.extra });
  for (const [i, block] of (choice?.blocks ?? []).entries()) {
    for (const part of blockParts(block, i, 0)) writer.write(part);
  }
  const { usage, searches, service, usageExtra } = answer;
  if (usage) writer.write({ type: "usage", usage, searches, service, extra: usageExtra });
  if (choice) {
    const { reason, sequence, explanation, extra } = choice;
    writer.write({ type: "finish", choice: 0, reason, sequence, explanation, extra });
  }
  return writer.finish();
}
