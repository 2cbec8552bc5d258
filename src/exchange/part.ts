/**
 * An answer as a sequence of parts, in the common vocabulary of all formats.
 *
 * Every block has a start, deltas and an end, and a number that is unique within the call. Blocks of one
 * choice may interleave (some providers do that); a start always precedes its deltas, and every started block
 * is ended before `finish`. A failure is not a part: it is thrown to the reader.
 */
import type { Loose } from "./json.ts";
import type { Proof } from "./proof.ts";
import type { Citation } from "./citation.ts";
import type { Extra, FormatName } from "./prompt.ts";
import type { Fees } from "./fees.ts";
import type { Usage } from "./usage.ts";

export interface TokenLogprob {
  token: string;
  logprob: number;
  bytes?: number[] | null;
  top: { token: string; logprob: number; bytes?: number[] | null }[];
}

/**
 * Why an answer ended. stop: by the model. tool-calls: it wants tools to be run. stop-sequence: a stop
 * sequence was generated. length: a length limit. content-filter: withheld by a filter outside the model.
 * refusal: declined by the model or its guard. pause: a long turn with provider tools was suspended.
 */
export type FinishReason =
  | "stop"
  | "tool-calls"
  | "stop-sequence"
  | "length"
  | "content-filter"
  | "refusal"
  | "pause";

/** A web page found by a search. */
export interface SearchHit {
  url: string;
  title: string;
  /** The original object, for the same format. */
  extra?: Extra;
}

/** Models in a usage report, by the provider's names. */
export interface UsedModels {
  /** The model that answered; absent: as in the start part. */
  served?: string;
  /** Parts of the usage by other models: advisors, or models that started and declined. */
  beside: readonly { model: string; usage: Usage }[];
}

/** Whether a part is an event of a run by the provider. */
export function isLive(part: Part): part is Extract<Part, { type: `live-${string}` }> {
  return part.type === "live-start" || part.type === "live-delta" || part.type === "live-event";
}

/** A report of usage. */
export type UsagePart = Extract<Part, { type: "usage" }>;

export type Part =
  /** First part, once. `model`: the provider's name. */
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
    /** `summary`: the text is a summary of the reasoning; `text`: the reasoning itself. */
    kind: "text" | "summary";
    extra?: Extra;
  }
  /**
   * `section` numbers summary parts from 0; a new one starts a new paragraph. `estimate`: approximate number
   * of tokens since the last one, if the provider reports only the progress of reasoning.
   */
  | { type: "reasoning-delta"; block: number; section: number; text: string; estimate?: number }
  /** `extra`: fields that were not known at the start. */
  | { type: "reasoning-end"; block: number; proof?: Proof; extra?: Extra }
  | {
    type: "call-start";
    block: number;
    choice: number;
    id: string;
    name: string;
    namespace?: string;
    kind: "function" | "custom";
    /** The function stands for a typed tool of the caller. */
    typed?: string;
    /** Set if the provider attaches a proof to the call itself; its `call` is `id`. */
    proof?: Proof;
    extra?: Extra;
  }
  /** A piece of the arguments; all pieces together are JSON for a function ("" means none). */
  | { type: "call-delta"; block: number; text: string }
  | { type: "call-end"; block: number }
  /**
   * A piece of audio while it is generated: base64 that is complete in itself, and the words spoken. A `media`
   * part with all of it follows, so every reader may skip the pieces.
   */
  | { type: "sound-delta"; choice: number; id?: string; data?: string; transcript?: string }
  /** A generated image or audio, complete. `data` is base64. */
  | {
    type: "media";
    block: number;
    choice: number;
    mediaType: string;
    data: string;
    /** Transcript of audio. */
    transcript?: string;
    proof?: Proof;
    extra?: Extra;
  }
  | { type: "search-start"; block: number; choice: number; id: string; query: string; extra?: Extra }
  /** `failed`: the search had no result and is not billed. */
  | { type: "search-end"; block: number; hits: SearchHit[]; failed?: boolean; extra?: Extra }
  /**
   * The start of a tool's run by the provider: `value` is the block as it was announced. Its complete part
   * (`opaque`, `media`, or `search-start`) follows with the same number, so every reader may skip these three.
   */
  | { type: "live-start"; block: number; choice: number; format: FormatName; value: Loose }
  /** A piece of the tool's input. `event`: its type in the format. */
  | { type: "live-delta"; block: number; event: string; text: string }
  /** Another event of the run, with its fields. */
  | { type: "live-event"; block: number; event: string; value: Loose }
  /**
   * A complete block that exists only in its own format; other formats skip it. `late`: fields that arrived
   * after its start, where clients expect them.
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
   * Cumulative counts: each report replaces the previous one. `searches`: executed web searches, if any.
   * `fees`: uses of the provider's other tools that have a fee, if any. `estimated`: not all counts are from the
   * provider. `service`: the service tier reported by the provider. `extra`: other fields of the provider's
   * report. `models`: the models in it.
   */
  | {
    type: "usage";
    usage: Usage;
    searches?: number;
    fees?: Fees;
    estimated?: boolean;
    service?: string;
    extra?: Extra;
    models?: UsedModels;
  }
  | {
    type: "finish";
    choice: number;
    reason: FinishReason;
    /** The stop sequence that was generated. */
    sequence?: string;
    /** The provider's explanation of a refusal or filter. */
    explanation?: string;
    extra?: Extra;
  };
