/**
 * Reasoning in messages and deltas of this API, shared by decoders and encoders.
 *
 * There is no official field; dialects have four: `reasoning_content`, `reasoning`, `reasoning_details` (an
 * array whose entries contain text, summaries, signatures or encrypted data) and thinking parts in `content`.
 * What a provider of this API expects to be returned is a {@link Replay}, stored as the proof of the
 * reasoning. Proofs of other APIs are sealed in `reasoning_details`, where clients of this API keep such
 * data.
 */
import { isObject, type Loose, object, parse, string } from "../../exchange/json.ts";
import type { Proof } from "../../exchange/proof.ts";
import { holdsCallProofs } from "./call_proofs.ts";

/** The message's field for reasoning text. `content`: a thinking part in it. */
export type ReasoningField = TextField | "content";

/** Fields whose value is the text of the reasoning. */
export const TEXT_FIELDS = ["reasoning_content", "reasoning", "reasoning_text"] as const;
export type TextField = typeof TEXT_FIELDS[number];

/** Whether it is the name of such a field. */
export function isTextField(name: unknown): name is TextField {
  return (TEXT_FIELDS as readonly unknown[]).includes(name);
}

/** What a provider of this API expects to be returned on the assistant's message or the tool call. */
export interface Replay {
  field?: ReasoningField;
  /** `reasoning_details` without texts; these are the sections of the reasoning, and may be masked. */
  details?: Loose[];
  /** `thinking_blocks` of LiteLLM. Instead of its text, each has its number of characters in the reasoning text. */
  blocks?: Loose[];
  /** `summary` of a `reasoning` part of `content` (Databricks), with signatures, and with lengths in place of texts as well. */
  summary?: Loose[];
  /** Other fields, unchanged: `extra_content`. */
  fields?: Loose;
}

/**
 * The data to be returned, as a proof.
 *
 * @param call id of the call that it belongs to
 */
export function replayProof(replay: Replay, call?: string): Proof {
  return {
    api: "chat_completions",
    kind: "details",
    data: JSON.stringify(replay),
    ...(call !== undefined && { call }),
  };
}

/** The inverse; undefined for proofs of other APIs. */
export function readReplay(proof: Proof | undefined): Replay | undefined {
  if (proof?.api !== "chat_completions" || proof.kind !== "details") return undefined;
  const value = object(parse(proof.data));
  const field = value.field;
  return {
    ...((field === "content" || isTextField(field)) && { field }),
    ...(Array.isArray(value.details) && { details: value.details.filter(isObject) }),
    ...(Array.isArray(value.blocks) && { blocks: value.blocks.filter(isObject) }),
    ...(Array.isArray(value.summary) && { summary: value.summary.filter(isObject) }),
    ...(isObject(value.fields) && { fields: value.fields }),
  };
}

/** Fields other than `reasoning*` that Google's compatible API expects unchanged. */
export function signedFields(value: Loose): Loose | undefined {
  let found: Loose | undefined;
  if (
    isObject(value.extra_content) && Object.keys(value.extra_content).length > 0 && !holdsCallProofs(value)
  ) {
    found = { extra_content: value.extra_content };
  }
  for (const name of SIGNATURES) {
    if (typeof value[name] === "string" && value[name] !== "") found = { ...found, [name]: value[name] };
  }
  return found;
}

const SIGNATURES = ["thought_signature", "reasoning_opaque"] as const;
export const SIGNED_FIELDS = ["extra_content", ...SIGNATURES];

const TEXT_OF: Readonly<Record<string, "text" | "summary">> = {
  "reasoning.text": "text",
  "reasoning.summary": "summary",
};

/** The field with an entry's visible text, if any. */
export function textKey(entry: Loose): "text" | "summary" | undefined {
  const key = typeof entry.type === "string" && Object.hasOwn(TEXT_OF, entry.type)
    ? TEXT_OF[entry.type]
    : undefined;
  return key && typeof entry[key] === "string" ? key : undefined;
}

/** How many entries back a piece may belong: limits the cost for a hostile list. */
export const LOOK_BACK = 8;

/**
 * Adds a piece to a list of details, and returns the entry that it became part of. Providers stream an entry
 * in pieces with the same type and index, the signature last; some clients return the pieces unmerged.
 */
export function addDetail(details: Loose[], piece: Loose): Loose {
  const key = textKey(piece);
  for (let i = details.length - 1; i >= 0 && i >= details.length - LOOK_BACK; i--) {
    const entry = details[i];
    if (entry.type !== piece.type || entry.index !== piece.index || entry.type === "reasoning.encrypted") {
      continue;
    }
    if (typeof entry.signature === "string" && entry.signature !== "") break;
    const text = key ? `${string(entry[key]) ?? ""}${piece[key]}` : undefined;
    for (const name of Object.keys(piece)) {
      const value = piece[name];
      if (name !== key && name !== "__proto__" && value !== null && value !== "") entry[name] = value;
    }
    if (key) entry[key] = text;
    return entry;
  }
  const entry = { ...piece };
  details.push(entry);
  return entry;
}

/** {@link Replay.blocks} or {@link Replay.summary} with their texts, which are in a field of this name. */
export function joinBlocks(blocks: readonly Loose[], text: string, name: "thinking" | "text"): Loose[] {
  let at = 0;
  return blocks.map((block) => {
    const length = block[name];
    return typeof length === "number" ? { ...block, [name]: text.slice(at, at += length) } : block;
  });
}

/** The entries without texts, and the texts. */
export function splitDetails(details: readonly Loose[]): { stripped: Loose[]; sections: string[] } {
  const sections: string[] = [];
  const stripped = details.map((entry) => {
    const key = textKey(entry);
    if (!key) return entry;
    sections.push(entry[key] as string);
    return { ...entry, [key]: "" };
  });
  return { stripped, sections: sections.some((s) => s !== "") ? sections : [] };
}
