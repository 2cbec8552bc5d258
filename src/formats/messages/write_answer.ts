/** Writes the JSON of text answers directly, with the same result as {@link encodeAnswer}. */
import type { Answer } from "../../exchange/answer.ts";
import { extraOf } from "../../exchange/prompt.ts";
import { normalizeUsage } from "../../exchange/usage.ts";
import type { EncodeAnswer } from "../format.ts";
import { repeatedLiteral } from "../wire/write_answer.ts";
import { messageId } from "./encode_blocks.ts";

/** Null: not a plain text answer. */
export function writeAnswer(answer: Answer, context: EncodeAnswer): string | null {
  const { choices, usage, usageExtra, searches, extra } = answer;
  if (choices.length !== 1 || context.dlp !== undefined || usage === null || searches) return null;
  if (extraOf(usageExtra ?? extra, "messages") !== undefined) return null;
  const { blocks, reason, sequence, explanation } = choices[0];
  if (blocks.length !== 1 || sequence !== undefined || explanation !== undefined) return null;
  if (reason !== "stop" && reason !== "length") return null;
  if (extraOf(choices[0].extra, "messages") !== undefined) return null;
  const [block] = blocks;
  if (block.type !== "text" || block.text === "" || block.proof !== undefined) return null;
  if (block.citations.length > 0 || extraOf(block.extra, "messages") !== undefined) return null;
  const u = normalizeUsage(usage);
  return `{"id":${JSON.stringify(messageId(context.id))},"type":"message","role":"assistant","model":${
    repeatedLiteral(context.model())
  },"content":[{"type":"text","text":${
    JSON.stringify(block.text)
  },"citations":[]}],"diagnostics":null,"stop_reason":${
    reason === "stop" ? '"end_turn"' : '"max_tokens"'
  },"stop_sequence":null,"stop_details":null,"container":null,"usage":{"input_tokens":${
    u.input - u.cached - u.cacheWrite
  },"cache_creation_input_tokens":${u.cacheWrite},"cache_read_input_tokens":${u.cached},"cache_creation":{"ephemeral_5m_input_tokens":${
    u.cacheWrite - u.cacheWrite1h
  },"ephemeral_1h_input_tokens":${u.cacheWrite1h}},"output_tokens":${u.output},"output_tokens_details":{"thinking_tokens":${u.reasoning}},"server_tool_use":null,"service_tier":null,"inference_geo":null,"speed":null}}`;
}
