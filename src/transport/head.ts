/**
 * The head of an HTTP/1.1 message (RFC 9112, sections 2 to 5): where it ends, and its fields. What the standard lets a
 * recipient repair is refused here: bare line feeds, folded lines, blanks before a colon.
 */
import type { Buffer } from "node:buffer";
import { WireError } from "./body_framing.ts";

const CR = 13;
const LF = 10;
const TAB = 9;
const BLANK = 32;

/** A head longer than this is not waited for. */
export const MAX_HEAD_BYTES = 64 * 1024;
/** A head of more fields is refused. */
const MOST_FIELDS = 200;

/** Control characters that no line may hold. */
// deno-lint-ignore no-control-regex
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/;
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** Index behind the blank line that ends a head, 0 when it is not there yet. Looks from `from` on. */
export function headEnd(bytes: Uint8Array, from: number, to: number): number {
  // Not `indexOf`, which of a Buffer costs more for each line than to look at its bytes.
  for (let at = from; at + 2 < to; at++) {
    if (bytes[at] === LF && bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3;
  }
  return 0;
}

/**
 * Throws where a line feed stands by itself: lines that end so have no end that {@link headEnd} finds, and would be waited for.
 *
 * @param start where the head begins
 */
export function refuseLoneFeeds(bytes: Buffer, start: number, from: number, to: number): void {
  for (let at = bytes.indexOf(LF, from); at >= 0 && at < to; at = bytes.indexOf(LF, at + 1)) {
    if (at === start || bytes[at - 1] !== CR) throw new WireError("a line of the head is not one");
  }
}

/** Fields by their names in lower case. */
export type Fields = Pick<ReadonlyMap<string, string>, "get" | "has"> & Iterable<[string, string]>;

/** The first line of a head and its fields: by name in lower case, repeated ones joined by a comma. */
export interface HeadLines {
  first: string;
  fields: Map<string, string>;
}

/** The bytes of a head as text. Throws where some are control characters: to find them in bytes takes half the time. */
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
 * @param text a head with its blank line, a character a byte
 * @param looked {@link headText} has made it
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

/** Names that most heads have, by length: what is found among them needs no look at its letters, and no hash of its own. */
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

/** Null: it is no name. @param name in lower case */
function nameOf(name: string): string | null {
  const usual = USUAL[name.length];
  if (usual !== undefined) {
    for (let i = 0; i < usual.length; i++) if (usual[i] === name) return usual[i];
  }
  return TOKEN.test(name) ? name : null;
}

/** Where a line ends. Neither a CR nor an LF stands by itself; a line that continues the one before has no name. */
function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\r", from);
  if (end < 0 || text.indexOf("\n", from) !== end + 1) throw new WireError("a line of the head is not one");
  return end;
}

/** A value without the blanks around it. Not `trim()`, which takes U+00A0 for one: other servers do not. */
export function valueIn(text: string, from: number, to: number): string {
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (from < to && isBlank(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === BLANK || code === TAB;
}

/** Whether a comma-separated field has this word; all in lower case. */
export function hasWord(field: string | undefined, word: string): boolean {
  return field !== undefined &&
    field.toLowerCase().split(",").some((part) => valueIn(part, 0, part.length) === word);
}
