/** Decodes reasoning in a provider's deltas, from all fields used by dialects. */
import { isObject, type Loose, string } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import {
  type AnswerState,
  closeReasoning,
  closeText,
  hold,
  type OpenChoice,
  type OpenReasoning,
  readSigned,
} from "./decode_state.ts";
import {
  addDetail,
  LOOK_BACK,
  type ReasoningField,
  signedFields,
  TEXT_FIELDS,
  type TextField,
  textKey,
} from "./reasoning.ts";

/** Adds the reasoning of a delta. */
export function readReasoning(state: AnswerState, choice: OpenChoice, delta: Loose, out: Part[]): void {
  const field: ReasoningField | undefined = textFieldOf(delta);
  const text = field === undefined ? "" : delta[field] as string;
  const details = delta.reasoning_details;
  if (Array.isArray(details) && details.length > 0) {
    const entries = details.filter(isObject);
    const texts = entries.filter((entry) => textKey(entry) !== undefined);
    const summary = texts.length > 0 && texts.every((entry) => entry.type === "reasoning.summary");
    const open = choice.reasoning ?? start(state, choice, field, texts.length > 0, summary, out);
    for (const entry of entries) readDetail(state, choice, open, entry, text !== "", out);
  }
  if (text !== "") {
    const listed = Array.isArray(delta.thinking_blocks);
    const open = choice.reasoning ?? start(state, choice, field, listed, false, out);
    open.field ??= field;
    choice.source ??= "string";
    if (choice.source === "string") {
      open.spoken = true;
      const section = Math.max(0, sectionsBefore(open) - 1);
      out.push({ type: "reasoning-delta", block: open.block, section, text });
    }
  }
  if (Array.isArray(delta.thinking_blocks)) readThinkingBlocks(state, choice, delta.thinking_blocks, out);
  const signed = signedFields(delta);
  if (signed) {
    closeReasoning(choice, out);
    readSigned(state, choice, signed, undefined, out);
  }
}

/** The first of the fields that has a text. */
function textFieldOf(delta: Loose): TextField | undefined {
  for (const name of TEXT_FIELDS) if (string(delta[name])) return name;
  return undefined;
}

/**
 * LiteLLM's copy of Claude's thinking, whose signatures must be returned. Its text is that of
 * `reasoning_content`.
 */
function readThinkingBlocks(state: AnswerState, choice: OpenChoice, pieces: unknown[], out: Part[]): void {
  for (const piece of pieces) {
    if (!isObject(piece)) continue;
    const open = choice.reasoning ?? start(state, choice, undefined, true, false, out);
    const blocks = open.blocks ??= [];
    const last = blocks.at(-1);
    const signature = string(piece.signature) ?? "";
    hold(state, signature || string(piece.data) || "");
    if (piece.type !== "thinking") blocks.push(piece);
    else {
      const thinking = (string(piece.thinking) ?? "").length;
      if (last?.type === "thinking" && !last.signature) {
        const before = last.thinking as number;
        blocks[blocks.length - 1] = { ...last, thinking: before + thinking, signature };
      } else blocks.push({ ...piece, thinking, signature });
    }
  }
}

/**
 * A `reasoning` part of `content` (Databricks): pieces of the text, the signature last, or encrypted text.
 */
export function readSummary(state: AnswerState, choice: OpenChoice, pieces: unknown[], out: Part[]): void {
  for (const piece of pieces) {
    if (!isObject(piece)) continue;
    const text = string(piece.text) ?? "";
    const signature = string(piece.signature) ?? "";
    if (text !== "") readThinking(state, choice, text, undefined, out);
    else if (signature === "" && !string(piece.data)) continue;
    const open = choice.reasoning ?? start(state, choice, undefined, true, true, out);
    const summary = open.summary ??= [];
    const last = summary.at(-1);
    hold(state, signature || string(piece.data) || "");
    if (piece.type !== "summary_text") summary.push(piece);
    else if (last?.type === "summary_text" && (!last.signature || last.signature === signature)) {
      summary[summary.length - 1] = { ...last, text: last.text as number + text.length, signature };
    } else summary.push({ ...piece, text: text.length, signature });
  }
}

/** @param inField the delta repeats the text in `reasoning_content` or `reasoning` */
function readDetail(
  state: AnswerState,
  choice: OpenChoice,
  open: OpenReasoning,
  entry: Loose,
  inField: boolean,
  out: Part[],
): void {
  const key = textKey(entry);
  const words = key ? entry[key] as string : "";
  hold(state, words || string(entry.data) || "");
  const kept = addDetail(open.details, entry);
  if (words === "" || inField || choice.source === "string") return;
  choice.source = "details";
  open.spoken = true;
  out.push({
    type: "reasoning-delta",
    block: open.block,
    section: sectionsBefore(open, kept),
    text: words,
  });
}

/**
 * Number of entries with text before one of the last {@link LOOK_BACK}, or in total. Earlier entries do not
 * change any more.
 */
function sectionsBefore(open: OpenReasoning, entry?: Loose): number {
  const { details, settled } = open;
  for (; settled.entries < details.length - LOOK_BACK; settled.entries++) {
    if (textKey(details[settled.entries]) !== undefined) settled.texts++;
  }
  let section = settled.texts;
  for (let i = settled.entries; i < details.length && details[i] !== entry; i++) {
    if (textKey(details[i]) !== undefined) section++;
  }
  return section;
}

/**
 * A thinking part of `content`, or its summary.
 *
 * @param field where the provider expects it in the next request; undefined: nowhere
 */
export function readThinking(
  state: AnswerState,
  choice: OpenChoice,
  text: string,
  field: ReasoningField | undefined,
  out: Part[],
): void {
  const isSummary = field === undefined;
  const open = choice.reasoning ?? start(state, choice, field, isSummary, isSummary, out);
  open.spoken = true;
  out.push({ type: "reasoning-delta", block: open.block, section: 0, text });
}

/**
 * @param details the provider sends texts in `reasoning_details` or `thinking_blocks`, so callers of this API
 * get them there
 */
function start(
  state: AnswerState,
  choice: OpenChoice,
  field: ReasoningField | undefined,
  details: boolean,
  summary: boolean,
  out: Part[],
): OpenReasoning {
  closeText(choice, out);
  const open: OpenReasoning = {
    block: state.nextBlock++,
    field,
    details: [],
    settled: { entries: 0, texts: 0 },
    spoken: false,
  };
  choice.reasoning = open;
  out.push({
    type: "reasoning-start",
    block: open.block,
    choice: choice.index,
    kind: summary ? "summary" : "text",
    extra: { format: "chat_completions", fields: { ...(field && { field }), details } },
  });
  return open;
}
