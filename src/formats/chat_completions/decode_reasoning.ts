/** Decodes reasoning in an assistant's message sent by a caller, from all fields used by dialects. */
import { array, isObject, type Loose, string } from "../../exchange/json.ts";
import type { ReasoningContent } from "../../exchange/prompt.ts";
import { isSealed, type Unseal } from "../../exchange/proof.ts";
import { decodeCallProofs } from "./call_proofs.ts";
import {
  addDetail,
  isTextField,
  replayProof,
  signedFields,
  splitDetails,
  type TextField,
  textKey,
} from "./reasoning.ts";

/**
 * The reasoning of an assistant message sent by a caller. A caller that received both text fields sends both:
 * the first one is the one that the provider uses, because {@link textFields} writes it first.
 */
export function decodeReasoning(message: Loose, unseal: Unseal): ReasoningContent[] {
  const contents: ReasoningContent[] = [];
  const field = firstTextField(message);
  const text = field ? message[field] as string : "";
  const details: Loose[] = [];
  for (const entry of array(message.reasoning_details)) if (isObject(entry)) addDetail(details, entry);
  const proofs = details.map((entry) => {
    const token = tokenOf(entry);
    return token ? unseal(token) : null;
  });
  const sealed = new Set(details.filter((_, i) => proofs[i]).map((entry) => entry.index));

  const raw: Loose[] = [];
  const summaries = new Map<unknown, string>();
  details.forEach((entry, i) => {
    const key = textKey(entry);
    const words = key ? entry[key] as string : "";
    const proof = proofs[i];
    if (!proof) {
      // A summary is in a separate entry before the one with its proof.
      if (key === "summary" && sealed.has(entry.index)) summaries.set(entry.index, words);
      else if (!isSealed(tokenOf(entry) ?? "")) raw.push(entry);
      return;
    }
    const summary = summaries.get(entry.index);
    const section = words || summary;
    contents.push({
      type: "reasoning",
      sections: section ? [section] : [],
      kind: summary ? "summary" : "text",
      proof,
    });
  });

  // Clients that preserve both fields send the proofs twice.
  if (contents.length === 0 && raw.length === 0) contents.push(...decodeCallProofs(message, text, unseal));
  const shown = contents.some((c) => c.sections.length > 0);
  if (raw.length > 0) {
    const { stripped, sections } = splitDetails(raw);
    contents.push({
      type: "reasoning",
      sections: sections.length > 0 || shown || text === "" ? sections : [text],
      kind: raw.some((entry) => entry.type === "reasoning.summary") ? "summary" : "text",
      proof: replayProof({ ...(field && { field }), details: stripped }),
    });
  } else if (field && !shown) {
    const sections = text === "" ? [] : [text];
    contents.unshift({ type: "reasoning", sections, kind: "text", proof: replayProof({ field }) });
  }
  const { thinking_blocks } = message;
  const blocks = Array.isArray(thinking_blocks) && thinking_blocks.length > 0 && { thinking_blocks };
  const signed = blocks ? { ...signedFields(message), ...blocks } : signedFields(message);
  if (signed) {
    contents.push({ type: "reasoning", sections: [], kind: "text", proof: replayProof({ fields: signed }) });
  }
  return contents;
}

/** The field of an entry that contains a proof. */
function tokenOf(entry: Loose): string | undefined {
  return string(entry.signature) || string(entry.data);
}

/** An empty text counts if there is no other: DeepSeek rejects a call whose message lacks the field. */
function firstTextField(message: Loose): TextField | undefined {
  let empty: TextField | undefined;
  for (const name in message) {
    if (!isTextField(name) || typeof message[name] !== "string") continue;
    if (message[name] !== "") return name;
    empty ??= name;
  }
  return empty;
}
