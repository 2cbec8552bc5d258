/**
 * Proofs on a tool call: `extra_content.google.thought_signature`, where Google's compatible API has its signatures. AI SDK's
 * openai-compatible provider keeps this one place and drops `reasoning_details`, so that sealed proofs stand in both.
 *
 * The field is one text, and the text of the reasoning comes back apart from it, in one piece for the whole message. So each
 * proof names the part of that text that it is for: `svcs1,0-27:<sealed>,29-60:<sealed>`.
 */
import { array, isObject, type Loose, object, string } from "../../exchange/json.ts";
import type { ReasoningContent } from "../../exchange/prompt.ts";
import type { Proof, Seal, Unseal } from "../../exchange/proof.ts";

const PREFIX = "svcs1,";
const ENTRY = /^(\d{1,9})-(\d{1,9}):(.+)$/;
/** No answer has more blocks of reasoning before a call. */
const MOST_ENTRIES = 256;

/** A proof, and where in the reasoning of its message the text stands that it is for. */
export interface PlacedProof {
  proof: Proof;
  from: number;
  to: number;
}

/** Fields of a tool call that carry proofs. */
export function encodeCallProofs(placed: readonly PlacedProof[], seal: Seal): Loose {
  const entries = placed.map(({ proof, from, to }) => `${from}-${to}:${seal(proof)}`);
  return { extra_content: { google: { thought_signature: PREFIX + entries.join(",") } } };
}

/** The signature that a tool call carries, where it is one that was made here. */
function bundleOf(call: unknown): string | undefined {
  if (!isObject(call)) return undefined;
  const signature = string(object(object(call.extra_content).google).thought_signature);
  return signature?.startsWith(PREFIX) ? signature : undefined;
}

/** Whether the `extra_content` of a tool call was made here: no provider gets it. */
export function holdsCallProofs(call: Loose): boolean {
  return bundleOf(call) !== undefined;
}

/**
 * Reasoning whose proofs stand on the tool calls of a message. What cannot be unsealed is nobody's proof.
 * @param text of all reasoning of the message
 */
export function decodeCallProofs(message: Loose, text: string, unseal: Unseal): ReasoningContent[] {
  const found: ReasoningContent[] = [];
  for (const call of array(message.tool_calls)) {
    const entries = bundleOf(call)?.slice(PREFIX.length).split(",", MOST_ENTRIES) ?? [];
    for (const entry of entries) {
      const [, from, to, sealed] = ENTRY.exec(entry) ?? [];
      const proof = sealed === undefined ? null : unseal(sealed);
      if (proof === null) continue;
      const part = text.slice(Number(from), Number(to));
      found.push({ type: "reasoning", sections: part === "" ? [] : [part], kind: "text", proof });
    }
  }
  return found;
}
