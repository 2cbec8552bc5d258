/**
 * The proof that a provider attaches to reasoning and wants back unchanged on the next turn: a signature, redacted or
 * encrypted content, a thought signature. The text beside it may be shown; the proof may only be carried.
 *
 * A caller of the provider's own format gets it as the provider sent it. Any other caller gets it sealed: text that this
 * gateway signed, in the place where that format's clients keep such things, so that it can be trusted when it returns.
 */
import type { FormatName } from "./format_name.ts";

export interface Proof {
  /** The API that issued it, and the only one that can read it. */
  api: FormatName;
  /**
   * signature: of a visible thinking text (messages, converse). redacted: reasoning withheld (messages, converse). encrypted: a reasoning
   * item's `encrypted_content` (responses). thought: a `thoughtSignature` (gemini). details: the JSON text of
   * `reasoning_details`, or of another field that a chat-completions dialect wants back. summary: text of a compaction, made here
   * and no provider's.
   */
  kind: "signature" | "redacted" | "encrypted" | "thought" | "details" | "summary";
  data: string;
  /** The provider's id of the reasoning item. */
  id?: string;
  /** Id of the tool call that carries it. Absent: it belongs to the reasoning, or to the text after it. */
  call?: string;
  /**
   * Part of the answer that carried a `thought` without a call. Absent: a part of its own, without text. It goes back on
   * the same part.
   */
  on?: "text" | "thought" | "media";
}

/** How every sealed text begins. */
export const SEAL_PREFIX = "svc1.";

/**
 * Whether a text claims to be sealed here. One that cannot be unsealed was changed on the way, or is another gateway's: it
 * is nobody's proof and goes to no provider.
 */
export function isSealed(text: string): boolean {
  return text.startsWith(SEAL_PREFIX);
}

/** Signs and packs a proof for a caller of another format. */
export type Seal = (proof: Proof) => string;
/** The proof in a sealed text; null when the text is not one of this gateway's, or was changed. */
export type Unseal = (text: string) => Proof | null;
