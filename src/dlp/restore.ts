/**
 * Stage: replaces placeholders in an answer by their values, in text, citations and tool arguments, also if a
 * placeholder is split over several deltas. Only text that may be the beginning of a placeholder is held
 * back. JSON stays valid: a value is escaped for all strings that contain it.
 *
 * Placeholders in reasoning are kept: it may be signed, and must be returned unchanged.
 */
import type { Part } from "../exchange/part.ts";
import { isObject, type Loose } from "../exchange/json.ts";
import type { Citation } from "../exchange/citation.ts";
import { JsonNesting } from "./json_nesting.ts";
import { respelled, spelledAt } from "./placeholders.ts";

/** Values by placeholder, `<EMAIL_ADDRESS_1>`. */
type Originals = ReadonlyMap<string, string>;

/** State of a block whose placeholders are replaced. */
interface Open {
  /** Text held back, which may be the beginning of a placeholder. */
  held: string;
  /** The text is JSON, so brackets of a placeholder may be escaped. */
  json: boolean;
  /** The nesting of JSON strings at the end of the text; null: not needed. */
  nesting: JsonNesting | null;
  /** Units of the provider's text before the text held back. */
  seen: number;
  /** Positions in the provider's text where replacements change the length, and the total change up to each. */
  shifts: { at: number; by: number }[];
}

/** What may stand before the name of a placeholder, and a beginning of a placeholder in one of its spellings. */
const OPENING = /^(?:\\?<|\\u003c|&lt;|%3c)/i;
const PIECE =
  /^(?:\\?(?:<[A-Z0-9_\\]*)?|\\u(?:0(?:0(?:3(?:c(?:[A-Z0-9_]*(?:\\(?:u(?:0(?:0(?:3)?)?)?)?)?)?)?)?)?)?|&(?:l(?:t(?:;[A-Z0-9_\\]*(?:&(?:g(?:t)?)?)?)?)?)?|%(?:3(?:c[A-Z0-9_]*(?:%3?)?)?)?)$/i;

/** @param originals values by placeholder; more may be added between blocks */
export async function* restore(
  parts: AsyncGenerator<readonly Part[]>,
  originals: Originals,
): AsyncGenerator<readonly Part[]> {
  const open = new Map<number, Open>();
  let [nested, size] = [false, 0];
  const opened = (json: boolean): Open => ({
    held: "",
    json,
    nesting: mayNest() ? new JsonNesting(json) : null,
    seen: 0,
    shifts: [],
  });
  const mayNest = () => {
    if (originals.size > size) {
      size = originals.size;
      nested = originals.values().some((value) => NEEDS_ESCAPES.test(value));
    }
    return nested;
  };
  for await (const batch of parts) {
    const out: Part[] = [];
    for (const part of batch) restorePart(part, { open, opened, originals }, out);
    if (out.length > 0) yield out;
  }
}

interface Restoring {
  originals: Originals;
  open: Map<number, Open>;
  opened(json: boolean): Open;
}

function restorePart(part: Part, { originals, open, opened }: Restoring, out: Part[]): void {
  switch (part.type) {
    case "text-start":
      open.set(part.block, opened(false));
      break;
    case "call-start":
      open.set(part.block, opened(part.kind === "function"));
      break;
    case "text-delta":
    case "call-delta": {
      const block = open.get(part.block);
      if (!block) break;
      const text = feed(block, part.text, originals);
      if (text === "" && part.type === "call-delta") return;
      out.push(text === part.text ? part : { ...part, text });
      return;
    }
    case "text-end":
    case "call-end": {
      const held = open.get(part.block)?.held;
      if (held) {
        out.push({
          type: part.type === "text-end" ? "text-delta" : "call-delta",
          block: part.block,
          text: held,
        });
      }
      open.delete(part.block);
      break;
    }
    case "citation":
      out.push({ ...part, citation: cited(part.citation, open.get(part.block), originals) });
      return;
    case "search-start":
      out.push(turnedBack(part, originals, 0) as Part);
      return;
    case "sound-delta":
    case "live-start":
    case "live-delta":
    case "live-event":
      // A placeholder may be in several pieces; the complete part follows.
      return;
    case "media":
      if (part.transcript === undefined) break;
      out.push({ ...part, transcript: respelled(part.transcript, originals) });
      return;
    case "finish":
      if (part.explanation === undefined) break;
      out.push({ ...part, explanation: respelled(part.explanation, originals) });
      return;
  }
  out.push(part);
}

/** Adds text to a block and returns what can be passed on. */
function feed(block: Open, more: string, originals: Originals): string {
  const text = block.held + more;
  let said = "";
  let done = 0;
  block.held = "";
  for (let at = nextOpen(text, 0); at >= 0; at = nextOpen(text, at)) {
    const whole = spelledAt(text, at, originals);
    if (whole) {
      block.nesting?.read(text.slice(done, at));
      const value = written(whole.value, Math.max(block.nesting?.open ?? 0, block.json ? 1 : 0));
      said += text.slice(done, at) + value;
      done = at + whole.length;
      const before = block.shifts.at(-1)?.by ?? 0;
      block.shifts.push({ at: block.seen + done, by: before + value.length - whole.length });
      at = done;
    } else if (at + LONGEST > text.length && mayGrow(text.slice(at), originals)) {
      block.held = text.slice(at);
      block.nesting?.read(text.slice(done, at));
      said += text.slice(done, at);
      block.seen += at;
      return said;
      // An escape sequence is skipped as a whole: an escaped backslash starts no escape.
    } else at += text[at] === "\\" && (block.json || text[at + 1] === "\\") ? 2 : 1;
  }
  block.seen += text.length;
  block.nesting?.read(text.slice(done));
  return said + text.slice(done);
}

/** Characters that must be escaped in JSON strings. */
// deno-lint-ignore no-control-regex
const NEEDS_ESCAPES = /["\\\x00-\x1f]/;

/** A value escaped for this many nested JSON strings. */
function written(value: string, strings: number): string {
  for (let i = 0; i < strings; i++) value = JSON.stringify(value).slice(1, -1);
  return value;
}

/** Maximum length of a placeholder with escapes. */
const LONGEST = 96;

const OPEN = /[<\\&%]/g;

function nextOpen(text: string, from: number): number {
  OPEN.lastIndex = from;
  return OPEN.test(text) ? OPEN.lastIndex - 1 : -1;
}

/** Whether the end of a text may be the beginning of an existing placeholder. */
function mayGrow(tail: string, originals: Originals): boolean {
  if (!PIECE.test(tail)) return false;
  if (!OPENING.test(tail)) return true;
  const name = tail.replace(OPENING, "").replace(/\\(?=_)/g, "").replace(/[\\&%].*$/, "").toUpperCase();
  for (const placeholder of originals.keys()) if (placeholder.startsWith(name, 1)) return true;
  return false;
}

/** A citation with adjusted positions, and restored values if the source was masked. */
function cited(citation: Citation, block: Open | undefined, originals: Originals): Citation {
  const moved = block === undefined || block.shifts.length === 0 ? citation : shifted(citation, block);
  return turnedBack(moved, originals, 0) as Citation;
}

/** Maximum nesting of objects in a citation. */
const DEEPEST = 6;

/** A value with placeholders in its strings replaced; the same object if there are none. */
function turnedBack(value: unknown, originals: Originals, depth: number): unknown {
  if (typeof value === "string") return respelled(value, originals);
  if (!isObject(value) || depth === DEEPEST) return value;
  let changed: Loose | null = null;
  for (const name of Object.keys(value)) {
    const inner = turnedBack(value[name], originals, depth + 1);
    if (inner !== value[name]) (changed ??= { ...value })[name] = inner;
  }
  return changed ?? value;
}

function shifted(citation: Citation, block: Open): Citation {
  const move = (at: number | undefined) => {
    if (at === undefined) return undefined;
    const shift = block.shifts.findLast((s) => s.at <= at);
    return at + (shift?.by ?? 0);
  };
  return { ...citation, start: move(citation.start), end: move(citation.end) };
}
