/**
 * Runs the patterns of a check over the texts of a request: the original, normalized and decoded text, so
 * that a disguised value is found like its plain form.
 */
import { BOUNDS, type Reading, readings, revealed } from "./lattice.ts";
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
  const all = [...texts, ...others.map(({ reading }) => reading.view.text)];
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
      others.forEach(({ of, at, reading }, i) => {
        for (const { start, end } of outcome.spans[texts.length + i]) {
          const there = revealed(reading, start, end, BOUNDS);
          if (!there) continue;
          const sent = { start: at + there.start, end: at + there.end };
          spans[of].set(key(sent), sent);
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

/** A reading that differs from the original: its text and position. */
interface OtherReading {
  readonly of: number;
  readonly at: number;
  readonly reading: Reading;
}

function* otherReadings(texts: readonly string[]): Generator<void, OtherReading[]> {
  const others: OtherReading[] = [];
  let since = performance.now();
  for (const [of, text] of texts.entries()) {
    for (let at = 0; at < text.length; at += SEGMENT) {
      const segment = text.slice(at, at + SEGMENT + OVERLAP);
      for (const reading of readings(segment)) {
        if (reading.cells) continue;
        if (reading.view.from && !reading.joined) others.push({ of, at, reading });
      }
      if (performance.now() - since < 2) continue;
      yield;
      since = performance.now();
    }
  }
  return others;
}
