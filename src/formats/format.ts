/**
 * Definition of a wire format: pure functions between the wire format and the vocabulary of `exchange/`.
 * Decode means from the wire format, encode to the wire format, for callers and for providers.
 *
 * A caller format has four functions ({@link CallerFormat}): decodeRequest, encodeStream, encodeAnswer,
 * encodeFailure. A provider format has three ({@link ProviderFormat}): encodeRequest, decodeStream,
 * decodeAnswer. Providers' errors are decoded by one function for all formats, `failures/decode_failure.ts`. Each
 * function is in the module of its name in the format's folder.
 *
 * Pure: no fetch, clock, log or randomness. Ids, times and signing are provided by the context.
 */
import type { Answer } from "../exchange/answer.ts";
import type { Failure } from "../exchange/failure.ts";
import type { CallerFormatName } from "../exchange/format_name.ts";
import type { Loose } from "../exchange/json.ts";
import type { Parameters } from "../exchange/parameters.ts";
import type { Part, UsagePart } from "../exchange/part.ts";
import type { Effort, FormatName, Prompt } from "../exchange/prompt.ts";
import type { Seal, Unseal } from "../exchange/proof.ts";
import type { BodyShape } from "./leaves/mod.ts";

/**
 * One event of a provider's stream, independent of the framing: a server-sent event, or a message of AWS's
 * binary event stream, whose `:event-type` is `event` and whose payload is `data`. `event` is empty if the
 * frame has no name.
 */
export interface Frame {
  event: string;
  data: string;
  /** The parsed data, if it was parsed already because it is large. */
  value?: unknown;
}

export interface DecodeRequest {
  unseal: Unseal;
  /** The request headers with this prefix; names in lower case. */
  headers(prefix: string): Record<string, string>;
}

/** DLP information for the caller within the answer. */
export interface DlpReport {
  findings: Loose[];
  count: number;
}

export interface EncodeAnswer {
  /** The generation's id, `gen_…`; a format may use another prefix. */
  id: string;
  /** Seconds since the epoch. */
  created: number;
  /** Current time in seconds since the epoch; absent: completion times are omitted. */
  now?(): number;
  /**
   * Catalog id of the model that answers. Called when it is written, since with several models the first
   * parts determine it.
   */
  model(): string;
  /** The request, for formats that echo parts of it. */
  prompt: Prompt;
  seal: Seal;
  dlp?: DlpReport;
}

/**
 * Converts parts to frames. `encode` is called once per batch and returns the text of all its frames, so that
 * what arrived together is sent together; `end` completes a successful answer and `fail` a failed one, each
 * at most once and last.
 */
export interface StreamEncoder {
  encode(parts: readonly Part[]): string;
  end(): string;
  fail(failure: Failure): string;
  /**
   * As `encode`, for parts that are all short deltas of a started text, as most of a stream: writes bytes
   * directly, at half the cost. False: other parts, nothing was written.
   */
  encodeText?(parts: readonly Part[], out: FrameBytes): boolean;
}

/** Receives frames of a stream as bytes. */
export interface FrameBytes {
  /** @param text written as a JSON string */
  addString(before: Uint8Array, text: string, behind: Uint8Array): void;
}

/** Maximum length of short deltas, in characters. */
export const SHORT_TEXT = 1024;

export interface StreamPlace {
  /** The generation's id. */
  id: string;
  /** Number of the next event, from 0. */
  sequence: number;
}

/** A format for callers. */
export interface CallerFormat {
  readonly name: CallerFormatName;
  /** The keep-alive of a silent stream: a comment, or an event of the format. */
  readonly keepAlive: string;
  /** Rules for the text in a request body. */
  readonly leaves: BodyShape;
  /** Decrypts data in a body that the gateway sealed, before anything else reads it; absent: not needed. */
  unsealBody?(body: unknown, unseal: Unseal): unknown;
  /** Throws a Failure that lists all errors: `validation_error`, `feature_not_supported`. */
  decodeRequest(body: unknown, context: DecodeRequest): Prompt;
  encodeStream(context: EncodeAnswer): StreamEncoder;
  /** As {@link encodeStream}, but as a single event at the end; absent: not supported. */
  encodeHeld?(context: EncodeAnswer): StreamEncoder;
  /** The end of an interrupted stream, without its encoder: the error event and what must follow. */
  encodeBreak(failure: Failure, at: StreamPlace): string;
  encodeAnswer(answer: Answer, context: EncodeAnswer): Loose;
  /** The JSON of {@link encodeAnswer}; null: this answer is not supported. */
  writeAnswer?(answer: Answer, context: EncodeAnswer): string | null;
  /** The error envelope; its status is `failure.row.status`. */
  encodeFailure(failure: Failure, requestId: string): Loose;
}

export interface EncodeRequest {
  /** The provider's name of the model. */
  model: string;
  stream: boolean;
  /** The model's output limit; null: unknown. */
  maxOutput: number | null;
  /** `capabilities.features` of the catalog entry; null: unknown, all are assumed. */
  features: ReadonlySet<string> | null;
  /** Effort levels in the catalog entry; null: not listed. */
  efforts: readonly Effort[] | null;
  /** Parameters that the model accepts or rejects according to the catalog entry. */
  parameters?: Parameters;
  /** API version of the request, for APIs with dated versions. */
  apiVersion?: string;
}

export interface ProviderRequest {
  body: Loose;
  /** Headers other than credentials and content type. */
  headers?: Record<string, string>;
  /** Names of request fields that this provider does not support, as sent by the caller. */
  dropped: string[];
}

/**
 * Converts frames to parts. Both methods append to `out`, and may throw a Failure after appending: the
 * appended parts are valid. `end` is called at the end of the bytes and throws if the end marker is missing.
 */
export interface StreamDecoder {
  /** The end marker of the stream has been read: nothing but usage can follow. Absent: the format has none. */
  readonly marked?: boolean;
  /** Everything that an answer must have has been read, and nothing after its end: little can follow. Absent: unknown. */
  readonly complete?: boolean;
  push(frame: Frame, out: Part[]): void;
  /**
   * Processes server-sent events that equal a known one except for their text, starting at the beginning of
   * an event. Returns the number of bytes processed; the rest must be pushed. Absent: not supported.
   *
   * @param withhold removes secrets from a text
   */
  pushKnown?(bytes: Uint8Array, out: Part[], withhold: (text: string) => string): number;
  end(out: Part[]): void;
  /** The usage that the provider has reported so far; null: none. Absent: the format reports it at the end. */
  counted?(): UsagePart | null;
}

/** A format for providers. */
export interface ProviderFormat {
  readonly name: FormatName;
  encodeRequest(prompt: Prompt, context: EncodeRequest): ProviderRequest;
  /** @param model the provider's name of the model; absent: nothing depends on it */
  decodeStream(model?: string): StreamDecoder;
  /**
   * All parts of a complete JSON answer, including `usage` and `finish`. Throws if the body is an error or
   * invalid.
   */
  decodeAnswer(body: unknown): Part[];
  /** Decodes an answer that is similar to a remembered one without parsing; null: none is similar. */
  readAnswer?(text: string): Part[] | null;
  /** @param parts the result of {@link decodeAnswer} for the text's value */
  learnAnswer?(text: string, value: unknown, parts: readonly Part[]): void;
}
