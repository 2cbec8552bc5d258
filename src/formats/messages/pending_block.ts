/** Blocks of a messages stream that are not completely written. */
import type { Part } from "../../exchange/part.ts";

export type Blocked = Extract<Part, { block: number }>;
export type Start = Extract<Blocked, { choice: number }>;

export interface Pending {
  start: Start;
  /** Parts that wait for the preceding block; none for the current block. */
  waiting: Blocked[];
  ended: boolean;
  /** Whether its `content_block_start` was written. */
  opened: boolean;
  /** Reasoning: the section of the last delta. A call: 0 once its arguments are streamed. */
  section: number;
  /** Arguments that are not streamed. */
  input: string;
}

/** State of a call's arguments: only white space so far, or not an object. */
export const UNKNOWN = -1;
export const NO_OBJECT = -2;

export function pendingOf(start: Start): Pending {
  return { start, waiting: [], ended: false, opened: false, section: UNKNOWN, input: "" };
}

export function isFreeform(start: Start): boolean {
  return start.type === "call-start" && start.kind === "custom";
}

/** Whether the part ends its block. */
export function isEnd({ type }: Part): boolean {
  return ENDS.has(type);
}

const ENDS: ReadonlySet<Part["type"]> = new Set<Part["type"]>([
  "text-end",
  "reasoning-end",
  "call-end",
  "media",
  "search-start",
  "opaque",
  // The end of a search's query, whose result comes later.
  "live-event",
]);
