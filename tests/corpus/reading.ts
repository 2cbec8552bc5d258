/**
 * What a recording says, read by hand-written rules from the provider's wire alone: text, reasoning, tool calls, why it
 * stopped, what it cites, what it cost. The gateway's own codecs are deliberately not used, so that a mistake in one of
 * them cannot hide in the expectation.
 *
 * A stream is read up to its first end marker: some recordings hold several answers one after the other.
 */
import { readChat } from "./read_chat.ts";
import { readGemini } from "./read_gemini.ts";
import { readMessages } from "./read_messages.ts";
import { readResponses } from "./read_responses.ts";
import type { Recording } from "../support/recordings.ts";
import type { Wild } from "./wild.ts";

export interface CallReading {
  name: string;
  /** JSON text, or the freeform text of a custom tool. */
  arguments: string;
  custom: boolean;
}

/** Why an answer ended, in words of no format. */
export type Stop =
  | "stop"
  | "tool-calls"
  | "stop-sequence"
  | "length"
  | "content-filter"
  | "refusal"
  | "pause";

export interface Cited {
  url: string;
  title?: string;
}

export interface ChoiceReading {
  text: string;
  /** What the model said instead of an answer. */
  refusal: string;
  /** A provider's own words for why it withheld the answer: may be shown as a refusal. */
  explanation: string;
  /** In order of appearance; separate reasoning blocks and summary parts apart. */
  reasoning: string[];
  calls: CallReading[];
  /** The first is what the wire means; any of the others is a fair reading too. */
  stops: Stop[];
  citations: Cited[];
  /** Addresses that an answer may also name: search hits that no sentence cites. */
  mayCite: string[];
}

/** Canonical counts, as far as every provider has them. */
export interface Counts {
  input: number;
  cached: number;
  cacheWrite: number;
  output: number;
  reasoning: number;
}

export interface AnswerReading {
  kind: "answer";
  choices: ChoiceReading[];
  /** Types of the wire's items or blocks, in order; undefined for an API that has none. */
  kinds?: string[];
  /** Web searches that the provider ran and counted. */
  searches?: number;
  /** Null: the provider told none. */
  usage: Counts | null;
  /** Another fair reading of the output count. */
  outputToo?: number;
}
/** The provider failed after HTTP 200. */
export interface ErrorReading {
  kind: "error";
  /** All that it says, for the table of codes. */
  said: string;
}
export type Reading = AnswerReading | ErrorReading;

export function readRecording(recording: Recording): Reading {
  switch (recording.api) {
    case "openai-chat":
      return readChat(recording);
    case "openai-responses":
      return readResponses(recording);
    case "anthropic-messages":
      return readMessages(recording);
    case "gemini-generate":
      return readGemini(recording);
  }
}

export function choice(): ChoiceReading {
  return {
    text: "",
    refusal: "",
    explanation: "",
    reasoning: [],
    calls: [],
    stops: ["stop"],
    citations: [],
    mayCite: [],
  };
}

/** Parts never above their totals. */
export function counts(c: Partial<Counts>): Counts {
  const input = c.input ?? 0;
  const output = c.output ?? 0;
  const cached = Math.min(c.cached ?? 0, input);
  return {
    input,
    cached,
    cacheWrite: Math.min(c.cacheWrite ?? 0, input - cached),
    output,
    reasoning: Math.min(c.reasoning ?? 0, output),
  };
}

/** Later values win, but nulls and absent fields say nothing. */
export function mergeInto(target: Wild, more: Wild): void {
  for (const [key, value] of Object.entries(more)) {
    if (value !== null && value !== undefined) target[key] = value;
  }
}
