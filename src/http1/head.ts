/**
 * The head of an HTTP/1.1 message (RFC 9112, sections 2 to 5): where it ends, and its fields. What the standard lets a
 * recipient repair is refused here: bare line feeds, folded lines, blanks before a colon.
 */
import { WireError } from "./body_framing.ts";

const CR = 13;
const LF = 10;

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
  for (let at = bytes.indexOf(LF, from); at >= 0 && at + 2 < to; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3;
  }
  return 0;
}

/** The first line of a head and its fields: by name in lower case, repeated ones joined by a comma. */
export interface HeadLines {
  first: string;
  fields: Map<string, string>;
}

/** @param text a head with its blank line, a character a byte */
export function headLines(text: string): HeadLines {
  if (CONTROL.test(text)) throw new WireError("a line of the head is not one");
  const fields = new Map<string, string>();
  const lineEnd = endOfLine(text, 0);
  let count = 0;
  for (let at = lineEnd + 2; at < text.length - 2;) {
    const end = endOfLine(text, at);
    const colon = text.indexOf(":", at);
    if (colon <= at || colon > end) throw new WireError("a header has no name");
    const name = text.slice(at, colon).toLowerCase();
    if (!isToken(name)) throw new WireError("a header has no name");
    if (++count > MOST_FIELDS) throw new WireError("the head has too many fields");
    const value = text.slice(colon + 1, end).trim();
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before}, ${value}`);
    at = end + 2;
  }
  return { first: text.slice(0, lineEnd), fields };
}

/** Names that were looked at: senders repeat theirs with every message. */
const tokens = new Set<string>();
const MOST_TOKENS = 1000;
const LONGEST_KEPT = 40;

function isToken(name: string): boolean {
  if (tokens.has(name)) return true;
  if (!TOKEN.test(name)) return false;
  if (tokens.size < MOST_TOKENS && name.length <= LONGEST_KEPT) tokens.add(name);
  return true;
}

/** Where a line ends. Neither a CR nor an LF stands by itself; a line that continues the one before has no name. */
function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\r", from);
  if (end < 0 || text.indexOf("\n", from) !== end + 1) throw new WireError("a line of the head is not one");
  return end;
}

/** Whether a comma-separated field has this word; all in lower case. */
export function hasWord(field: string | undefined, word: string): boolean {
  return field !== undefined && field.toLowerCase().split(",").some((part) => part.trim() === word);
}
