/** Writes the JSON of text answers directly, with the same result as {@link encodeAnswer}. */
import type { Answer } from "../../exchange/answer.ts";
import { extraOf } from "../../exchange/prompt.ts";
import type { Usage } from "../../exchange/usage.ts";
import type { EncodeAnswer } from "../format.ts";
import { repeatedLiteral } from "../wire/write_answer.ts";
import { encodeFinish } from "./finish.ts";
import { encodeUsage } from "./usage.ts";

/** Null: not a plain text answer. */
export function writeAnswer(answer: Answer, context: EncodeAnswer): string | null {
  const { choices, usage, usageExtra, searches } = answer;
  if (choices.length !== 1 || context.dlp !== undefined) return null;
  const { index, blocks, reason, explanation, extra } = choices[0];
  if (blocks.length !== 1 || explanation !== undefined || reason === "tool-calls") return null;
  if (extraOf(extra, "chat_completions") !== undefined) return null;
  const [block] = blocks;
  if (block.type !== "text" || block.refusal || block.proof !== undefined) return null;
  if (block.logprobs !== undefined || block.citations.length > 0) return null;
  const service = serviceOf(extraOf(answer.extra, "chat_completions"));
  if (service === null) return null;
  const counts = usage === null
    ? ""
    : `,"usage":${
      isPlain(usage) && !searches && usageExtra === undefined
        ? plainUsage(usage)
        : JSON.stringify(encodeUsage(usage, searches, usageExtra))
    }`;
  return `{"id":${
    JSON.stringify(context.id)
  },"object":"chat.completion","created":${context.created},"model":${
    repeatedLiteral(context.model())
  },"choices":[{"index":${index},"message":{"role":"assistant","content":${
    JSON.stringify(block.text)
  },"refusal":null},"logprobs":null,"finish_reason":"${
    encodeFinish(reason, false, false)
  }"}]${service}${counts}}`;
}

/** The provider's top-level fields; null: there are others. */
function serviceOf(fields: Record<string, unknown> | undefined): string | null {
  let text = "";
  for (const name in fields) {
    const value = fields[name];
    if ((name !== "service_tier" && name !== "system_fingerprint") || typeof value !== "string") return null;
    text += `,"${name}":${JSON.stringify(value)}`;
  }
  return text;
}

/** Only text tokens, without cache and reasoning. */
function isPlain(usage: Usage): boolean {
  return usage.cached === 0 && usage.cacheWrite === 0 && usage.audioInput === 0 && usage.videoInput === 0 &&
    usage.reasoning === 0 && usage.audioOutput === 0 && usage.imageOutput === 0;
}

function plainUsage({ input, output }: Usage): string {
  return `{"prompt_tokens":${input},"completion_tokens":${output},"total_tokens":${
    input + output
  },"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":0,"audio_tokens":0,"video_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"image_tokens":0}}`;
}
