/** Serializes HTTP/1.1 requests and parses the heads of responses. */
import { Buffer } from "node:buffer";
import { BodyFraming, WireError } from "../transport/body_framing.ts";
import { hasWord, headLines } from "../transport/head.ts";
import { headAndText, headBytes } from "../transport/text_bytes.ts";

export interface Head {
  status: number;
  /** By lower-case name; repeated fields are joined by a comma. */
  headers: Pick<ReadonlyMap<string, string>, "get">;
  body: BodyFraming;
  /** The connection can be reused after this response. */
  keepAlive: boolean;
}

const encoder = new TextEncoder();

/** Larger bodies are written separately, since appending them to the head would copy them. */
const JOINED_BYTES = 16 * 1024;

/** A request as bytes, in pieces to be written in order. Throws for a header that contains a line break. */
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

/** Cache of serialized headers that many calls share. */
const known = new WeakMap<Readonly<Record<string, string>>, string>();

function fieldLines(headers: Readonly<Record<string, string>>): string {
  const before = known.get(headers);
  if (before !== undefined) return before;
  let lines = "";
  for (const name in headers) {
    const value = headers[name];
    if (/[\0\r\n\u0100-\uffff]/.test(value)) throw new WireError(`the value of header ${name} is invalid`);
    lines += `${name}: ${value}\r\n`;
  }
  // Frozen headers are one object for all calls to an upstream; others are created for one call.
  if (Object.isFrozen(headers)) known.set(headers, lines);
  return lines;
}

/**
 * @param text a head including the empty line
 * @param looked true: its characters have been checked
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
