/**
 * An answer as it is made: parts, in order, from any provider to any caller.
 *
 * Every block has a start, deltas and an end, and a number that no other block of the call has. Blocks of one choice may
 * interleave (providers do that); a start always precedes its deltas, and every started block is ended before `finish`.
 * A failure is not a part: whoever reads parts gets it thrown.
 */
import type { Loose } from "./json.ts";
import type { Proof } from "./proof.ts";
import type { Citation } from "./citation.ts";
import type { Extra, FormatName } from "./prompt.ts";
import type { Usage } from "./usage.ts";

export interface TokenLogprob {
  token: string;
  logprob: number;
  bytes?: number[] | null;
  top: { token: string; logprob: number; bytes?: number[] | null }[];
}

/**
 * Why an answer ended. stop: by itself. tool-calls: it wants tools run. stop-sequence: it met one. length: a cap.
 * content-filter: something outside the model withheld it. refusal: the model or its guard declined. pause: a long turn
 * of provider tools was suspended.
 */
export type FinishReason =
  | "stop"
  | "tool-calls"
  | "stop-sequence"
  | "length"
  | "content-filter"
  | "refusal"
  | "pause";

/** A web page that a search found. */
export interface SearchHit {
  url: string;
  title: string;
  /** The wire's own object, for the same format. */
  extra?: Extra;
}

/** What a report of usage says of models, as the provider names them. */
export interface UsedModels {
  /** The one that answered; absent: the answer's beginning says it. */
  served?: string;
  /** Parts of the usage that others had: what was asked for advice, or had begun and declined. */
  beside: readonly { model: string; usage: Usage }[];
}

export type Part =
  /** Opens the answer: once, first. `model` as the provider names it. */
  | { type: "start"; model?: string; extra?: Extra }
  | {
    type: "text-start";
    block: number;
    choice: number;
    /** The text is a refusal. */
    refusal?: boolean;
    extra?: Extra;
  }
  | { type: "text-delta"; block: number; text: string; logprobs?: TokenLogprob[] }
  | { type: "citation"; block: number; citation: Citation }
  | { type: "text-end"; block: number; proof?: Proof }
  | {
    type: "reasoning-start";
    block: number;
    choice: number;
    /** `summary`: the text is about the reasoning; `text`: it is the reasoning. */
    kind: "text" | "summary";
    extra?: Extra;
  }
  /**
   * `section` counts summary parts from 0; a new one is a new paragraph. `estimate`: tokens since the last one, roughly, where
   * the provider shows no text but how far the reasoning is.
   */
  | { type: "reasoning-delta"; block: number; section: number; text: string; estimate?: number }
  | { type: "reasoning-end"; block: number; proof?: Proof }
  | {
    type: "call-start";
    block: number;
    choice: number;
    id: string;
    name: string;
    namespace?: string;
    kind: "function" | "custom";
    /** Present when the provider attaches one to the call itself; its `call` is `id`. */
    proof?: Proof;
    extra?: Extra;
  }
  /** A piece of the argument text; all pieces together are JSON for a function ("" means none). */
  | { type: "call-delta"; block: number; text: string }
  | { type: "call-end"; block: number }
  /** An image or sound that the model made, whole. `data` is base64. */
  | {
    type: "media";
    block: number;
    choice: number;
    mediaType: string;
    data: string;
    /** What a sound says. */
    transcript?: string;
    proof?: Proof;
    extra?: Extra;
  }
  | { type: "search-start"; block: number; choice: number; id: string; query: string; extra?: Extra }
  /** `failed`: it gave nothing and is not billed. */
  | { type: "search-end"; block: number; hits: SearchHit[]; failed?: boolean; extra?: Extra }
  /**
   * A block that only its own format understands, whole. Others skip it. `late`: fields of it that came behind its start,
   * where clients look for them.
   */
  | {
    type: "opaque";
    block: number;
    choice: number;
    format: FormatName;
    value: Loose;
    late?: readonly string[];
  }
  /**
   * Counts so far: each replaces the one before. `searches`: executed web searches, once there are any. `estimated`: the
   * provider did not report all of them. `service`: the tier of service that the provider says it gave, in its own word.
   * `extra`: what the provider's own report holds beside the counts. `models`: what it says of models.
   */
  | {
    type: "usage";
    usage: Usage;
    searches?: number;
    estimated?: boolean;
    service?: string;
    extra?: Extra;
    models?: UsedModels;
  }
  | {
    type: "finish";
    choice: number;
    reason: FinishReason;
    /** The stop sequence that was met. */
    sequence?: string;
    /** Explanation of a refusal or a filter, as the provider gives it. */
    explanation?: string;
    extra?: Extra;
  };
