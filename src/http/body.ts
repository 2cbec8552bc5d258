/**
 * Reads a request's JSON body, with limits for size and time.
 *
 * `gzip`, `deflate`, `br` and `zstd` are supported; the limits apply to the decompressed body. Codex with a
 * ChatGPT login sends `zstd`.
 */
import { Failure } from "../exchange/failure.ts";
import { GatheredBytes } from "../exchange/gathered_bytes.ts";
import { shownHeader } from "../exchange/shown_header.ts";
import { strictUtf8 } from "../transport/websocket/strict_utf8.ts";
import { setImmediate } from "node:timers";
import { BRIEF, invalidBody, parseBody, parseLargeBody } from "./parse_body.ts";
import { LARGE } from "../timing/slices.ts";
import type { Ticker } from "../timing/ticker.ts";
import type { IncomingRequest } from "./endpoint.ts";
import type { PackedAs } from "./unpack_body.ts";

/** The time for a whole body, in milliseconds; extended in proportion to the size, for slow connections. */
const BODY_MS = 60_000;
const SLOWEST_BYTES_PER_MS = 32;
/**
 * The longest pause between bytes, in milliseconds. For a host that delivers the body in one piece, the time
 * for all of it.
 */
const SILENT_MS = 30_000;
/**
 * Up to this `content-length` the body is read without counting. A larger one would be in memory before its
 * size could be checked.
 */
const AT_ONCE = 1 << 16;

export interface ReadJson {
  /** The timer for the time limits; absent: none. */
  ticker?: Ticker;
  /** Called with the number of bytes received of a body of unknown length; may throw. */
  count?(bytes: number): void;
  /** The value for an empty body. Undefined: an empty body is an error. */
  empty?: unknown;
  /** Schedules slices of the work on a large body. Absent: one slice per turn of the event loop. */
  run?<T>(work: Generator<void, T>): Promise<T>;
}

/** Compressed bytes per decompression step. They expand at most by a factor of about a thousand. */
const PIECE_BYTES = 4096;

/** Returns a promise only if the body has not arrived yet, or is large. */
export function readJson(request: IncomingRequest, maxBytes: number, options: ReadJson = {}): unknown {
  const text = textAtHand(request, maxBytes);
  if (text === null) return readLater(request, maxBytes, options);
  return parseBody(text);
}

/** Fast path for a small body that arrived with the head: no waiting and no copy. */
function textAtHand(request: IncomingRequest, maxBytes: number): string | null {
  const { headers } = request;
  const length = headers.get("content-length");
  if (request.atHand === undefined || length === null || Number(length) > Math.min(maxBytes, BRIEF)) {
    return null;
  }
  return headers.get("content-encoding") === null ? request.atHand(decoded) : null;
}

async function readLater(
  request: IncomingRequest,
  maxBytes: number,
  { ticker, empty, count, run = inTurns }: ReadJson,
): Promise<unknown> {
  if (request.parsed !== undefined) {
    if (Number(request.headers.get("content-length")) > maxBytes) throw tooLarge(maxBytes);
    return request.parsed;
  }
  const body = { bytes: await readBytes(request, maxBytes, { ticker, count }) };
  if (body.bytes.byteLength > LARGE) return await run(reading(body));
  const text = decoded(body.bytes);
  if (text === "" && empty !== undefined) return empty;
  return text.length <= BRIEF ? parseBody(text) : await run(parseLargeBody(text));
}

/** Parses a body, and releases its bytes once they are decoded. */
function* reading(body: { bytes: ArrayBuffer | Uint8Array | null }): Generator<void, unknown> {
  const text = decoded(body.bytes!);
  body.bytes = null;
  yield;
  return yield* parseLargeBody(text);
}

async function inTurns<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    await nextTurn();
    const { done, value } = work.next();
    if (done) return value;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function readBytes(
  request: IncomingRequest,
  maxBytes: number,
  { ticker, count }: Pick<ReadJson, "ticker" | "count">,
): Promise<ArrayBuffer | Uint8Array> {
  const length = request.headers.get("content-length");
  if (length !== null && Number(length) > maxBytes) throw tooLarge(maxBytes);
  const source = decompressed(request);
  // The built-in server checks for silence itself.
  const looked = request.atHand !== undefined;
  const whole = source === null && length !== null && (looked || Number(length) <= AT_ONCE);
  const longest = whole && !looked
    ? SILENT_MS
    : BODY_MS + (length === null ? maxBytes : Number(length)) / SLOWEST_BYTES_PER_MS;
  try {
    return await inTime<ArrayBuffer | Uint8Array>(
      longest,
      ticker,
      (came) =>
        whole
          ? request.arrayBuffer()
          : readBounded(source ?? request.body, maxBytes, looked ? () => {} : came, count),
    );
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    const what = source === null ? "it broke off" : "it is not what its content-encoding says";
    throw invalidBody("body_incomplete", `expected a whole body, ${what}`, cause);
  }
}

function decoded(bytes: ArrayBuffer | Uint8Array): string {
  const text = strictUtf8(bytes);
  if (text === null) throw invalidBody("json_invalid", "expected UTF-8, got bytes that are not");
  return text;
}

/** The decompressed body; null if it is not compressed. */
function decompressed(request: IncomingRequest): ReadableStream<Uint8Array<ArrayBuffer>> | null {
  const encoding = request.headers.get("content-encoding")?.trim().toLowerCase();
  if (encoding === undefined || encoding === "" || encoding === "identity" || request.body === null) {
    return null;
  }
  const pieces = inPieces(request.body);
  switch (encoding) {
    case "gzip":
    // An older name, which RFC 9110 wants to be taken for the same.
    case "x-gzip":
      return ReadableStream.from(pieces).pipeThrough(new DecompressionStream("gzip"));
    case "deflate":
      return ReadableStream.from(pieces).pipeThrough(new DecompressionStream("deflate"));
    case "br":
    case "zstd":
      return ReadableStream.from(unpacked(pieces, encoding));
    default:
      throw invalidBody(
        "content_encoding",
        "expected content-encoding gzip, deflate, br, zstd or none, " +
          `got ${shownHeader(encoding, 40)}`,
      );
  }
}

async function* unpacked(pieces: AsyncIterable<Uint8Array>, method: PackedAs) {
  const { unpack } = await import("./unpack_body.ts");
  yield* unpack(pieces, method);
}

/** Decompresses in steps of a few megabytes at most, one per turn of the event loop. */
async function* inPieces(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      if (at > 0) await nextTurn();
      yield chunk.subarray(at, at + PIECE_BYTES);
    }
  }
}

/**
 * Time limits, so that a caller who sends a byte per minute does not hold a place.
 *
 * @param start begins the work; it reports when it starts to wait for bytes, and when bytes have arrived
 */
function inTime<T>(
  ms: number,
  ticker: Ticker | undefined,
  start: (came: () => void) => Promise<T>,
): Promise<T> {
  if (ticker === undefined) return start(() => {});
  return new Promise((resolve, reject) => {
    const late = (ms: number) => () =>
      reject(invalidBody("body_incomplete", `expected a whole body within ${Math.ceil(ms / 1000)} seconds`));
    const deadline = ticker.deadline(late(ms));
    const silence = ticker.deadline(late(SILENT_MS));
    deadline.arm(ms);
    const over = () => {
      deadline.close();
      silence.close();
    };
    start(() => silence.arm(SILENT_MS)).then((value) => {
      over();
      resolve(value);
    }, (thrown) => {
      over();
      reject(thrown);
    });
  });
}

/**
 * Reads a body of unknown length, and gives up as soon as it exceeds the limit.
 *
 * Not `LimitedBytesTransformStream` and `toBytes` of `@std/streams`: this runs for calls, and a
 * TransformStream costs additional promises per chunk.
 */
async function readBounded(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  maxBytes: number,
  came: () => void,
  count: (bytes: number) => void = () => {},
): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const gathered = new GatheredBytes(maxBytes);
  came();
  for await (const chunk of body) {
    came();
    const bytes = gathered.length + chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    count(bytes);
    gathered.add(chunk);
  }
  return gathered.bytes;
}

function tooLarge(maxBytes: number): Failure {
  return new Failure(
    "payload_too_large",
    `The request body is too large: expected at most ${maxBytes} bytes.`,
  );
}
