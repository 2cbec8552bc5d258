/**
 * Reasoning in messages and deltas, both ways.
 *
 * The API has no official place for it; its dialects have four: `reasoning_content`, `reasoning`, `reasoning_details` (a
 * list whose entries hold text, summaries, signatures or encrypted data) and thinking parts inside `content`. What a
 * provider of this API wants back is a {@link Replay}, and travels as the proof of the reasoning. Proofs of other APIs
 * travel sealed in `reasoning_details`, which is where clients of this API keep such things.
 */
import { array, isObject, type Loose, object, parse, string } from "../../exchange/json.ts";
import type { FormatName, ReasoningContent } from "../../exchange/prompt.ts";
import { isSealed, type Proof, type Seal, type Unseal } from "../../exchange/proof.ts";

const FORMAT: FormatName = "chat_completions";

/** The message's own way of showing reasoning. `content`: as a thinking part of it. */
export type ReasoningField = "reasoning_content" | "reasoning" | "content";

/** What a provider of this API wants back on the assistant's message, or on the tool call. */
export interface Replay {
  field?: ReasoningField;
  /** `reasoning_details` without their texts, which are the reasoning's sections: they may be masked on the way. */
  details?: Loose[];
  /** Other fields, as they came: `extra_content`. */
  fields?: Loose;
}

export function replayProof(replay: Replay, call?: string): Proof {
  return { api: FORMAT, kind: "details", data: JSON.stringify(replay), ...(call !== undefined && { call }) };
}

export function readReplay(proof: Proof | undefined): Replay | undefined {
  if (proof?.api !== FORMAT || proof.kind !== "details") return undefined;
  const value = object(parse(proof.data));
  const field = value.field;
  return {
    ...((field === "reasoning_content" || field === "reasoning" || field === "content") && { field }),
    ...(Array.isArray(value.details) && { details: value.details.filter(isObject) }),
    ...(isObject(value.fields) && { fields: value.fields }),
  };
}

/** Fields outside `reasoning*` that Google's compatible API wants back unchanged. */
export function signedFields(value: Loose): Loose | undefined {
  let found: Loose | undefined;
  if (isObject(value.extra_content) && Object.keys(value.extra_content).length > 0) {
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
const LOOK_BACK = 8;

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

/** The reverse of {@link splitDetails}. Texts that came back in another number of pieces go into the first entry. */
function joinDetails(stripped: readonly Loose[], sections: readonly string[]): readonly Loose[] {
  // They were not shown, so they were not taken out.
  if (sections.length === 0) return stripped;
  const places = stripped.filter((entry) => textKey(entry) !== undefined).length;
  const texts = sections.length === places ? sections : [sections.join("")];
  let next = 0;
  return stripped.map((entry) => {
    const key = textKey(entry);
    return key ? { ...entry, [key]: texts[next++] ?? "" } : entry;
  });
}

/**
 * The reasoning of an assistant message that a caller sends back. A caller that got both text fields sends both: the
 * first one is the one that the provider uses, because {@link textFields} writes it first.
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
      // A summary stands in an entry of its own, before the one with its proof.
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

  const shown = contents.some((c) => c.sections.length > 0);
  if (raw.length > 0) {
    const { stripped, sections } = splitDetails(raw);
    contents.push({
      type: "reasoning",
      sections: sections.length > 0 || shown || text === "" ? sections : [text],
      kind: raw.some((entry) => entry.type === "reasoning.summary") ? "summary" : "text",
      proof: replayProof({ ...(field && { field }), details: stripped }),
    });
  } else if (text !== "" && !shown) {
    contents.unshift({ type: "reasoning", sections: [text], kind: "text", proof: replayProof({ field }) });
  }
  const signed = signedFields(message);
  if (signed) {
    contents.push({ type: "reasoning", sections: [], kind: "text", proof: replayProof({ fields: signed }) });
  }
  return contents;
}

/** Where an entry carries a proof. */
function tokenOf(entry: Loose): string | undefined {
  return string(entry.signature) || string(entry.data);
}

function firstTextField(message: Loose): "reasoning_content" | "reasoning" | undefined {
  for (const name in message) {
    if ((name === "reasoning_content" || name === "reasoning") && message[name]) {
      if (typeof message[name] === "string") return name;
    }
  }
}

/**
 * The message fields that give reasoning back to a provider. Reasoning of another origin has no field that every
 * provider takes (Groq and Cerebras refuse `reasoning_content`, DeepSeek refuses a tool call without it), so it goes out
 * only where one is known to be demanded: `foreign` says so.
 */
export function encodeReasoning(
  contents: readonly ReasoningContent[],
  foreign: boolean,
): { fields: Loose; parts: Loose[] } {
  let fields: Loose = {};
  const parts: Loose[] = [];
  const details: Loose[] = [];
  for (const content of contents) {
    const replay = readReplay(content.proof);
    const text = replay ? content.sections.join("") : joinSections(content.sections);
    const field = replay ? replay.field : foreign ? "reasoning_content" : undefined;
    if (field === "content") {
      const bag = content.extra?.format === FORMAT ? content.extra.fields : undefined;
      parts.push({ ...bag, type: "thinking", thinking: [{ type: "text", text }] });
    } else if (field && text !== "") fields[field] = `${string(fields[field]) ?? ""}${text}`;
    if (replay?.details) details.push(...joinDetails(replay.details, content.sections));
    if (replay?.fields) fields = { ...fields, ...replay.fields };
  }
  if (details.length > 0) fields.reasoning_details = details;
  return { fields, parts };
}

/** `format` of details entries, as the field names the APIs behind them. */
const DETAIL_FORMATS: Readonly<Record<FormatName, string>> = {
  messages: "anthropic-claude-v1",
  responses: "openai-responses-v1",
  gemini: "google-gemini-v1",
  chat_completions: "unknown",
};

/**
 * What a proof adds to the caller's message: entries of `reasoning_details` from index `slot` on, with the texts that
 * belong to it, or fields of the message.
 */
export function encodeDetails(
  proof: Proof,
  kind: "text" | "summary",
  sections: readonly string[],
  slot: number,
  seal: Seal,
): { details: Loose[]; fields?: Loose } {
  const replay = readReplay(proof);
  if (replay) {
    let texts = 0;
    const details = joinDetails(replay.details ?? [], sections).map((entry) => ({
      ...entry,
      index: slot + (textKey(entry) ? texts++ : Math.max(texts - 1, 0)),
    }));
    return { details, ...(replay.fields && { fields: replay.fields }) };
  }
  const id = proof.call ?? proof.id;
  const marks = { format: DETAIL_FORMATS[proof.api], ...(id !== undefined && { id }), index: slot };
  const text = joinSections(sections);
  const token = seal(proof);
  if (text === "") return { details: [{ type: "reasoning.encrypted", data: token, ...marks }] };
  if (kind === "text") return { details: [{ type: "reasoning.text", text, signature: token, ...marks }] };
  const { id: _, ...summary } = marks as Loose;
  return {
    details: [
      { type: "reasoning.summary", summary: text, ...summary },
      { type: "reasoning.encrypted", data: token, ...marks },
    ],
  };
}

/** Sections are paragraphs. */
function joinSections(sections: readonly string[]): string {
  return sections.filter((section) => section !== "").join("\n\n");
}

/**
 * One text under both names that clients read. `reasoning_content` is read by AI SDK and DeepSeek's clients, `reasoning`
 * by OpenRouter's; those that know both read the first they find. The provider's own name comes first, so that a client
 * that sends the message back as it is tells us which one to use.
 */
export function textFields(
  field: ReasoningField | undefined,
): readonly ["reasoning_content" | "reasoning", "reasoning_content" | "reasoning"] {
  return field === "reasoning" ? ["reasoning", "reasoning_content"] : ["reasoning_content", "reasoning"];
}
