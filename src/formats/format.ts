/**
 * What a wire format is: pure functions between the wire and the vocabulary of `exchange/`. Decode means wire to
 * vocabulary, encode the reverse, on the caller's side and on the provider's side alike.
 *
 * A format for callers has four ({@link CallerFormat}): decodeRequest, encodeStream, encodeAnswer, encodeFailure. A format
 * for providers has three ({@link ProviderFormat}): encodeRequest, decodeStream, decodeAnswer. Refusals of providers are
 * read by one function for all formats, `decode_failure.ts`. Each function has the file of its name in the format's folder.
 *
 * Pure: no fetch, no clock, no log, no randomness. Ids, times and signing come in through the context.
 */
import type { Answer } from "../exchange/answer.ts";
import type { Failure } from "../exchange/failure.ts";
import type { CallerFormatName } from "../exchange/format_name.ts";
import type { Loose } from "../exchange/json.ts";
import type { Parameters } from "../exchange/parameters.ts";
import type { Part } from "../exchange/part.ts";
import type { Effort, FormatName, Prompt } from "../exchange/prompt.ts";
import type { Seal, Unseal } from "../exchange/proof.ts";
import type { BodyShape } from "./leaves.ts";

/**
 * One event of a provider's stream, whatever frames it: a server-sent event, or a message of AWS's binary event stream,
 * whose `:event-type` is `event` and whose payload is `data`. `event` is empty when the frame named none.
 */
export interface Frame {
  event: string;
  data: string;
  /** What the data is as JSON, where it was parsed before because it is large. */
  value?: unknown;
}

export interface DecodeRequest {
  unseal: Unseal;
  /** The caller's headers whose names begin so; names in lower case. */
  headers(prefix: string): Record<string, string>;
}

/** What the caller is told about data-loss prevention inside the answer. */
export interface DlpReport {
  findings: Loose[];
  count: number;
}

export interface EncodeAnswer {
  /** The generation's id, `gen_…`; a format may give it its own prefix. */
  id: string;
  /** Seconds since the epoch. */
  created: number;
  /** Seconds since the epoch, when it is asked; absent: formats leave out when an answer ended. */
  now?(): number;
  /** Catalog id of the model that answers. Asked when it is written: of several models, the first parts tell which one it is. */
  model(): string;
  /** The request, for formats that echo parts of it. */
  prompt: Prompt;
  seal: Seal;
  dlp?: DlpReport;
}

/**
 * Parts to frames. `encode` is called once per batch and returns the text of all its frames, so that what arrived
 * together leaves together; `end` closes a good answer and `fail` a broken one, each at most once and last.
 */
export interface StreamEncoder {
  encode(parts: readonly Part[]): string;
  end(): string;
  fail(failure: Failure): string;
  /**
   * As `encode`, for parts that are all short pieces of a text that has begun, as most of a stream are: in bytes, which costs half of what
   * text and its bytes do. False: they are others, and nothing was done.
   */
  encodeText?(parts: readonly Part[], out: FrameBytes): boolean;
}

/** Takes frames of a stream as bytes. */
export interface FrameBytes {
  /** @param text becomes a string of JSON */
  addString(before: Uint8Array, text: string, behind: Uint8Array): void;
}

/** A longer piece of text, in characters, is not a short one. */
export const SHORT_TEXT = 1024;

export interface StreamPlace {
  /** The generation's id. */
  id: string;
  /** Number of the next event, from 0. */
  sequence: number;
}

/** The caller's side of a format. */
export interface CallerFormat {
  readonly name: CallerFormatName;
  /** What keeps a silent stream alive: a comment, or the format's own event. */
  readonly keepAlive: string;
  /** Where the text of a request body is. */
  readonly leaves: BodyShape;
  /** A body in which what the gateway sealed itself is text again, before anything else reads it; absent: it seals nothing. */
  unsealBody?(body: unknown, unseal: Unseal): unknown;
  /** Throws a Failure that names every mistake: `validation_error`, `feature_not_supported`. */
  decodeRequest(body: unknown, context: DecodeRequest): Prompt;
  encodeStream(context: EncodeAnswer): StreamEncoder;
  /** As {@link encodeStream}, all of it as one event at the end; absent: the format cannot. */
  encodeHeld?(context: EncodeAnswer): StreamEncoder;
  /** The end of a stream that was broken off, by whoever has not begun it: the error event and what must follow. */
  encodeBreak(failure: Failure, at: StreamPlace): string;
  encodeAnswer(answer: Answer, context: EncodeAnswer): Loose;
  /** What {@link encodeAnswer} makes of it as JSON text; null: it is an answer that is not written so. */
  writeAnswer?(answer: Answer, context: EncodeAnswer): string | null;
  /** The envelope; its status is `failure.row.status`. */
  encodeFailure(failure: Failure, requestId: string): Loose;
}

export interface EncodeRequest {
  /** The provider's name of the model. */
  model: string;
  stream: boolean;
  /** The model's own cap on output, null when unknown. */
  maxOutput: number | null;
  /** `capabilities.features` of the catalog entry; null: not known, assume all. */
  features: ReadonlySet<string> | null;
  /** Effort levels of the catalog entry, null when it lists none. */
  efforts: readonly Effort[] | null;
  /** What the catalog entry says that the model takes or refuses. */
  parameters?: Parameters;
  /** Version of the provider's API that the request is sent under, where the API has dated versions. */
  apiVersion?: string;
}

export interface ProviderRequest {
  body: Loose;
  /** Headers beyond credentials and content type. */
  headers?: Record<string, string>;
  /** Names of request fields that this provider cannot be told, as the caller sent them. */
  dropped: string[];
}

/**
 * Frames to parts. Both methods append to `out`, and may throw a Failure after appending: what was appended is still
 * good. `end` is called when the bytes end and throws when the format's terminal marker never came.
 */
export interface StreamDecoder {
  push(frame: Frame, out: Part[]): void;
  /**
   * Server-sent events that are known but for the text they bring, from the first of these bytes on, which begin one. Gives how many
   * bytes were read; the rest is to be pushed. Absent: none are known.
   *
   * @param withhold takes out of a text what a provider must not tell
   */
  pushKnown?(bytes: Uint8Array, out: Part[], withhold: (text: string) => string): number;
  end(out: Part[]): void;
}

/** The provider's side of a format. */
export interface ProviderFormat {
  readonly name: FormatName;
  encodeRequest(prompt: Prompt, context: EncodeRequest): ProviderRequest;
  /** @param model the provider's name of the model that answers; absent: nothing depends on it */
  decodeStream(model?: string): StreamDecoder;
  /** All parts of a whole JSON answer, `usage` and `finish` included. Throws when the body is an error or no answer. */
  decodeAnswer(body: unknown): Part[];
  /** As parsing and {@link decodeAnswer}, of an answer like one that was learnt; null: none is known. */
  readAnswer?(text: string): Part[] | null;
  /** @param parts what {@link decodeAnswer} made of the text's value */
  learnAnswer?(text: string, value: unknown, parts: readonly Part[]): void;
}
