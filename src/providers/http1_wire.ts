/** HTTP/1.1 as a client writes and reads it: a request's bytes, and the head of an answer. */
import { BodyFraming, WireError } from "../http1/body_framing.ts";
import { hasWord, headLines } from "../http1/head.ts";

export interface Head {
  status: number;
  /** By name in lower case; repeated ones joined by a comma. */
  headers: Map<string, string>;
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
  body: string,
  method = "POST",
): Uint8Array[] {
  const content = encoder.encode(body);
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n`;
  for (const name in headers) {
    const value = headers[name];
    if (/[\0\r\n]/.test(value)) throw new WireError(`the value of header ${name} has a line break`);
    head += `${name}: ${value}\r\n`;
  }
  if (content.length > 0 || method !== "GET") head += `content-length: ${content.length}\r\n`;
  head += "\r\n";
  const joined = content.length <= JOINED_BYTES;
  const bytes = new Uint8Array(head.length + (joined ? content.length : 0));
  const { read, written } = encoder.encodeInto(head, bytes);
  if (read !== written) {
    // A header is bytes, of which some may be no ASCII.
    for (let i = 0; i < head.length; i++) bytes[i] = head.charCodeAt(i);
  }
  if (!joined) return [bytes, content];
  bytes.set(content, head.length);
  return [bytes];
}

/** @param text a head with its blank line */
export function parseHead(text: string): Head {
  const { first, fields } = headLines(text);
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
