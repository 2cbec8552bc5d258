/** Small demands that the readers of all caller formats make. A breach throws. */
import { wild } from "./wild.ts";

export function must(condition: boolean, breach: string): asserts condition {
  if (!condition) throw new Error(breach);
}

export function whole(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

export function filled(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

export function count(value: unknown): number | undefined {
  must(value === undefined || value === null || whole(value), `count ${value}`);
  return typeof value === "number" ? value : undefined;
}

export function searches(usage: unknown): number | undefined {
  return count(wild(wild(usage).server_tool_use).web_search_requests);
}

export function unique(ids: string[]): void {
  must(new Set(ids).size === ids.length, `two tool calls share an id: ${ids}`);
}

export function mustText(value: unknown): string {
  must(typeof value === "string", "a delta without text");
  return value;
}
