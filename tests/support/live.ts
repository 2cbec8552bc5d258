/** Reads the events of a tool that a provider runs. */
import { isLive, type Part } from "../../src/exchange/part.ts";

/** The parts without the events of runs, after a check that each run is announced before its events and completed. */
export function withoutLive(parts: readonly Part[]): Part[] {
  const open = new Set<number>();
  return parts.filter((part) => {
    if (part.type === "live-start") {
      if (open.has(part.block)) throw new Error(`block ${part.block} is announced twice`);
      open.add(part.block);
    } else if (isLive(part)) {
      if (!open.has(part.block)) throw new Error(`${part.type} outside of block ${part.block}`);
    } else if ("choice" in part && "block" in part) open.delete(part.block);
    if (part.type === "finish" && open.size > 0) throw new Error(`${open.size} runs are not completed`);
    return !isLive(part);
  });
}

const RUN =
  /^response\.(code_interpreter_call|file_search_call|image_generation_call|mcp_call|mcp_list_tools)(_code|_arguments)?\.(\w+)$/;

/**
 * Reads an event of a run in a responses stream. Throws if it belongs to another type of item, or if the text at
 * its end is not that of its deltas.
 *
 * @param sent the texts of the deltas so far, by item
 * @returns false: it is no such event
 */
export function readRunEvent(
  type: string,
  event: Record<string, unknown>,
  item: Record<string, unknown>,
  sent: WeakMap<object, string>,
): boolean {
  const [, of, text, verb] = RUN.exec(type) ?? [];
  if (of === undefined) return false;
  if (item.type !== of) throw new Error(`${type} of an item of type ${item.type}`);
  if (text === undefined) return true;
  const before = sent.get(item) ?? "";
  if (verb === "delta") {
    if (typeof event.delta !== "string" || event.delta === "") throw new Error(`${type} without text`);
    sent.set(item, before + event.delta);
  } else if ((event.code ?? event.arguments) !== before) throw new Error(`${type} differs from its deltas`);
  return true;
}
