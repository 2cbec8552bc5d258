/**
 * What messages and deltas of this API say about reasoning, for the files that decode and encode it.
 *
 * The API has no official place for it; its dialects have four: `reasoning_content`, `reasoning`, `reasoning_details` (a
 * list whose entries hold text, summaries, signatures or encrypted data) and thinking parts inside `content`. What a
 * provider of this API wants back is a {@link Replay}, and travels as the proof of the reasoning. Proofs of other APIs
 * travel sealed in `reasoning_details`, which is where clients of this API keep such things.
 */
import { isObject, type Loose, object, parse, string } from "../../exchange/json.ts";
import type { Proof } from "../../exchange/proof.ts";
import { holdsCallProofs } from "./call_proofs.ts";

/** The message's own way of showing reasoning. `content`: as a thinking part of it. */
export type ReasoningField = "reasoning_content" | "reasoning" | "content";

/** What a provider of this API wants back on the assistant's message, or on the tool call. */
export interface Replay {
  field?: ReasoningField;
  /** `reasoning_details` without their texts, which are the reasoning's sections: they may be masked on the way. */
  details?: Loose[];
  /** `thinking_blocks` of LiteLLM. The text of each stands in that of the reasoning, and here its number of characters. */
  blocks?: Loose[];
  /** Other fields, as they came: `extra_content`. */
  fields?: Loose;
}

/**
 * What the server is to get back, as a proof.
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

/** The reverse; undefined for proofs of other servers. */
export function readReplay(proof: Proof | undefined): Replay | undefined {
  if (proof?.api !== "chat_completions" || proof.kind !== "details") return undefined;
  const value = object(parse(proof.data));
  const field = value.field;
  return {
    ...((field === "reasoning_content" || field === "reasoning" || field === "content") && { field }),
    ...(Array.isArray(value.details) && { details: value.details.filter(isObject) }),
    ...(Array.isArray(value.blocks) && { blocks: value.blocks.filter(isObject) }),
    ...(isObject(value.fields) && { fields: value.fields }),
  };
}

/** Fields outside `reasoning*` that Google's compatible API wants back unchanged. */
export function signedFields(value: Loose): Loose | undefined {
  let found: Loose | undefined;
  if (
    isObject(value.extra_content) && Object.keys(value.extra_content).length > 0 && !holdsCallProofs(value)
  ) {
    found = { extra_content: value.extra_content };
  }
  if (typeof value.thought_signature === "string" && value.thought_signature !== "") {
    found = { ...found, thought_signature: value.thought_signature };
  }
  return found;
}

export const SIGNED_FIELDS = ["extra_content", "thought_signature"];

const TEXT_OF: Readonly<Record<string, "text" | "summary">> = {
  "reasoning.text": "text",
  "reasoning.summary": "summary",
};

/** The key that holds an entry's visible text, when it has one. */
export function textKey(entry: Loose): "text" | "summary" | undefined {
  const key = typeof entry.type === "string" && Object.hasOwn(TEXT_OF, entry.type)
    ? TEXT_OF[entry.type]
    : undefined;
  return key && typeof entry[key] === "string" ? key : undefined;
}

/** How many entries back a piece may belong: a hostile list must not cost its square. */
export const LOOK_BACK = 8;

/**
 * Adds a piece to a list of details, and returns the entry it became part of. Providers stream an entry in pieces of one
 * type and index, the signature last; naive clients send the pieces back as they came.
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

/** {@link Replay.blocks} with their texts. */
export function joinBlocks(blocks: readonly Loose[], text: string): Loose[] {
  let at = 0;
  return blocks.map((block) =>
    typeof block.thinking === "number" ? { ...block, thinking: text.slice(at, at += block.thinking) } : block
  );
}

/** The entries without their texts, and the texts. */
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
