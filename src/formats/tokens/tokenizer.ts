/**
 * Counts tokens with a public tokenizer (o200k), whatever the model: within some per cent for most models.
 *
 * The tokenizer is loaded on first use, because it is larger than the rest of the program. It merges a word
 * or a run of punctuation in quadratic time, so longer runs than any word are split; and it searches for
 * names of control tokens, which in a caller's text are ordinary text.
 */
import { pause } from "../../timing/waits.ts";

export type CountTokens = (text: string) => number;

/**
 * The longest token is a run of 128 spaces; splitting at this length keeps the count of repeated characters
 * exact.
 */
const LONGEST_RUN = 128;
const RUN = new RegExp(
  ["[\\p{L}\\p{M}]", "[^\\s\\p{L}\\p{N}]", "\\s", "[\\r\\n/]"].map((c) => `${c}{${2 * LONGEST_RUN},}`).join(
    "|",
  ),
  "gu",
);
const AS_TEXT = { disallowedSpecial: new Set<string>() };

/** Characters counted at once in a worker: up to 200 ms for unnatural text. */
const PIECE_CHARS = 64 * 1024;
/** Characters counted before other tasks on the same thread may run. */
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

/** Counts the tokens of many texts, yielding to other tasks. Stops soon after `enough`. */
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

/** Texts, and parts of long ones, in batches that are counted at once. */
export function* pieces(texts: Iterable<string>, most = PIECE_CHARS): Generator<string[]> {
  let piece: string[] = [];
  let chars = 0;
  for (const text of texts) {
    for (let at = 0; at < text.length;) {
      const end = pieceEnd(text, at, most);
      piece.push(text.slice(at, end));
      // Includes a fixed cost per text.
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

/** Where a batch is split: before a space if possible, since a word includes the preceding space. */
function pieceEnd(text: string, from: number, most: number): number {
  if (from + most >= text.length) return text.length;
  const blank = text.slice(from, from + most + 1).lastIndexOf(" ");
  return from + (blank > most / 2 ? blank : most);
}
