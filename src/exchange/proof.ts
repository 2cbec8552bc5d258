/**
 * The proof that a provider attaches to reasoning and wants back unchanged on the next turn: a signature, redacted or
 * encrypted content, a thought signature. The text beside it may be shown; the proof may only be carried.
 *
 * A caller of the provider's own format gets it as the provider sent it. Any other caller gets it sealed: text that this
 * gateway signed, in the place where that format's clients keep such things, so that it can be trusted when it returns.
 */
import type { Turn } from "./prompt.ts";
import type { FormatName } from "./prompt.ts";

export interface Proof {
  /** The API that issued it, and the only one that can read it. */
  api: FormatName;
  /**
   * signature: of a visible thinking text (messages). redacted: reasoning withheld (messages). encrypted: a reasoning
   * item's `encrypted_content` (responses). thought: a `thoughtSignature` (gemini). details: the JSON text of
   * `reasoning_details`, or of another field that a chat-completions dialect wants back.
   */
  kind: "signature" | "redacted" | "encrypted" | "thought" | "details";
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

/**
 * Moves proofs that name a call onto that call. They travel as reasoning of their own, because clients drop unknown
 * fields of a tool call but keep reasoning. Reasoning left with neither text nor proof is removed.
 */
export function attachProofs(turns: Turn[]): Turn[] {
  const byCall = new Map<string, Proof>();
  for (const turn of turns) {
    for (const c of turn.content) {
      if (c.type === "reasoning" && c.proof?.call) byCall.set(c.proof.call, c.proof);
    }
  }
  if (byCall.size === 0) return turns;
  const attached: Turn[] = [];
  for (const turn of turns) {
    const content: Turn["content"] = [];
    for (const c of turn.content) {
      if (c.type === "reasoning" && c.proof?.call) {
        if (c.sections.length > 0) content.push({ ...c, proof: undefined });
      } else if (c.type === "call" && byCall.has(c.id)) content.push({ ...c, proof: byCall.get(c.id) });
      else content.push(c);
    }
    if (content.length > 0 || turn.content.length === 0) attached.push({ ...turn, content });
  }
  return attached;
}
