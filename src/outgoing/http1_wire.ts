/** HTTP/1.1 as a client writes and reads it: a request's bytes, and the head of an answer. */
import { Buffer } from "node:buffer";
import { BodyFraming, WireError } from "../transport/body_framing.ts";
import { hasWord, headLines } from "../transport/head.ts";
import { headAndText, headBytes } from "../transport/text_bytes.ts";

export interface Head {
  status: number;
  /** By name in lower case; repeated ones joined by a comma. */
  headers: Pick<ReadonlyMap<string, string>, "get">;
  body: BodyFraming;
  /** The connection may be used again after this answer. */
  keepAlive: boolean;
}

const encoder = new TextEncoder();

/** A longer body is written by itself: to put it behind the head would copy it. */
const JOINED_BYTES = 16 * 1024;

/** A request as bytes, to be written one piece after the other. Throws on a header that would end before its end. */
export function requestBytes(
  host: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
  method = "POST",
): Uint8Array[] {
  const size = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n${fieldLines(headers)}`;
  if (size > 0 || method !== "GET") head += `content-length: ${size}\r\n`;
  head += "\r\n";
  if (typeof body !== "string") return [headBytes(head), body];
  return size <= JOINED_BYTES ? [headAndText(head, body, size)] : [headBytes(head), encoder.encode(body)];
}

/** Of headers that many calls have. */
const known = new WeakMap<Readonly<Record<string, string>>, string>();

function fieldLines(headers: Readonly<Record<string, string>>): string {
  const before = known.get(headers);
  if (before !== undefined) return before;
  let lines = "";
  for (const name in headers) {
    const value = headers[name];
    if (/[\0\r\n\u0100-\uffff]/.test(value)) throw new WireError(`the value of header ${name} is none`);
    lines += `${name}: ${value}\r\n`;
  }
  // They are one object for all calls to an upstream, and may not change: others are made for one call.
  if (Object.isFrozen(headers)) known.set(headers, lines);
  return lines;
}

/**
 * @param text a head with its blank line
 * @param looked its bytes were looked at
 */
export function parseHead(text: string, looked = false): Head & { headers: Map<string, string> } {
  const { first, fields } = headLines(text, looked);
  const line = /^HTTP\/1\.([01]) ([1-9]\d{2})(?: |$)/.exec(first);
  if (!line) throw new WireError("the status line is not one of HTTP/1.1");
  const minor = Number(line[1]);
  const status = Number(line[2]);
  const connection = fields.get("connection");
  return {
    status,
    headers: fields,
    body: BodyFraming.ofAnswer(status, (name) => fields.get(name), minor),
    keepAlive: minor === 1 ? !hasWord(connection, "close") : hasWord(connection, "keep-alive"),
  };
}
