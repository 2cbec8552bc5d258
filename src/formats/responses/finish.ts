/** The end of an answer: usage, status and reason, decoded and encoded. */
import { type Loose, object, string } from "../../exchange/json.ts";
import { misreports, reportedSearches } from "../../exchange/usage.ts";
import type { FinishReason, Part } from "../../exchange/part.ts";
import type { Extra } from "../../exchange/prompt.ts";
import type { ItemReader } from "./decode_blocks.ts";
import { decodeAllUsage, TOTALS } from "./usage.ts";

export function modelOf(response: Loose): { model?: string } {
  const model = string(response.model);
  return model ? { model } : {};
}

/** Fields of a response that are present only if requested, or if something was used or found. */
export const BESIDE = [
  "tool_usage",
  "content_filters",
  "moderation",
  "prompt_cache_options",
  "prompt_cache_diagnostics",
  "input_transformations",
  "image",
] as const;

/**
 * Fields about how the response was generated, returned unchanged to clients of the same format: effective
 * effort and defaults, results of filters and provider tools, and the limit that ended the answer.
 */
const REPORTED = [
  "service_tier",
  "temperature",
  "top_p",
  "reasoning",
  "text",
  "incomplete_details",
  ...BESIDE,
] as const;

/** Undefined: none. */
export function reportOf(response: Loose): Extra | undefined {
  const fields: Loose = {};
  for (const name of REPORTED) {
    if (response[name] !== undefined && response[name] !== null) fields[name] = response[name];
  }
  return Object.keys(fields).length > 0 ? { format: "responses", fields } : undefined;
}

/** The parts after the items: usage, if any, and finish. */
export function finishParts(response: Loose, incomplete: boolean, items: ItemReader, out: Part[]): void {
  const used = decodeAllUsage(response);
  if (used) {
    // Some gateways count searches there and do not list them as items.
    const searches = Math.max(items.searches, reportedSearches(object(response.usage)));
    out.push({
      type: "usage",
      ...used,
      ...(misreports(object(response.usage), TOTALS) && { estimated: true }),
      ...(searches > 0 && { searches }),
      ...(typeof response.service_tier === "string" && { service: response.service_tier }),
    });
  }
  const reason = reasonOf(response, incomplete, items);
  const extra = reportOf(response);
  out.push({ type: "finish", choice: 0, reason, ...(extra && { extra }) });
}

function reasonOf(response: Loose, incomplete: boolean, items: ItemReader): FinishReason {
  if (incomplete) {
    const why = string(object(response.incomplete_details).reason);
    return why === "content_filter" ? "content-filter" : "length";
  }
  if (items.calls > 0) return "tool-calls";
  return items.refused ? "refusal" : "stop";
}

/** The reason of an `incomplete` answer. There is none for a suspended turn. */
export function cutBy(reason: FinishReason): string | undefined {
  if (reason === "content-filter") return "content_filter";
  return reason === "length" || reason === "pause" ? "max_output_tokens" : undefined;
}
