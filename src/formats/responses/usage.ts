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
 * | `server_tool_use.web_search_requests` | executed searches, only when there were any; providers: also the search items of the answer |
 *
 * A provider whose total is input, output and reasoning together leaves reasoning out of its output: by that sum, and
 * by nothing else, such a dialect is told from the others.
 */
import { isObject, type Loose, object } from "../../exchange/json.ts";
import { count, normalizeUsage, type Usage } from "../../exchange/usage.ts";

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

/** Number of web searches in a provider's report, which some gateways count there and do not list as items. */
export function decodeSearches({ server_tool_use }: Loose): number {
  return count(object(server_tool_use).web_search_requests);
}

export function encodeUsage(usage: Readonly<Usage>, searches: number | undefined): Loose {
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
