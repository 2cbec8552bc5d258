/** State of the decoding of one answer: the blocks of each choice that are open, and the counts that all choices share. */
import { isObject, type Loose, parse } from "../../exchange/json.ts";
import type { FinishReason, Part, TokenLogprob } from "../../exchange/part.ts";
import { brokenAnswer } from "../decode_failure.ts";
import { type ReasoningField, type Replay, replayProof, splitDetails } from "./reasoning.ts";

/** Most characters held of one answer: arguments, reasoning details, sound. */
const MOST_HELD = 64 * 1024 * 1024;

export interface OpenCall {
  block: number;
  /** Its place among the calls of its choice. */
  place: number;
  id: string;
  name: string;
  kind: "function" | "custom";
  /** Fields that the provider wants back with the call, when they came before its name. */
  signed?: Loose;
  started: boolean;
  ended: boolean;
  /** The id changed while the arguments were being written: this provider's ids say nothing. */
  idVaries: boolean;
  /** Argument pieces: not yet passed on until the name is known; then kept to know when they are whole. */
  pieces: string[];
}

export interface OpenReasoning {
  block: number;
  field: ReasoningField | undefined;
  details: Loose[];
  /** As {@link Replay.blocks}. */
  blocks?: Loose[];
  /** Of the first entries of `details`, which no piece changes any more: their number, and how many of them have a text. */
  settled: { entries: number; texts: number };
  /** Some text was passed on from this block. */
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
   * Where the visible reasoning comes from. Dialects with details repeat it in both places, at once or all of it at the
   * end.
   */
  source?: "string" | "details";
  calls: OpenCall[];
  byKey: Map<number | string, OpenCall>;
  byId: Map<string, OpenCall>;
  current?: OpenCall;
  said: boolean;
  refused: boolean;
  /** Addresses that annotations named. */
  cited: Set<string>;
  finish?: FinishReason;
  sequence?: string;
  finishFields?: Loose;
  sound?: OpenSound;
}

/** State that all choices of an answer share. */
export interface AnswerState {
  nextBlock: number;
  /** Characters held. */
  held: number;
  /** The provider's id of the answer. */
  id: string;
}

/** The state of a choice of which nothing has come. */
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

/** Counts what is kept in memory. */
export function hold(state: AnswerState, text: string): void {
  state.held += text.length;
  if (state.held > MOST_HELD) throw brokenAnswer(`it is over ${MOST_HELD} characters`);
}

/** Adds text or a refusal to the choice; reasoning that is open ends. */
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

/** Starts a block of text. */
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

/** Ends the block of text that is open, if any. */
export function closeText(choice: OpenChoice, out: Part[]): void {
  if (!choice.text) return;
  out.push({ type: "text-end", block: choice.text.block });
  choice.text = undefined;
}

/** Ends the block of reasoning that is open, if any, with its proof. */
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
  out.push({ type: "reasoning-end", block: open.block, proof: replayProof(replay) });
}

/** Fields that the provider wants back, as reasoning without text; of a call, when they came after its start. */
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

/** Whether the arguments so far are a whole JSON object, so that nothing can follow. */
export function isWhole(call: OpenCall): boolean {
  if (call.kind !== "function" || !call.pieces.at(-1)?.trimEnd().endsWith("}")) return false;
  return isObject(parse(call.pieces.join("")));
}
