/** Chunks of a stream in short, and what is said in them. */
import { collect } from "../../../src/exchange/answer.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import type { Part } from "../../../src/exchange/part.ts";
import { assertLegal } from "../gemini/legal_parts.ts";
import { delta } from "./support.ts";

/** What the parts say, in a form that reads well in a failing test. */
export function said(parts: readonly Part[]) {
  const answer = collect(parts);
  assertLegal(parts);
  return answer.choices.map((choice) => ({
    blocks: choice.blocks.map((block) => {
      switch (block.type) {
        case "text":
          return `${block.refusal ? "refusal" : "text"}: ${block.text}`;
        case "reasoning":
          return `${block.kind}: ${block.sections.join(" | ")}`;
        case "call":
          return `${block.id} ${block.name}(${block.arguments})`;
        default:
          return block.type;
      }
    }),
    reason: choice.reason,
  }));
}

export const STOP = delta({}, { finish_reason: "stop" });
export const CALLED = delta({}, { finish_reason: "tool_calls" });
export const call = (fields: Loose) => delta({ tool_calls: [fields] });
