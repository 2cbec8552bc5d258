/**
 * Parses the head of an HTTP/1.1 message (RFC 9112, sections 2 to 5): its end and its fields. Deviations that
 * the RFC allows a recipient to repair are rejected: bare LF, line folding, white space before a colon.
 */
import type { Buffer } from "node:buffer";
import { WireError } from "./body_framing.ts";

const CR = 13;
const LF = 10;
const TAB = 9;
const BLANK = 32;

/** Maximum size of a head in bytes. */
export const MAX_HEAD_BYTES = 64 * 1024;
/** Maximum number of fields. */
const MOST_FIELDS = 200;

/** Control characters that are not allowed in a line. */
// deno-lint-ignore no-control-regex
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/;
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** The index after the empty line that ends a head; 0: not received yet. Searches from `from` on. */
export function headEnd(bytes: Uint8Array, from: number, to: number): number {
  // Not `indexOf`, which on a Buffer costs more per line than a loop over the bytes.
  for (let at = from; at + 2 < to; at++) {
    if (bytes[at] === LF && bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3;
  }
  return 0;
}

/**
 * Throws on a bare LF: {@link headEnd} would never find the end of a head with such line ends, and the server
 * would wait for it.
 *
 * @param start where the head begins
 */
export function refuseLoneFeeds(bytes: Buffer, start: number, from: number, to: number): void {
  for (let at = bytes.indexOf(LF, from); at >= 0 && at < to; at = bytes.indexOf(LF, at + 1)) {
    if (at === start || bytes[at - 1] !== CR) throw new WireError("a line of the head is not one");
  }
}

/** Fields by lower-case name. */
export type Fields = Pick<ReadonlyMap<string, string>, "get" | "has"> & Iterable<[string, string]>;

/** The first line of a head, and its fields by lower-case name; repeated fields are joined by a comma. */
export interface HeadLines {
  first: string;
  fields: Map<string, string>;
}

/**
 * Decodes the bytes of a head, one character per byte. Throws on control characters: checking bytes takes
 * half the time of checking text.
 */
export function headText(bytes: Buffer, from: number, to: number): string {
  for (let at = from; at < to; at++) {
    const byte = bytes[at];
    if ((byte < 32 && byte !== CR && byte !== LF && byte !== TAB) || byte === 127) {
      throw new WireError("a line of the head is not one");
    }
  }
  return bytes.toString("latin1", from, to);
}

/**
 * @param text a head including the empty line, one character per byte
 * @param looked true: the text is from {@link headText}, which has checked it
 */
export function headLines(text: string, looked = false): HeadLines {
  if (!looked && CONTROL.test(text)) throw new WireError("a line of the head is not one");
  const fields = new Map<string, string>();
  const lineEnd = endOfLine(text, 0);
  let count = 0;
  for (let at = lineEnd + 2; at < text.length - 2;) {
    const end = endOfLine(text, at);
    const colon = text.indexOf(":", at);
    if (colon <= at || colon > end) throw new WireError("a header has no name");
    const name = nameOf(text.slice(at, colon).toLowerCase());
    if (name === null) throw new WireError("a header has no name");
    if (++count > MOST_FIELDS) throw new WireError("the head has too many fields");
    const value = valueIn(text, colon + 1, end);
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before}, ${value}`);
    at = end + 2;
  }
  return { first: text.slice(0, lineEnd), fields };
}

/** Common field names by length, to recognize them without lower-casing or hashing. */
const USUAL: string[][] = [];
for (
  const name of [
    "host",
    "date",
    "accept",
    "server",
    "cookie",
    "expect",
    "x-api-key",
    "connection",
    "user-agent",
    "keep-alive",
    "traceparent",
    "content-type",
    "authorization",
    "cache-control",
    "content-length",
    "accept-encoding",
    "accept-language",
    "content-encoding",
    "transfer-encoding",
    "anthropic-version",
  ]
) (USUAL[name.length] ??= []).push(name);

/**
 * The field name; null: invalid.
 * @param name in lower case
 */
function nameOf(name: string): string | null {
  const usual = USUAL[name.length];
  if (usual !== undefined) {
    for (let i = 0; i < usual.length; i++) if (usual[i] === name) return usual[i];
  }
  return TOKEN.test(name) ? name : null;
}

/**
 * The end of a line. Neither CR nor LF may occur alone. A continuation line (obs-fold) is rejected later,
 * because it has no name.
 */
function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\r", from);
  if (end < 0 || text.indexOf("\n", from) !== end + 1) throw new WireError("a line of the head is not one");
  return end;
}

/** A value without surrounding white space. Not `trim()`, which also removes U+00A0, unlike other servers. */
export function valueIn(text: string, from: number, to: number): string {
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (from < to && isBlank(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === BLANK || code === TAB;
}

/** Whether a comma-separated field contains a token; both in lower case. */
export function hasWord(field: string | undefined, word: string): boolean {
  return field !== undefined &&
    field.toLowerCase().split(",").some((part) => valueIn(part, 0, part.length) === word);
}
