/**
 * Reads a request's JSON body, bounded in size and time.
 *
 * `gzip` and `deflate` are taken; the bounds hold for what comes out of them.
 */
import { Failure } from "../exchange/failure.ts";
import { strictUtf8 } from "../transport/strict_utf8.ts";
import { setImmediate } from "node:timers";
import { invalidBody, parseBody, parseLargeBody } from "./parse_body.ts";
import { LARGE } from "../timing/slices.ts";
import type { Ticker } from "../timing/ticker.ts";
import type { IncomingRequest } from "./endpoint.ts";

/** A body may take this long, and for its size as long as a slow line needs. */
const BODY_MS = 60_000;
const SLOWEST_BYTES_PER_MS = 32;
/** And be silent for so long. Of a body that is there at once as a whole, or never, this is all its time. */
const SILENT_MS = 30_000;
/** A body of known length that is read at once. A larger one is in memory before anybody could count it. */
const AT_ONCE = 1 << 16;

/** A longer text is parsed in slices: so many long numbers, nested deeply, take a tenth of a second to read at once. */
const BRIEF = 1 << 17;

export interface ReadJson {
  /** Bounds the time; without one it has no bound. */
  ticker?: Ticker;
  /** Told how many bytes of a body have come whose size was not known before; may throw. */
  count?(bytes: number): void;
  /** What an empty body stands for. Undefined: it is a mistake. */
  empty?: unknown;
  /** Reads a large body in slices, when their turns come. Absent: one in each turn of the event loop. */
  run?<T>(work: Generator<void, T>): Promise<T>;
}

/** Compressed bytes that are unpacked at once: at most a thousand times as many. */
const PIECE_BYTES = 4096;

/** A promise only where the body has to be waited for, or is large. */
export function readJson(request: IncomingRequest, maxBytes: number, options: ReadJson = {}): unknown {
  const text = textAtHand(request, maxBytes);
  if (text === null) return readLater(request, maxBytes, options);
  return parseBody(text);
}

/** A small body that came with the head, as most do: there is nothing to wait for and nothing to copy. */
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

/** The value of a body whose bytes are needed no more once they are text. */
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
  // Our own server looks itself how long nothing comes.
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

/** The body as it was before it was compressed; null when it was not. */
function decompressed(request: IncomingRequest): ReadableStream<Uint8Array<ArrayBuffer>> | null {
  const encoding = request.headers.get("content-encoding")?.trim().toLowerCase();
  if (encoding === undefined || encoding === "" || encoding === "identity" || request.body === null) {
    return null;
  }
  if (encoding !== "gzip" && encoding !== "deflate") {
    throw invalidBody(
      "content_encoding",
      `expected content-encoding gzip, deflate or none, got ${JSON.stringify(encoding.slice(0, 40))}`,
    );
  }
  return ReadableStream.from(inPieces(request.body)).pipeThrough(new DecompressionStream(encoding));
}

/** What is read of a body, in pieces that unpack to a few megabytes at most, one a turn of the event loop. */
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
 * A caller who sends a byte a minute holds a place that others could have.
 *
 * @param start begins the work, which tells when it waits for bytes, and when some have come
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
 * Bytes whose number is not known before, given up as soon as they are over the bound.
 *
 * Not `LimitedBytesTransformStream` and `toBytes` of `@std/streams`: this is on the way of calls, and a stream between costs
 * each chunk further promises.
 */
async function readBounded(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  maxBytes: number,
  came: () => void,
  count: (bytes: number) => void = () => {},
): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  came();
  for await (const chunk of body) {
    came();
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    count(bytes);
    chunks.push(chunk);
  }
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

function tooLarge(maxBytes: number): Failure {
  return new Failure(
    "payload_too_large",
    `The request body is too large: expected at most ${maxBytes} bytes.`,
  );
}
