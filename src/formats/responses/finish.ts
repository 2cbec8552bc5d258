/** How an answer ends: usage, status and reason, both ways. */
import { type Loose, object, string } from "../../exchange/json.ts";
import type { FinishReason, Part } from "../../exchange/part.ts";
import type { ItemReader } from "./decode_blocks.ts";
import { decodeUsage } from "./usage.ts";

export function modelOf(response: Loose): { model?: string } {
  const model = string(response.model);
  return model ? { model } : {};
}

/** What follows the items: usage, when there is any, and the reason for the end. */
export function finishParts(response: Loose, incomplete: boolean, items: ItemReader, out: Part[]): void {
  const usage = decodeUsage(response.usage);
  if (usage) out.push({ type: "usage", usage, ...(items.searches > 0 && { searches: items.searches }) });
  const reason = reasonOf(response, incomplete, items);
  const tier = string(response.service_tier);
  out.push({
    type: "finish",
    choice: 0,
    reason,
    ...(tier !== undefined && { extra: { format: "responses", fields: { service_tier: tier } } }),
  });
}

function reasonOf(response: Loose, incomplete: boolean, items: ItemReader): FinishReason {
  if (incomplete) {
    const why = string(object(response.incomplete_details).reason);
    return why === "content_filter" ? "content-filter" : "length";
  }
  if (items.calls > 0) return "tool-calls";
  return items.refused ? "refusal" : "stop";
}

/** Why an answer is `incomplete`. A suspended turn has no word of its own here. */
export function cutBy(reason: FinishReason): string | undefined {
  if (reason === "content-filter") return "content_filter";
  return reason === "length" || reason === "pause" ? "max_output_tokens" : undefined;
}
