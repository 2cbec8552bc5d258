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
  /** The wire's content index, whatever it counts from. */
  index: number;
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
  kind: "summary" | "text";
  ended: boolean;
}

/** Parts of one item that are told apart; a hostile index must not make a large array. */
export const MOST_PARTS = 1000;

export function isCall(slot: Slot): boolean {
  return slot.type === "function_call" || slot.type === "custom_tool_call";
}

export function sectionOf(event: Loose, kind: "summary" | "text"): number {
  return Math.min(count(kind === "summary" ? event.summary_index : event.content_index), MOST_PARTS);
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
