/**
 * Proofs on tool calls: `extra_content.google.thought_signature`, the field for signatures in Google's
 * OpenAI-compatible API. AI SDK's openai-compatible provider preserves this field but drops
 * `reasoning_details`, so sealed proofs are written to both.
 *
 * The field is a single string, and the text of all reasoning in a message is returned separately as one
 * string. So each proof states the range of that text it belongs to: `svcs1,0-27:<sealed>,29-60:<sealed>`.
 */
import { array, isObject, type Loose, object, string } from "../../exchange/json.ts";
import type { ReasoningContent } from "../../exchange/prompt.ts";
import type { Proof, Seal, Unseal } from "../../exchange/proof.ts";

const PREFIX = "svcs1,";
const ENTRY = /^(\d{1,9})-(\d{1,9}):(.+)$/;
/** Maximum number of reasoning blocks before a call. */
const MOST_ENTRIES = 256;

/** A proof, and the range of the message's reasoning text that it belongs to. */
export interface PlacedProof {
  proof: Proof;
  from: number;
  to: number;
}

/** Fields of a tool call that contain proofs. */
export function encodeCallProofs(placed: readonly PlacedProof[], seal: Seal): Loose {
  const entries = placed.map(({ proof, from, to }) => `${from}-${to}:${seal(proof)}`);
  return { extra_content: { google: { thought_signature: PREFIX + entries.join(",") } } };
}

/** The signature of a tool call, if it was created by this gateway. */
function bundleOf(call: unknown): string | undefined {
  if (!isObject(call)) return undefined;
  const signature = string(object(object(call.extra_content).google).thought_signature);
  return signature?.startsWith(PREFIX) ? signature : undefined;
}

/** Whether the `extra_content` of a tool call was created by this gateway, and so must not be sent to providers. */
export function holdsCallProofs(call: Loose): boolean {
  return bundleOf(call) !== undefined;
}

/**
 * Reasoning whose proofs are on the tool calls of a message. Proofs that cannot be unsealed are ignored.
 * @param text text of all reasoning in the message
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
