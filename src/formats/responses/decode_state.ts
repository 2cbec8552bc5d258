/** What is known of each output item while a provider's answer is read. */
import { type Loose, string } from "../../exchange/json.ts";
import type { Proof } from "../../exchange/proof.ts";
import { count } from "../../exchange/usage.ts";

/** How much of a text was sent, and its last piece to tell a true continuation from another text. */
interface Sent {
  length: number;
  last: string;
}

export interface TextBlock extends Sent {
  block: number;
  refusal: boolean;
  /** An event said that it is whole. */
  done: boolean;
  citations: number;
  logprobs: boolean;
}

export interface Slot {
  type: string;
  item: Loose;
  /** Message: the blocks of its parts, in order. */
  texts: TextBlock[];
  /** The same by the index that events name. */
  textAt: Map<number, TextBlock>;
  /** Reasoning or call: its block, once started. */
  block: number;
  call: Sent;
  sections: Sent[];
  /** Reasoning's own text: the section of each index that events named. */
  sectionAt: Map<number, number>;
  /** The last of these sections is whole, so that another index begins the next one. */
  sectionDone: boolean;
  kind: "summary" | "text";
  ended: boolean;
}

/** Parts of one item that are told apart; a hostile index must not make a large array. */
export const MOST_PARTS = 1000;

/** Between whole numbers, which are the places that events name. */
const BESIDE: Readonly<Record<string, number>> = {
  message: 0.25,
  reasoning: 0.5,
  function_call: 0.75,
  custom_tool_call: 0.75,
};

/** What to add to a place where an item is, for another one of a type; 0: it is the same, or of a kind that must not change. */
export function besideOf(there: Slot | undefined, type: unknown): number {
  if (there === undefined || there.type === type || typeof type !== "string") return 0;
  const own = Object.hasOwn(BESIDE, type) ? BESIDE[type] : 0;
  const taken = Object.hasOwn(BESIDE, there.type) ? BESIDE[there.type] : 0;
  return own === taken || taken === 0 ? 0 : own;
}

/** Whether an item is a call of one of the caller's tools. */
export function isCall(slot: Slot): boolean {
  return slot.type === "function_call" || slot.type === "custom_tool_call";
}

/**
 * The section of its reasoning that an event is about. vLLM counts `content_index` on with every event, so an index that is
 * new goes on with the section that is being written.
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

/** The text that an event is about; undefined: a new one. An index that is new goes on with a text, as in {@link sectionOf}. */
export function textOf(slot: Slot, event: Loose, refusal: boolean): TextBlock | undefined {
  const known = slot.textAt.get(indexOf(event));
  if (known) return known;
  const last = slot.texts.at(-1);
  return last && !last.done && last.refusal === refusal ? last : undefined;
}

/** The number of an event's part within its item, bounded. */
export function indexOf(event: Loose): number {
  return Math.min(count(event.content_index), MOST_PARTS);
}

/** The last text, where a part at an index that is new says it once more; undefined: it is another one. */
export function repeatedText(slot: Slot, event: Loose, part: Loose): TextBlock | undefined {
  const last = slot.texts.at(-1);
  const whole = string(part.text) ?? string(part.refusal) ?? "";
  const same = last?.done && last.length === whole.length && whole.endsWith(last.last);
  return same && !slot.textAt.has(indexOf(event)) ? last : undefined;
}

/** What of a whole text was not sent yet; nothing when the whole is another text than the one sent. */
export function restOf(sent: Sent, whole: string): string {
  if (whole.length <= sent.length) return "";
  return whole.startsWith(sent.last, sent.length - sent.last.length) ? whole.slice(sent.length) : "";
}

/** The encrypted content of a finished item. The one of its announcement is another text, and not the last word. */
export function proofOf(item: Loose): Proof | undefined {
  const data = string(item.encrypted_content);
  if (!data) return undefined;
  const id = string(item.id);
  return { api: "responses", kind: "encrypted", data, ...(id && { id }) };
}
