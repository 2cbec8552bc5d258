/**
 * Reads a request's JSON body, bounded in size, depth and time, and says exactly what is wrong with one that is not JSON.
 *
 * `gzip` and `deflate` are taken; the bounds hold for what comes out of them.
 */
import { Failure } from "../exchange/failure.ts";
import type { Ticker } from "../timing/ticker.ts";

/** Deeper than any schema that people or generators write, and far from what exhausts the stack of what walks it. */
const MOST_DEPTH = 512;

/** A body may take this long, and for its size as long as a slow line needs. */
const BODY_MS = 60_000;
const SLOWEST_BYTES_PER_MS = 32;

const decoder = new TextDecoder("utf-8", { fatal: true });

export interface ReadJson {
  /** Bounds the time; without one it has no bound. */
  ticker?: Ticker;
  /** What an empty body stands for. Undefined: it is a mistake. */
  empty?: unknown;
}

export async function readJson(
  request: Request,
  maxBytes: number,
  { ticker, empty }: ReadJson = {},
): Promise<unknown> {
  const text = await readText(request, maxBytes, ticker);
  if (text === "" && empty !== undefined) return empty;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (text.trim() === "") throw invalid("json_invalid", "expected JSON, got nothing");
    const at = error instanceof SyntaxError ? position(error.message) : "";
    throw invalid("json_invalid", `expected JSON${at}`);
  }
  // A level takes two brackets.
  if (text.length > 2 * MOST_DEPTH && !within(value, MOST_DEPTH)) {
    throw invalid("recursion_loop", `expected at most ${MOST_DEPTH} levels of nesting`);
  }
  return value;
}

async function readText(request: Request, maxBytes: number, ticker: Ticker | undefined): Promise<string> {
  const length = request.headers.get("content-length");
  if (length !== null && Number(length) > maxBytes) throw tooLarge(maxBytes);
  const source = decompressed(request);
  const reading: Promise<ArrayBuffer | Uint8Array> = source === null && length !== null
    ? request.arrayBuffer()
    : readBounded(source ?? request.body, maxBytes);
  const deadline = BODY_MS + (length === null ? maxBytes : Number(length)) / SLOWEST_BYTES_PER_MS;
  let bytes: ArrayBuffer | Uint8Array;
  try {
    bytes = await inTime(reading, deadline, ticker);
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    const what = source === null ? "it broke off" : "it is not what its content-encoding says";
    throw invalid("body_incomplete", `expected a whole body, ${what}`, cause);
  }
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalid("json_invalid", "expected UTF-8, got bytes that are not");
  }
}

/** The body as it was before it was compressed; null when it was not. */
function decompressed(request: Request): ReadableStream<Uint8Array<ArrayBuffer>> | null {
  const encoding = request.headers.get("content-encoding")?.trim().toLowerCase();
  if (encoding === undefined || encoding === "" || encoding === "identity" || request.body === null) {
    return null;
  }
  if (encoding !== "gzip" && encoding !== "deflate") {
    throw invalid(
      "content_encoding",
      `expected content-encoding gzip, deflate or none, got ${JSON.stringify(encoding.slice(0, 40))}`,
    );
  }
  return request.body.pipeThrough(new DecompressionStream(encoding));
}

/** A caller who sends a byte a minute holds a place that others could have. */
function inTime<T>(work: Promise<T>, ms: number, ticker: Ticker | undefined): Promise<T> {
  if (ticker === undefined) return work;
  return new Promise((resolve, reject) => {
    const deadline = ticker.deadline(() =>
      reject(invalid("body_incomplete", `expected a whole body within ${Math.ceil(ms / 1000)} seconds`))
    );
    deadline.arm(ms);
    work.then((value) => {
      deadline.close();
      resolve(value);
    }, (thrown) => {
      deadline.close();
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
): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
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

/** Whether a JSON value is nested no deeper than this. */
function within(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0) return false;
  if (Array.isArray(value)) return value.every((inner) => within(inner, depth - 1));
  for (const name in value) if (!within((value as Record<string, unknown>)[name], depth - 1)) return false;
  return true;
}

function tooLarge(maxBytes: number): Failure {
  return new Failure(
    "payload_too_large",
    `The request body is too large: expected at most ${maxBytes} bytes.`,
  );
}

function invalid(type: string, what: string, cause?: unknown): Failure {
  const message = `Cannot read the request body: ${what}.`;
  return new Failure("validation_error", message, { errors: [{ type, loc: ["body"], msg: message }], cause });
}

/** Where the parser stopped. Its own message quotes the body, which may hold what must not be repeated. */
function position(message: string): string {
  const match = /at position (\d+)/.exec(message);
  return match ? ` (it breaks at character ${match[1]})` : "";
}
