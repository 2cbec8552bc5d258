/**
 * Decodes a provider's answer from bytes to parts, synchronously: waiting for the bytes is done by the stage around it.
 *
 * Whether an answer is a stream or a JSON body is decided by its first byte, not only by its content type, because some providers send a
 * JSON body with the content type of an event stream.
 */
import { Failure } from "../../exchange/failure.ts";
import { GatheredBytes } from "../../exchange/gathered_bytes.ts";
import { parse, unread } from "../../exchange/json.ts";
import { parseAnswerInSlices } from "../../exchange/parse_in_slices.ts";
import type { Part, UsagePart } from "../../exchange/part.ts";
import type { AnswerBounds } from "./answer_bounds.ts";
import type { Frame, ProviderFormat, StreamDecoder } from "../../formats/format.ts";
import { brokenAnswer } from "../../formats/failures/decode_failure.ts";
import { LARGE } from "../../timing/slices.ts";
import { type FrameSource, type Framing, SERVER_SENT_EVENTS } from "../../providers/apis/framing.ts";
import { WholeCharacters, wholeCharacters } from "./whole_characters.ts";

const BRACE = 123;
const BRACKET = 91;
/** The first bytes of an event stream: `:` of a comment, or the names of fields (`data`, `event`, `id`, `retry`). */
const STREAM_STARTS: ReadonlySet<number> = new Set([...":deir"].map((c) => c.charCodeAt(0)));

/** Maximum size of a JSON body with the content type of an event stream, in bytes. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/**
 * Maximum number of blocks, citations and sections of reasoning in a JSON body: they are encoded in one step, and each
 * block may need a signature.
 */
const MOST_BLOCKS = 10_000;

const decoder = new TextDecoder();

/** Decodes all parts of a JSON body. */
export function readWhole(text: string, format: ProviderFormat): Part[] {
  const known = format.readAnswer?.(text);
  if (known) return wholeCharacters(known);
  const body = parse(text, true);
  if (body === undefined) throw brokenAnswer(`it ${unread(text)}`);
  const parts = bounded(format.decodeAnswer(body));
  format.learnAnswer?.(text, body, parts);
  return wholeCharacters(parts);
}

/** As {@link readWhole}, in slices, for a large body. */
export function* readWholeInSlices(text: string, format: ProviderFormat): Generator<void, Part[]> {
  const parsed = yield* parseAnswerInSlices(text);
  yield;
  if ("why" in parsed) throw brokenAnswer(`it ${parsed.why}`);
  return wholeCharacters(bounded(format.decodeAnswer(parsed.value)));
}

/** Parts that count besides starts of blocks. */
const COUNTED: ReadonlySet<Part["type"]> = new Set<Part["type"]>(["media", "opaque", "citation"]);

/** Throws if there are too many blocks. */
function bounded(parts: Part[]): Part[] {
  if (parts.length <= MOST_BLOCKS) return parts;
  let blocks = 0;
  for (const part of parts) {
    // A new section, as far as whole answers have one delta for each.
    const isSection = part.type === "reasoning-delta" && part.section > 0;
    if (isSection || part.type.endsWith("-start") || COUNTED.has(part.type)) blocks++;
  }
  if (blocks > MOST_BLOCKS) throw brokenAnswer(`it has more than ${MOST_BLOCKS} blocks`);
  return parts;
}

/**
 * Reads one streamed answer. Failures are returned and not thrown, since the parts decoded before must still be passed on.
 */
export class AnswerReader {
  readonly #format: ProviderFormat;
  readonly #decoder: StreamDecoder;
  readonly #frames: FrameSource;
  readonly #withhold: (text: string) => string;
  readonly #bounds: AnswerBounds | undefined;
  readonly #characters = new WholeCharacters();
  /** Whether the form of the answer has been detected. */
  #begun: boolean;
  #isForeign = false;
  /** The bytes of a JSON body so far; null: the answer is a stream. */
  #plain: GatheredBytes | null = null;

  /**
   * @param withhold removes secrets of the gateway from a text
   * @param bounds absent: no size limits
   * @param model as of {@link ProviderFormat.decodeStream}
   */
  constructor(
    format: ProviderFormat,
    framing: Framing = SERVER_SENT_EVENTS,
    withhold: (text: string) => string = (text) => text,
    bounds?: AnswerBounds,
    model?: string,
  ) {
    this.#bounds = bounds;
    this.#format = format;
    this.#withhold = withhold;
    this.#frames = framing.open();
    this.#begun = !framing.text;
    this.#decoder = format.decodeStream(model);
  }

  /** Number of buffered bytes of an incomplete frame or body. */
  get pending(): number {
    return this.#plain?.length ?? this.#frames.pending;
  }

  /** The end marker of the stream has been read. */
  get marked(): boolean {
    return this.#decoder.marked === true;
  }

  /** As {@link StreamDecoder.complete}, and no further frame has begun. */
  get complete(): boolean {
    return this.#decoder.complete === true && !this.#frames.inFrame;
  }

  /** The usage that the provider has reported so far; null: none. */
  get counted(): UsagePart | null {
    return this.#decoder.counted?.() ?? null;
  }

  /** The answer begins neither as JSON nor as an event stream: no model has written it. */
  get isForeign(): boolean {
    return this.#isForeign;
  }

  /** The bytes may complete a large frame or body, so the methods with slices must be used. */
  get isLarge(): boolean {
    return this.pending > LARGE;
  }

  push(bytes: Uint8Array, out: Part[]): Failure | undefined {
    const from = out.length;
    try {
      const begin = this.#begun ? 0 : this.#begin(bytes);
      if (this.#plain) this.#keep(bytes.subarray(begin));
      else if (begin > 0) this.#pushFrames(bytes.subarray(begin), out);
      else {
        // Known events are bytes without escapes, so they have no halves of characters.
        const read = this.#frames.atEvent === true && !this.#characters.waits
          ? this.#decoder.pushKnown?.(bytes, out, this.#withhold) ?? 0
          : 0;
        if (read < bytes.length) this.#pushFrames(read === 0 ? bytes : bytes.subarray(read), out);
      }
    } catch (thrown) {
      return Failure.from(thrown);
    }
    return this.#bounds?.take(bytes.length, out, from);
  }

  #pushFrames(bytes: Uint8Array, out: Part[]): void {
    const frames: Frame[] = [];
    try {
      this.#frames.push(bytes, frames);
    } finally {
      // Frames before invalid bytes are valid.
      this.#decode(frames, out);
    }
  }

  end(out: Part[]): Failure | undefined {
    try {
      if (this.#plain) {
        const text = this.#withhold(decoder.decode(this.#plain.bytes));
        // No spread: the number of function arguments is limited, and there may be hundreds of thousands of parts.
        for (const part of readWhole(text, this.#format)) out.push(part);
        return;
      }
      const frames: Frame[] = [];
      this.#frames.end(frames);
      this.#decode(frames, out);
      const from = out.length;
      this.#decoder.end(out);
      this.#characters.mend(out, from);
    } catch (thrown) {
      return Failure.from(thrown);
    }
  }

  /** As {@link AnswerReader.push}, in slices. The bytes must not be changed until it has finished. */
  *pushInSlices(bytes: Uint8Array, out: Part[]): Generator<void, Failure | undefined> {
    if (this.#plain) return this.push(bytes, out);
    const from = out.length;
    try {
      const frames: Frame[] = [];
      try {
        this.#frames.push(bytes, frames);
      } catch (thrown) {
        yield* this.#decodeInSlices(frames, out);
        throw thrown;
      }
      yield* this.#decodeInSlices(frames, out);
    } catch (thrown) {
      return Failure.from(thrown);
    }
    return this.#bounds?.take(bytes.length, out, from);
  }

  *endInSlices(out: Part[]): Generator<void, Failure | undefined> {
    try {
      if (this.#plain) {
        const text = decoder.decode(this.#plain.bytes);
        yield;
        for (const part of yield* readWholeInSlices(this.#withhold(text), this.#format)) out.push(part);
        return;
      }
      const frames: Frame[] = [];
      this.#frames.end(frames);
      yield* this.#decodeInSlices(frames, out);
      const from = out.length;
      this.#decoder.end(out);
      this.#characters.mend(out, from);
    } catch (thrown) {
      return Failure.from(thrown);
    }
  }

  *#decodeInSlices(frames: readonly Frame[], out: Part[]): Generator<void, void> {
    for (const frame of frames) {
      frame.data = this.#withhold(frame.data);
      if (frame.data.length > LARGE) {
        yield;
        const parsed = yield* parseAnswerInSlices(frame.data);
        if ("why" in parsed) throw brokenAnswer(`a frame of its stream ${parsed.why}`);
        frame.value = parsed.value;
        yield;
      }
      this.#push(frame, out);
    }
  }

  #decode(frames: readonly Frame[], out: Part[]): void {
    for (const frame of frames) {
      frame.data = this.#withhold(frame.data);
      this.#push(frame, out);
    }
  }

  #push(frame: Frame, out: Part[]): void {
    const from = out.length;
    try {
      this.#decoder.push(frame, out);
    } finally {
      this.#characters.mend(out, from);
    }
  }

  /** Index of the first byte after white space and a byte order mark, which may be split over chunks. The bytes before it are skipped. */
  #begin(bytes: Uint8Array): number {
    const at = bytes.findIndex((b) => b > 32 && b !== 0xef && b !== 0xbb && b !== 0xbf);
    if (at < 0) return bytes.length;
    this.#begun = true;
    if (bytes[at] === BRACE || bytes[at] === BRACKET) {
      this.#plain = new GatheredBytes(MAX_BODY_BYTES);
    } else this.#isForeign = !STREAM_STARTS.has(bytes[at]);
    return at;
  }

  #keep(bytes: Uint8Array): void {
    const plain = this.#plain!;
    if (plain.length + bytes.length > MAX_BODY_BYTES) {
      throw brokenAnswer(`its body is over ${MAX_BODY_BYTES} bytes`);
    }
    plain.add(bytes);
  }
}
