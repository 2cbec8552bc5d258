/**
 * Opaque data that a provider attaches to reasoning and expects unchanged in the next turn: a signature,
 * redacted or encrypted content, a thought signature. The text beside it may be displayed; the proof is only
 * passed on.
 *
 * A caller of the provider's format gets it unchanged. Any other caller gets it sealed: signed by this
 * gateway, in the field where clients of that format keep such data, so that it can be verified when it is
 * returned.
 */
import type { FormatName } from "./format_name.ts";

export interface Proof {
  /** The API that issued it, and the only one that can read it. */
  api: FormatName;
  /**
   * signature: of visible thinking (messages, converse). redacted: withheld reasoning (messages, converse).
   * encrypted: `encrypted_content` of a reasoning item (responses). thought: a `thoughtSignature` (gemini).
   * details: JSON of `reasoning_details`, or of another field that a chat-completions dialect expects back.
   * summary: the text of a compaction made by the gateway.
   */
  kind: "signature" | "redacted" | "encrypted" | "thought" | "details" | "part" | "summary";
  data: string;
  /** The provider's id of the reasoning item. */
  id?: string;
  /** Id of the tool call that carries it. Absent: it belongs to the reasoning, or to the text after it. */
  call?: string;
  /**
   * The kind of part that carried a `thought` without a call. Absent: a separate part without text. It is
   * returned on the same kind of part.
   */
  on?: "text" | "thought" | "media";
}

/** Prefix of sealed texts. */
export const SEAL_PREFIX = "svc1.";

/**
 * Whether a text has the form of a sealed proof. One that cannot be unsealed was modified, or is from another
 * gateway: it is dropped.
 */
export function isSealed(text: string): boolean {
  return text.startsWith(SEAL_PREFIX);
}

/** Signs and encodes a proof for a caller of another format. */
export type Seal = (proof: Proof) => string;
/** The proof in a sealed text; null: not sealed by this gateway, or modified. */
export type Unseal = (text: string) => Proof | null;
