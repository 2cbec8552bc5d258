/**
 * How many tokens a text has, by a public tokenizer (o200k) whatever the model: within some percent for most models.
 *
 * The tokenizer is loaded on first use, because it is larger than the rest of the program. It merges one word or one run
 * of signs in time that grows with the square of its length, so a longer run than any word is cut; and it looks for names
 * of control tokens, which in a caller's text are just text.
 */
import { pause } from "../timing/waits.ts";

export type CountTokens = (text: string) => number;

/** The longest token is a run of 128 blanks; cutting at its length leaves the count of repeated signs exact. */
const LONGEST_RUN = 128;
const RUN = new RegExp(
  ["[\\p{L}\\p{M}]", "[^\\s\\p{L}\\p{N}]", "\\s", "[\\r\\n/]"].map((c) => `${c}{${2 * LONGEST_RUN},}`).join(
    "|",
  ),
  "gu",
);
const AS_TEXT = { disallowedSpecial: new Set<string>() };

/** Characters counted at once in a thread of its own: up to 200 ms for text that no people write. */
const PIECE_CHARS = 64 * 1024;
/** Characters counted before others of the same thread get their turn. */
const TURN_CHARS = 8 * 1024;

export async function tokenCounter(): Promise<CountTokens> {
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
  const count = (text: string) => countTokens(text, AS_TEXT);
  return (text) => {
    if (text.length < 2 * LONGEST_RUN) return count(text);
    let tokens = 0;
    let from = 0;
    for (const { 0: run, index } of text.matchAll(RUN)) {
      if (index > from) tokens += count(text.slice(from, index));
      from = index + run.length;
      for (let at = 0; at < run.length; at += LONGEST_RUN) tokens += count(run.slice(at, at + LONGEST_RUN));
    }
    return tokens + (from < text.length ? count(from === 0 ? text : text.slice(from)) : 0);
  };
}

/** Tokens of many texts, however long: others get their turn meanwhile. Stops soon after `enough`. */
export async function countAll(texts: Iterable<string>, { enough = Infinity } = {}): Promise<number> {
  const count = await tokenCounter();
  let tokens = 0;
  for (const piece of pieces(texts, TURN_CHARS)) {
    for (const text of piece) tokens += count(text);
    if (tokens > enough) break;
    await pause(0);
  }
  return tokens;
}

/** Texts, and parts of long ones, as many as are counted at once. */
export function* pieces(texts: Iterable<string>, most = PIECE_CHARS): Generator<string[]> {
  let piece: string[] = [];
  let chars = 0;
  for (const text of texts) {
    for (let at = 0; at < text.length;) {
      const end = pieceEnd(text, at, most);
      piece.push(text.slice(at, end));
      // The shortest text takes some time as well.
      chars += end - at + 8;
      at = end;
      if (chars < most) continue;
      yield piece;
      piece = [];
      chars = 0;
    }
  }
  if (piece.length > 0) yield piece;
}

/** Where a turn's text ends: before a blank when there is one, since a word takes the blank before it along. */
function pieceEnd(text: string, from: number, most: number): number {
  if (from + most >= text.length) return text.length;
  const blank = text.slice(from, from + most + 1).lastIndexOf(" ");
  return from + (blank > most / 2 ? blank : most);
}
