/**
 * Runs the patterns of a check over the texts of a request: the original, normalized and decoded text, so
 * that a disguised value is found like its plain form.
 */
import { BOUNDS, type Reading, readings, revealed } from "./lattice.ts";
import { textsWithin } from "./packed.ts";
import type { Check } from "./policy.ts";
import type { Slices } from "../timing/slices.ts";
import type { Re2, Re2Span } from "./re2.ts";

export interface PatternMatch {
  /** Index of the pattern in the check. */
  pattern: number;
  start: number;
  end: number;
}

export interface PatternResult {
  /** For each text with matches. */
  matches: Map<string, PatternMatch[]>;
  /** False: the search was ended by the limit of time, memory or matches. */
  whole: boolean;
  /** The first pattern that RE2 rejects, and why. */
  refused: { pattern: number; why: string } | null;
}

/** Time limit for all patterns of a request, including waiting for those of others. */
const BUDGET_MS = 8000;

/** Slow operations, and the key for fair queueing. */
export interface LongWork {
  re2: Re2;
  slices: Slices;
  key: string;
}

/** The matches of each pattern. `whole` is false if time ran out; `refused` names a pattern that RE2 rejects. */
export async function findPatterns(
  texts: readonly string[],
  check: Check,
  { re2, key: owner, slices }: LongWork,
): Promise<PatternResult> {
  const others = await slices.run(owner, otherReadings(texts));
  const all = [...texts, ...others.map(({ text }) => text)];
  const result: PatternResult = { matches: new Map(), whole: true, refused: null };
  const until = performance.now() + BUDGET_MS;
  for (const [pattern, { rule }] of check.patterns.entries()) {
    if (performance.now() > until) {
      result.whole = false;
      break;
    }
    const outcome = await re2.find(rule.pattern, all, owner);
    if (outcome.kind === "refused") {
      result.refused ??= { pattern, why: outcome.why };
      result.whole = false;
    } else if (outcome.kind === "exhausted") result.whole = false;
    else {
      result.whole &&= outcome.whole;
      const spans = texts.map((_, i) => new Map(outcome.spans[i].map((span) => [key(span), span])));
      others.forEach(({ of, sent }, i) => {
        for (const { start, end } of outcome.spans[texts.length + i]) {
          const span = sent(start, end);
          if (span !== null) spans[of].set(key(span), span);
        }
      });
      texts.forEach((text, i) => {
        if (spans[i].size === 0) return;
        const list = result.matches.get(text) ?? [];
        for (const span of spans[i].values()) list.push({ pattern, ...span });
        result.matches.set(text, list);
      });
    }
  }
  return result;
}

function key({ start, end }: Re2Span): string {
  return `${start} ${end}`;
}

/** Length of text normalized and decoded at once, and its overlap with the next segment. */
const SEGMENT = 16_384;
const OVERLAP = 1024;

/** A text that is searched besides the original. */
interface OtherText {
  /** Index of the original. */
  readonly of: number;
  readonly text: string;
  /** The span in the original; null: the original has the same text there. */
  sent(start: number, end: number): Re2Span | null;
}

/** Readings of the texts, and of the decoded texts of long runs, that differ from the original. */
function* otherReadings(texts: readonly string[]): Generator<void, OtherText[]> {
  const others: OtherText[] = [];
  let since = performance.now();
  for (const [of, whole] of texts.entries()) {
    for (const { text, at: from, run } of textsWithin(whole)) {
      if (run !== null) others.push({ of, text, sent: () => run });
      for (let at = 0; at < text.length; at += SEGMENT) {
        for (const reading of readings(text.slice(at, at + SEGMENT + OVERLAP))) {
          if (!reading.cells && reading.view.from && !reading.joined) {
            others.push({ of, text: reading.view.text, sent: spanIn(reading, from + at, run) });
          }
        }
        if (performance.now() - since < 2) continue;
        yield;
        since = performance.now();
      }
    }
  }
  return others;
}

/** Maps spans of a reading at `at` of its text, which is the decoded text of `run`, to spans of the original. */
function spanIn(reading: Reading, at: number, run: Re2Span | null): OtherText["sent"] {
  return (start, end) => {
    const there = revealed(reading, start, end, BOUNDS);
    return there && (run ?? { start: at + there.start, end: at + there.end });
  };
}
