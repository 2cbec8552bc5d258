/** Reads a request's JSON body, bounded, and says exactly what is wrong with one that is not JSON. */
import { Failure } from "../exchange/failure.ts";

export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const text = await readText(request, maxBytes);
  if (text.trim() === "") throw invalid("body", "Cannot read the request body: expected JSON, got nothing.");
  try {
    return JSON.parse(text);
  } catch (error) {
    const at = error instanceof SyntaxError ? position(error.message) : "";
    throw invalid("json_invalid", `Cannot read the request body: expected JSON${at}.`);
  }
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const length = request.headers.get("content-length");
  if (length !== null && Number(length) > maxBytes) throw tooLarge(maxBytes);
  const bytes = length !== null ? new Uint8Array(await body(request)) : await readBounded(request, maxBytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalid("json_invalid", "Cannot read the request body: expected UTF-8, got bytes that are not.");
  }
}

async function body(request: Request): Promise<ArrayBuffer> {
  try {
    return await request.arrayBuffer();
  } catch (cause) {
    throw new Failure("validation_error", "Cannot read the request body: it broke off.", { cause });
  }
}

/** A body of unknown length, given up as soon as it is over the bound. */
async function readBounded(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body) {
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

function tooLarge(maxBytes: number): Failure {
  return new Failure(
    "payload_too_large",
    `The request body is too large: expected at most ${maxBytes} bytes.`,
  );
}

function invalid(type: string, message: string): Failure {
  return new Failure("validation_error", message, { errors: [{ type, loc: ["body"], msg: message }] });
}

/** Where the parser stopped. Its own message quotes the body, which may hold what must not be repeated. */
function position(message: string): string {
  const match = /at position (\d+)/.exec(message);
  return match ? ` (it breaks at character ${match[1]})` : "";
}
