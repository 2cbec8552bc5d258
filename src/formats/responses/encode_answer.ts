/**
 * Whole answers of the responses format, both ways. A provider's answer goes through the same reader as its stream, and
 * an answer for a caller through the same writer, so that both modes say the same.
 */
import type { Answer, Block } from "../../exchange/answer.ts";
import type { Loose } from "../../exchange/json.ts";
import type { EncodeAnswer } from "../format.ts";
import { ResponseWriter } from "./encode_blocks.ts";

export function encodeAnswer(answer: Answer, context: EncodeAnswer): Loose {
  const writer = new ResponseWriter(context, null);
  const choice = answer.choices[0];
  for (const [i, block] of (choice?.blocks ?? []).entries()) writeBlock(writer, i, block);
  if (answer.usage) writer.write({ type: "usage", usage: answer.usage, searches: answer.searches });
  if (choice) {
    const { reason, sequence, explanation, extra } = choice;
    writer.write({ type: "finish", choice: 0, reason, sequence, explanation, extra });
  }
  return writer.finish();
}

/** The parts that make a block, written at once. */
function writeBlock(writer: ResponseWriter, block: number, b: Block): void {
  const choice = 0;
  switch (b.type) {
    case "text":
      writer.write({ type: "text-start", block, choice, refusal: b.refusal, extra: b.extra });
      writer.write({ type: "text-delta", block, text: b.text, logprobs: b.logprobs });
      for (const citation of b.citations) writer.write({ type: "citation", block, citation });
      return writer.write({ type: "text-end", block, proof: b.proof });
    case "reasoning":
      writer.write({ type: "reasoning-start", block, choice, kind: b.kind, extra: b.extra });
      for (const [section, text] of b.sections.entries()) {
        writer.write({ type: "reasoning-delta", block, section, text });
      }
      return writer.write({ type: "reasoning-end", block, proof: b.proof });
    case "call": {
      const { id, name, namespace, kind, proof, extra } = b;
      writer.write({ type: "call-start", block, choice, id, name, namespace, kind, proof, extra });
      if (b.arguments !== "") writer.write({ type: "call-delta", block, text: b.arguments });
      return writer.write({ type: "call-end", block });
    }
    case "media":
      return writer.write({ ...b, block, choice });
    case "search":
      writer.write({ type: "search-start", block, choice, id: b.id, query: b.query });
      return writer.write({ type: "search-end", block, hits: b.hits, failed: b.failed });
    case "opaque":
      return writer.write({ ...b, block, choice });
  }
}
