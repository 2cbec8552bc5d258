/** Decoder state for one answer: open blocks per choice, and counters shared by all choices. */
import { isObject, type Loose, parse } from "../../exchange/json.ts";
import type { FinishReason, Part, TokenLogprob } from "../../exchange/part.ts";
import { brokenAnswer } from "../failures/decode_failure.ts";
import type { GatheredFields } from "./decode_unknown.ts";
import { type ReasoningField, type Replay, replayProof, splitDetails } from "./reasoning.ts";

/** Maximum number of buffered characters: arguments, reasoning details, audio. */
const MOST_HELD = 64 * 1024 * 1024;

export interface OpenCall {
  block: number;
  /** Its index among the calls of its choice. */
  place: number;
  id: string;
  name: string;
  kind: "function" | "custom";
  /** Fields that the provider expects to be returned with the call, if they arrived before its name. */
  signed?: Loose;
  /** Fields that the vocabulary does not have. */
  unknown?: Loose;
  started: boolean;
  ended: boolean;
  /** The id changed between deltas of the same call: this provider's ids are meaningless. */
  idVaries: boolean;
  /** Pieces of the arguments: buffered until the name is known; afterwards kept to detect completeness. */
  pieces: string[];
}

export interface OpenReasoning {
  block: number;
  field: ReasoningField | undefined;
  details: Loose[];
  /** As {@link Replay.blocks}. */
  blocks?: Loose[];
  /** As {@link Replay.summary}. */
  summary?: Loose[];
  /** Number of leading entries of `details` that cannot change any more, and how many of them have a text. */
  settled: { entries: number; texts: number };
  /** Some text of this block was passed on. */
  spoken: boolean;
}

interface OpenSound {
  pieces: string[];
  transcript: string[];
  id?: string;
  expires?: number;
}

export interface OpenChoice {
  index: number;
  text?: { block: number; refusal: boolean };
  reasoning?: OpenReasoning;
  /**
   * The field from which visible reasoning is taken. Dialects with details repeat it in both fields, at once
   * or completely at the end.
   */
  source?: "string" | "details";
  calls: OpenCall[];
  byKey: Map<number | string, OpenCall>;
  byId: Map<string, OpenCall>;
  current?: OpenCall;
  said: boolean;
  refused: boolean;
  /** URLs in annotations. */
  cited: Set<string>;
  finish?: FinishReason;
  /** Text followed the finish reason. */
  wentOn?: boolean;
  sequence?: string;
  finishFields?: Loose;
  /** Fields of the message that the vocabulary does not have. */
  unknown?: GatheredFields;
  sound?: OpenSound;
}

/** State shared by all choices of an answer. */
export interface AnswerState {
  nextBlock: number;
  /** Number of buffered characters. */
  held: number;
  /** The provider's id of the answer. */
  id: string;
}

/** The initial state of a choice. */
export function openChoice(index: number): OpenChoice {
  return {
    index,
    calls: [],
    byKey: new Map(),
    byId: new Map(),
    said: false,
    refused: false,
    cited: new Set(),
  };
}

/** Counts buffered text. */
export function hold(state: AnswerState, text: string): void {
  state.held += text.length;
  if (state.held > MOST_HELD) throw brokenAnswer(`it is over ${MOST_HELD} characters`);
}

/** Adds text or a refusal to the choice; ends open reasoning. */
export function pushText(
  state: AnswerState,
  choice: OpenChoice,
  text: string,
  refusal: boolean,
  logprobs: TokenLogprob[] | undefined,
  out: Part[],
): void {
  if (choice.reasoning && text !== "") closeReasoning(choice, out);
  if (choice.text && choice.text.refusal !== refusal) closeText(choice, out);
  const { block } = choice.text ?? openText(state, choice, refusal, out);
  if (refusal) choice.refused = true;
  else choice.said = true;
  out.push(logprobs ? { type: "text-delta", block, text, logprobs } : { type: "text-delta", block, text });
}

/** Starts a text block. */
export function openText(
  state: AnswerState,
  choice: OpenChoice,
  refusal: boolean,
  out: Part[],
): { block: number; refusal: boolean } {
  const text = { block: state.nextBlock++, refusal };
  choice.text = text;
  out.push({ type: "text-start", block: text.block, choice: choice.index, ...(refusal && { refusal }) });
  return text;
}

/** Ends the open text block, if any. */
export function closeText(choice: OpenChoice, out: Part[]): void {
  if (!choice.text) return;
  out.push({ type: "text-end", block: choice.text.block });
  choice.text = undefined;
}

/** Ends the open reasoning block, if any, with its proof. */
export function closeReasoning(choice: OpenChoice, out: Part[]): void {
  const open = choice.reasoning;
  if (!open) return;
  choice.reasoning = undefined;
  const replay: Replay = {};
  if (open.field) replay.field = open.field;
  if (open.details.length > 0) {
    replay.details = open.spoken ? splitDetails(open.details).stripped : open.details;
  }
  if (open.blocks) replay.blocks = open.blocks;
  if (open.summary?.some(isProof)) replay.summary = open.summary;
  out.push({ type: "reasoning-end", block: open.block, proof: replayProof(replay) });
}

function isProof({ signature, data }: Loose): boolean {
  return Boolean(signature || data);
}

/**
 * Fields that the provider expects to be returned, as reasoning without text; for a call, if they arrived
 * after its start.
 */
export function readSigned(
  state: AnswerState,
  choice: OpenChoice,
  fields: Loose,
  call: string | undefined,
  out: Part[],
): void {
  const block = state.nextBlock++;
  const extra = { format: "chat_completions", fields: { details: false } } as const;
  out.push({ type: "reasoning-start", block, choice: choice.index, kind: "text", extra });
  out.push({ type: "reasoning-end", block, proof: replayProof({ fields }, call) });
}

/** Whether the arguments so far are a complete JSON object. */
export function isWhole(call: OpenCall): boolean {
  if (call.kind !== "function" || !call.pieces.at(-1)?.trimEnd().endsWith("}")) return false;
  return isObject(parse(call.pieces.join("")));
}
