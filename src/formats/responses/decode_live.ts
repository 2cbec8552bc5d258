/**
 * Events of items while the provider runs their tool, for callers of this format. What an item becomes must be
 * known when it starts: a `web_search_call` may turn out to be a search, which has an item of another type
 * here, or the opening of a page.
 */
import { type Loose, rest, string } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import { isRead, type Slot } from "./decode_state.ts";

/** The events of each type of item, without `response.`: only those that the official clients know. */
const EVENTS: Readonly<Record<string, readonly string[]>> = {
  code_interpreter_call: [
    "code_interpreter_call.in_progress",
    "code_interpreter_call_code.delta",
    "code_interpreter_call_code.done",
    "code_interpreter_call.interpreting",
    "code_interpreter_call.completed",
  ],
  file_search_call: [
    "file_search_call.in_progress",
    "file_search_call.searching",
    "file_search_call.completed",
  ],
  image_generation_call: [
    "image_generation_call.in_progress",
    "image_generation_call.generating",
    "image_generation_call.partial_image",
    "image_generation_call.completed",
  ],
  mcp_call: [
    "mcp_call.in_progress",
    "mcp_call_arguments.delta",
    "mcp_call_arguments.done",
    "mcp_call.completed",
    "mcp_call.failed",
  ],
  mcp_list_tools: ["mcp_list_tools.in_progress", "mcp_list_tools.completed", "mcp_list_tools.failed"],
};

const TYPE_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(EVENTS).flatMap(([type, events]) => events.map((event) => [`response.${event}`, type])),
);

/** Fields that are written for the caller's item. `obfuscation` is padding of the provider's frames. */
const PLACED = new Set(["type", "item_id", "output_index", "sequence_number", "obfuscation"]);

/** Whether an item is announced when it starts. */
export function isLive(slot: Slot): boolean {
  return slot.type === "image_generation_call" || (slot.type !== "" && !isRead(slot));
}

/** The announcement of an item. Clients' types require `result`, which Azure's does not contain. */
export function liveStart(item: Loose, block: number): Part {
  const value = item.type === "image_generation_call" ? { result: null, ...item } : item;
  return { type: "live-start", block, choice: 0, format: "responses", value };
}

/** The part of an event. Undefined: the event is not one of this item. */
export function livePart({ type, block }: Slot, event: string, fields: Loose): Part | undefined {
  if (TYPE_OF.get(event) !== type) return undefined;
  const text = string(fields.delta);
  if (event.endsWith(".delta")) return text ? { type: "live-delta", block, event, text } : undefined;
  return { type: "live-event", block, event, value: rest(fields, PLACED) ?? {} };
}
