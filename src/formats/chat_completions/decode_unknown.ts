/**
 * Fields of an answer that the vocabulary does not have, for callers of this format: of the whole answer
 * (`search_results`, `provider`), of a choice (`seed`, `stop_reason`) and of a message (`executed_tools`).
 *
 * The pieces of a streamed message field are combined as by the official Python client, and passed on once,
 * complete: only a complete text can be screened, and other clients keep only the last piece of such a field.
 */
import { isNumber, isObject, type Loose, rest } from "../../exchange/json.ts";

/**
 * Fields of the answer that are decoded, or that the gateway has itself: `extra` has its findings, and `usage`
 * its counts. `obfuscation` and `p` are padding.
 */
const ANSWER: ReadonlySet<string> = new Set([
  "id",
  "object",
  "created",
  "model",
  "choices",
  "usage",
  "error",
  "errors",
  "service_tier",
  "system_fingerprint",
  "prompt_filter_results",
  "moderation",
  "extra",
  "obfuscation",
  "p",
]);

/**
 * `answer` in the fields of a choice has those of the answer that came after its start. `text` is a copy of the content
 * for clients of the older completions API.
 */
const CHOICE: ReadonlySet<string> = new Set([
  "index",
  "delta",
  "message",
  "logprobs",
  "finish_reason",
  "usage",
  "error",
  "answer",
  "text",
]);

const MESSAGE: ReadonlySet<string> = new Set([
  "role",
  "content",
  "refusal",
  "reasoning",
  "reasoning_content",
  "reasoning_text",
  "reasoning_details",
  "reasoning_opaque",
  "thinking_blocks",
  "thought_signature",
  "extra_content",
  "annotations",
  "audio",
  "images",
  "tool_calls",
  "function_call",
]);

const CALL: ReadonlySet<string> = new Set([
  "index",
  "id",
  "type",
  "function",
  "custom",
  "extra_content",
  "thought_signature",
  "reasoning_opaque",
]);

export const unknownOfAnswer = (chunk: Loose) => filled(rest(chunk, ANSWER));
export const unknownOfChoice = (choice: Loose) => filled(rest(choice, CHOICE));
export const unknownOfCall = (call: Loose) => filled(rest(call, CALL));

export function unknownOfMessage(delta: Loose): Loose | undefined {
  const fields = rest(delta, MESSAGE);
  // LiteLLM has copies of the reasoning in it.
  const inner = fields?.provider_specific_fields;
  if (isObject(inner)) fields!.provider_specific_fields = rest(inner, MESSAGE) ?? null;
  return filled(fields);
}

/** Without empty values, with which some servers fill the fields that they do not use. */
function filled(fields: Loose | undefined): Loose | undefined {
  let some: Loose | undefined;
  for (const name in fields) {
    const value = fields[name];
    if (value === null || value === "" || name === "__proto__") continue;
    if (isObject(value) && Object.keys(value).length === 0) continue;
    (some ??= {})[name] = value;
  }
  return some;
}

/** Counts buffered text. */
type Hold = (text: string) => void;

/**
 * Adds fields; of each, the last value counts.
 * @param lists those of the answer are repeated, those of a choice are in pieces (`token_ids` of vLLM)
 */
export function keepLast(
  known: Loose | undefined,
  fields: Loose,
  lists: "repeated" | "in pieces",
  hold: Hold,
): Loose {
  const all = known ?? {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    const isPiece = lists === "in pieces" && Array.isArray(value);
    if (isPiece || !Object.hasOwn(all, name)) hold(JSON.stringify([name, value]));
    all[name] = isPiece ? joined(all[name], value) : value;
  }
  return all;
}

/** A text whose pieces are all equal is a repetition. */
interface Text {
  pieces: string[];
  repeats: boolean;
}

/** Combines the unknown fields of the deltas of a message. */
export class GatheredFields {
  readonly #values = new Map<string, unknown>();
  readonly #texts = new Map<string, Text>();

  add(fields: Loose, hold: Hold): void {
    for (const name of Object.keys(fields)) {
      const value = fields[name];
      hold(typeof value === "string" ? value : JSON.stringify(value));
      if (typeof value === "string") this.#addText(name, value);
      else this.#values.set(name, joined(this.#values.get(name), value));
    }
  }

  #addText(name: string, piece: string): void {
    const text = this.#texts.get(name);
    if (text === undefined) this.#texts.set(name, { pieces: [piece], repeats: true });
    else {
      text.repeats &&= piece === text.pieces[0];
      text.pieces.push(piece);
    }
  }

  /** All fields. */
  get fields(): Loose {
    const fields: Loose = Object.fromEntries(this.#values);
    for (const [name, { pieces, repeats }] of this.#texts) {
      fields[name] = repeats ? pieces[0] : pieces.join("");
    }
    return fields;
  }
}

/** How many entries back a piece may belong: limits the cost for a hostile list. */
const LOOK_BACK = 100;

/** Lists are appended, with entries of the same `index` as one, and objects are merged; of other values the last one counts. */
function joined(before: unknown, value: unknown): unknown {
  if (isObject(before) && isObject(value) && !isNumber(before) && !isNumber(value)) {
    // Not a copy: there may be as many deltas as fields.
    for (const name of Object.keys(value)) if (name !== "__proto__") before[name] = value[name];
    return before;
  }
  if (!Array.isArray(before) || !Array.isArray(value)) return value;
  const list = before;
  for (const entry of value) {
    const index = isObject(entry) ? entry.index : undefined;
    const at = index === undefined ? -1 : placeOf(list, index);
    if (at < 0) list.push(entry);
    else list[at] = { ...list[at], ...entry };
  }
  return list;
}

/** The place of the last entry with an index; -1: none. */
function placeOf(list: readonly unknown[], index: unknown): number {
  for (let i = list.length - 1; i >= 0 && i >= list.length - LOOK_BACK; i--) {
    const one = list[i];
    if (isObject(one) && one.index === index) return i;
  }
  return -1;
}
