/** Converts a complete block to parts: the inverse of `answer.ts`. */
import type { Block } from "./answer.ts";
import type { Part } from "./part.ts";

/**
 * The parts of one block in order, with its text or arguments in one delta.
 *
 * @param number number of the block within the answer
 * @param choice index of the choice that the block belongs to
 */
export function blockParts(b: Block, number: number, choice: number): Part[] {
  const block = number;
  switch (b.type) {
    case "text": {
      const { text, logprobs } = b;
      return [
        { type: "text-start", block, choice, refusal: b.refusal, extra: b.extra },
        ...(text !== "" || logprobs ? [{ type: "text-delta", block, text, logprobs } as const] : []),
        ...b.citations.map((citation) => ({ type: "citation", block, citation } as const)),
        { type: "text-end", block, proof: b.proof },
      ];
    }
    case "reasoning":
      return [
        { type: "reasoning-start", block, choice, kind: b.kind, extra: b.extra },
        ...b.sections.map((text, section) => ({ type: "reasoning-delta", block, section, text } as const)),
        { type: "reasoning-end", block, proof: b.proof },
      ];
    case "call": {
      const { id, name, namespace, kind, typed, proof, extra } = b;
      return [
        { type: "call-start", block, choice, id, name, namespace, kind, typed, proof, extra },
        ...(b.arguments !== "" ? [{ type: "call-delta", block, text: b.arguments } as const] : []),
        { type: "call-end", block },
      ];
    }
    case "search":
      return [
        { type: "search-start", block, choice, id: b.id, query: b.query, extra: b.extra },
        { type: "search-end", block, hits: b.hits, failed: b.failed, extra: b.resultExtra },
      ];
    case "media":
    case "opaque":
      return [{ ...b, block, choice }];
  }
}
