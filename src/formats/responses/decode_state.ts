/** State of each output item while a provider's answer is decoded. */
import { array, type Loose, string } from "../../exchange/json.ts";
import { count } from "../../exchange/usage.ts";

/** The sent length of a text, and its last piece, to detect whether another text continues it. */
interface Sent {
  length: number;
  last: string;
}

export interface TextBlock extends Sent {
  block: number;
  refusal: boolean;
  /** An event reported it as complete. */
  done: boolean;
  citations: number;
  logprobs: boolean;
}

export interface Slot {
  type: string;
  item: Loose;
  /** Message: the blocks of its parts, in order. */
  texts: TextBlock[];
  /** The same by the index in events. */
  textAt: Map<number, TextBlock>;
  /** Reasoning or call: its block, once started. */
  block: number;
  /** Arguments of a call that has not started. */
  held: string;
  call: Sent;
  sections: Sent[];
  /** Reasoning text: the section of each index in events. */
  sectionAt: Map<number, number>;
  /** The last section is complete, so that another index starts the next one. */
  sectionDone: boolean;
  kind: "summary" | "text";
  ended: boolean;
}

export const newSlot = (item: Loose): Slot => ({
  type: string(item.type) ?? "",
  item,
  texts: [],
  textAt: new Map(),
  block: -1,
  held: "",
  call: { length: 0, last: "" },
  sections: [],
  sectionAt: new Map(),
  sectionDone: false,
  kind: "summary",
  ended: false,
});

/** Maximum number of parts of an item, so that a hostile index cannot cause a large array. */
const MOST_PARTS = 1000;

/** Fractions, which do not collide with the integer indices in events. */
const BESIDE: Readonly<Record<string, number>> = {
  message: 0.25,
  reasoning: 0.5,
  function_call: 0.75,
  custom_tool_call: 0.75,
};

/**
 * The offset to the index for a second item of another type with the same index; 0: the same item, or a type
 * that must not change.
 */
export function besideOf(there: Slot | undefined, type: unknown): number {
  if (there === undefined || there.type === type || typeof type !== "string") return 0;
  const own = Object.hasOwn(BESIDE, type) ? BESIDE[type] : 0;
  const taken = Object.hasOwn(BESIDE, there.type) ? BESIDE[there.type] : 0;
  return own === taken || taken === 0 ? 0 : own;
}

/** Whether an item is a call of a caller's tool. */
export function isCall({ type }: { type?: unknown }): boolean {
  return type === "function_call" || type === "custom_tool_call";
}

export const CALL = "call";

/** Items of one kind are told apart by their order. */
export function kindOf(item: { type?: unknown }): string {
  return isCall(item) ? CALL : String(item.type);
}

/** Item types with data that the vocabulary has. */
const READ: ReadonlySet<string> = new Set([
  "message",
  "reasoning",
  "web_search_call",
  "image_generation_call",
  "function_call",
  "custom_tool_call",
]);

/** Whether an item is decoded. An opaque one is passed on as it is at its end. */
export function isRead(slot: Slot): boolean {
  return READ.has(slot.type);
}

/**
 * The reasoning section of an event. vLLM increments `content_index` with every event, so a new index
 * continues the current section.
 */
export function sectionOf(slot: Slot, event: Loose, kind: "summary" | "text"): number {
  if (kind === "summary") return Math.min(count(event.summary_index), MOST_PARTS);
  const index = Math.min(count(event.content_index), MOST_PARTS);
  const known = slot.sectionAt.get(index);
  if (known !== undefined) return known;
  const section = slot.sectionDone ? slot.sections.length : Math.max(0, slot.sections.length - 1);
  slot.sectionDone = false;
  slot.sectionAt.set(index, section);
  return section;
}

/** The text of an event; undefined: a new one. A new index continues a text, as in {@link sectionOf}. */
export function textOf(slot: Slot, event: Loose, refusal: boolean): TextBlock | undefined {
  const known = slot.textAt.get(indexOf(event));
  if (known) return known;
  const last = slot.texts.at(-1);
  return last && !last.done && last.refusal === refusal ? last : undefined;
}

/** The parts of a message or of reasoning. Some servers write one text in their place. */
export function partsOf(content: unknown): unknown[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : array(content);
}

/** The index of an event's part within its item, bounded. */
export function indexOf(event: Loose): number {
  return Math.min(count(event.content_index), MOST_PARTS);
}

/** The last text, if a part with a new index repeats it; undefined: another text. */
export function repeatedText(slot: Slot, event: Loose, part: Loose): TextBlock | undefined {
  const last = slot.texts.at(-1);
  const whole = string(part.text) ?? string(part.refusal) ?? "";
  const same = last?.done && last.length === whole.length && whole.endsWith(last.last);
  return same && !slot.textAt.has(indexOf(event)) ? last : undefined;
}

/** The part of a complete text that was not sent yet; empty if the complete text differs from the one sent. */
export function restOf(sent: Sent, whole: string): string {
  if (whole.length <= sent.length) return "";
  return whole.startsWith(sent.last, sent.length - sent.last.length) ? whole.slice(sent.length) : "";
}
