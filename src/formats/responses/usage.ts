/**
 * Token counts of the responses format.
 *
 * | wire | canonical |
 * |---|---|
 * | `input_tokens` | `input` (cached included) |
 * | `input_tokens_details.cached_tokens` | `cached` |
 * | `input_tokens_details.cache_write_tokens` | `cacheWrite` |
 * | `input_tokens_details.audio_tokens`, `image_tokens` | `audioInput`, `imageInput` (read only: servers with this format before other APIs) |
 * | `output_tokens` | `output` (reasoning included) |
 * | `output_tokens_details.reasoning_tokens` | `reasoning` |
 * | `output_tokens_details.audio_tokens`, `image_tokens` | `audioOutput`, `imageOutput` (read only) |
 * | `total_tokens` | `input + output` |
 * | `tool_usage.image_gen` of the response, with the same fields | part of all of the above |
 * | `server_tool_use.web_search_requests` | executed searches, only when there were any; providers: also the search items of the answer, `server_tool_use_details` (OpenRouter), `server_side_tool_usage_details` (xAI), and `tool_usage.web_search.num_requests` of the response (OpenAI) |
 * | `server_side_tool_usage_details`, `num_sources_used` (xAI), else the items of the answer for each use of a tool | fees |
 *
 * `usage` excludes what a model for images has used (OpenAI's tool `image_generation`), which is billed. Callers of this format get `usage`
 * as the provider reported it, and `tool_usage` beside it.
 *
 * A provider whose total is input, output and reasoning together leaves reasoning out of its output: by that sum, and
 * by nothing else, such a dialect is told from the others.
 */
import { array, isObject, type Loose, object, string } from "../../exchange/json.ts";
import type { UsedModels } from "../../exchange/part.ts";
import { type Extra, extraOf } from "../../exchange/prompt.ts";
import { addUsage, count, normalizeUsage, subtractUsage, type Usage } from "../../exchange/usage.ts";

export const TOTALS = ["input_tokens", "output_tokens"] as const;

/** Null: not reported. */
export function decodeUsage(wire: unknown): Usage | null {
  if (!isObject(wire)) return null;
  const input = count(wire.input_tokens);
  const output = count(wire.output_tokens);
  const details = object(wire.input_tokens_details);
  const out = object(wire.output_tokens_details);
  const reasoning = count(out.reasoning_tokens);
  const apart = reasoning > 0 && count(wire.total_tokens) >= input + output + reasoning;
  return normalizeUsage({
    input,
    cached: count(details.cached_tokens),
    cacheWrite: count(details.cache_write_tokens),
    audioInput: count(details.audio_tokens),
    imageInput: count(details.image_tokens),
    output: apart ? output + reasoning : output,
    reasoning,
    audioOutput: count(out.audio_tokens),
    imageOutput: count(out.image_tokens),
  });
}

/** A report of usage, as in its part. */
interface Report {
  usage: Usage;
  models?: UsedModels;
  extra?: Extra;
}

/** Field of the usage's `extra`: the report that `usage` excludes. */
const IMAGES = "image_gen";

/** The usage of a response, with what was used beside it; null: not reported. */
export function decodeAllUsage(response: Loose): Report | null {
  const usage = decodeUsage(response.usage);
  if (usage === null) return null;
  const report = object(response.tool_usage)[IMAGES];
  const images = decodeUsage(report);
  // With image tokens in `usage`, these are included already.
  if (images === null || images.input + images.output === 0 || usage.imageOutput > 0) return { usage };
  const model = imageModel(response.tools);
  return {
    usage: addUsage(usage, images),
    ...(model !== undefined && { models: { beside: [{ model, usage: images }] } }),
    extra: { format: "responses", fields: { [IMAGES]: report } },
  };
}

/** The model of the tool that generates images. */
function imageModel(tools: unknown): string | undefined {
  return string(array(tools).map(object).find(({ type }) => type === "image_generation")?.model);
}

/** @param extra of the usage that the provider reported */
export function encodeUsage(all: Readonly<Usage>, searches: number | undefined, extra?: Extra): Loose {
  const images = decodeUsage(extraOf(extra, "responses")?.[IMAGES]);
  const usage = images === null ? all : subtractUsage(all, images);
  const wire: Loose = {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: usage.cacheWrite },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  };
  if (searches !== undefined && searches > 0) {
    wire.server_tool_use = { web_search_requests: searches, web_fetch_requests: 0 };
  }
  return wire;
}
