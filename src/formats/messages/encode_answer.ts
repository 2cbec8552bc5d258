/** Encodes a complete answer for a caller, equal to the combination of a stream's events. */
import type { Answer, Block } from "../../exchange/answer.ts";
import { argumentsObject, type Loose } from "../../exchange/json.ts";
import type { EncodeAnswer } from "../format.ts";
import {
  callBlock,
  carried,
  dlpDetails,
  freeformInput,
  messageId,
  proofBlock,
  searchBlock,
  searchResultBlock,
  takesLastBlock,
  textBlock,
  thinkingBlock,
  wholeBlock,
} from "./encode_blocks.ts";
import { encodeCitation } from "./citations.ts";
import { encodeFinish } from "./finish.ts";
import { encodeMedia } from "./media.ts";
import { encodeUsage, saidOfRequest } from "./usage.ts";

/** The format has one choice: the first is used. */
export function encodeAnswer(answer: Answer, context: EncodeAnswer): Loose {
  const choice = answer.choices[0] ?? { index: 0, blocks: [], reason: "stop" };
  const { delta, event } = encodeFinish(choice);
  return {
    id: messageId(context.id),
    type: "message",
    role: "assistant",
    model: context.model(),
    content: inOrder(choice.blocks.flatMap((block) => encodeBlock(block, context)), context),
    ...saidOfRequest(answer.extra),
    ...delta,
    ...event,
    usage: encodeUsage(answer.usage, answer.searches, answer.usageExtra ?? answer.extra),
    ...dlpDetails(context.dlp),
  };
}

/**
 * If the client takes the last block for the answer, that must be the text, so proofs after it are moved
 * before it.
 */
function inOrder(blocks: Loose[], { prompt }: EncodeAnswer): Loose[] {
  const [text, proof] = blocks.slice(-2);
  if (text?.type !== "text" || proof?.type !== "redacted_thinking" || !takesLastBlock(prompt)) return blocks;
  return [...blocks.slice(0, -2), proof, text];
}

function encodeBlock(block: Block, { seal }: EncodeAnswer): Loose[] {
  switch (block.type) {
    case "text": {
      const blocks: Loose[] = [];
      const citations = block.citations.map(encodeCitation).filter((c) => c !== undefined);
      if (block.text !== "" || citations.length > 0) {
        const text = textBlock(block.text, block.extra);
        if (citations.length > 0) text.citations = citations;
        blocks.push(text);
      }
      if (block.proof) blocks.push(proofBlock(block.proof, seal));
      return blocks;
    }
    case "reasoning": {
      const text = block.sections.filter((section) => section !== "").join("\n\n");
      if (text !== "") {
        return [thinkingBlock(text, block.proof ? carried(block.proof, seal) : "", block.extra)];
      }
      return block.proof ? [proofBlock(block.proof, seal, block.extra)] : [];
    }
    case "call": {
      const input = block.kind === "custom"
        ? freeformInput(block.arguments)
        : argumentsObject(block.arguments);
      const call = callBlock(block, input);
      return block.proof ? [proofBlock(block.proof, seal), call] : [call];
    }
    case "media": {
      const blocks = [textBlock(encodeMedia(block.mediaType, block.data))];
      if (block.transcript) blocks.unshift(textBlock(block.transcript));
      if (block.proof) blocks.push(proofBlock(block.proof, seal));
      return blocks;
    }
    case "search":
      return [
        searchBlock(block, { query: block.query }),
        searchResultBlock(block.id, block.hits, block.failed, block.resultExtra),
      ];
    case "opaque":
      return block.format === "messages" ? [wholeBlock(block.value)] : [];
  }
}
