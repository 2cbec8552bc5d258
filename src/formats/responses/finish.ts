/** The end of an answer: usage, status and reason, decoded and encoded. */
import { type Loose, object, rest, string } from "../../exchange/json.ts";
import { reportedFees } from "../../exchange/fees.ts";
import { count, misreports, reportedSearches } from "../../exchange/usage.ts";
import type { FinishReason, Part } from "../../exchange/part.ts";
import type { Extra } from "../../exchange/prompt.ts";
import type { ItemReader } from "./decode_blocks.ts";
import { withoutNulls } from "./proofs.ts";
import { decodeAllUsage, TOTALS } from "./usage.ts";

export function modelOf(response: Loose): { model?: string } {
  const model = string(response.model);
  return model ? { model } : {};
}

/**
 * Fields that the gateway has itself: of its answer, of the caller's request, and with findings (`details`).
 * Official clients add `output_text`.
 */
const OWN: ReadonlySet<string> = new Set(
  ("id object created_at completed_at status background error model output output_text usage details " +
    "access_programs conversation frequency_penalty instructions max_output_tokens max_tool_calls metadata " +
    "parallel_tool_calls presence_penalty previous_response_id prompt prompt_cache_key safety_identifier " +
    "store tool_choice tools top_logprobs truncation user").split(" "),
);

/**
 * Fields about how the response was generated, returned unchanged to clients of the same format: effective
 * effort and defaults, results of filters and provider tools, the limit that ended the answer, and those that
 * only one vendor has. Undefined: none.
 */
export function reportOf(response: Loose): Extra | undefined {
  const fields = withoutNulls(rest(response, OWN));
  return Object.keys(fields).length > 0 ? { format: "responses", fields } : undefined;
}

/** The parts after the items: usage, if any, and finish. */
export function finishParts(response: Loose, incomplete: boolean, items: ItemReader, out: Part[]): void {
  const used = decodeAllUsage(response);
  if (used) {
    // Some servers count searches there and do not list them as items.
    const searches = Math.max(
      items.searches,
      reportedSearches(object(response.usage)),
      count(object(object(response.tool_usage).web_search).num_requests),
    );
    const fees = reportedFees(object(response.usage), items.fees);
    out.push({
      type: "usage",
      ...used,
      ...(misreports(object(response.usage), TOTALS) && { estimated: true }),
      ...(searches > 0 && { searches }),
      ...(fees && { fees }),
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
