/**
 * The patterns of a check, run over the texts of a request: each text as it is, folded and decoded, so that a disguised
 * value is found where its plain form would be.
 */
import { setImmediate } from "node:timers";
import { decodings } from "./decode.ts";
import { fold, type View } from "./fold.ts";
import type { Check } from "./policy.ts";
import type { Re2, Span } from "./re2.ts";

export interface PatternMatch {
  /** Position among the check's patterns. */
  pattern: number;
  start: number;
  end: number;
}

export interface PatternResult {
  /** For each text that has any. */
  matches: Map<string, PatternMatch[]>;
  /** False: time, memory or the number of matches ended the search. */
  whole: boolean;
  /** The first pattern that RE2 does not take, and why. */
  refused: { pattern: number; why: string } | null;
}

/** What all patterns of a request have together, also while they wait for those of others. */
const BUDGET_MS = 10_000;

export async function findPatterns(
  texts: readonly string[],
  check: Check,
  re2: Re2,
): Promise<PatternResult> {
  const views = await viewsOf(texts);
  const all = [...texts, ...views.map(({ view }) => view.text)];
  const result: PatternResult = { matches: new Map(), whole: true, refused: null };
  const until = performance.now() + BUDGET_MS;
  for (const [pattern, { rule }] of check.patterns.entries()) {
    if (performance.now() > until) {
      result.whole = false;
      break;
    }
    const outcome = await re2.find(rule.pattern, all);
    if (outcome.kind === "refused") {
      result.refused ??= { pattern, why: outcome.why };
      result.whole = false;
    } else if (outcome.kind === "exhausted") result.whole = false;
    else {
      result.whole &&= outcome.whole;
      const spans = texts.map((_, i) => new Map(outcome.spans[i].map((span) => [key(span), span])));
      views.forEach(({ of, at, view }, i) => {
        for (const span of outcome.spans[texts.length + i]) {
          if (!isRevealed(view, span)) continue;
          const sent = { start: at + view.from![span.start], end: at + view.to![span.end - 1] };
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

function key({ start, end }: Span): string {
  return `${start} ${end}`;
}

/** Whether a span of a view is more than what the text says without it. */
export function isRevealed({ fresh }: View, { start, end }: Span): boolean {
  if (!fresh) return true;
  for (let i = start; i < end; i++) if (fresh[i] === 1) return true;
  return false;
}

/** Text that is folded and decoded at once, and how much of it is with the next once more. */
const SEGMENT = 16_384;
const OVERLAP = 1024;

/** Other readings of the texts: `of` which one, and where in it they begin. */
async function viewsOf(texts: readonly string[]): Promise<{ of: number; at: number; view: View }[]> {
  const views: { of: number; at: number; view: View }[] = [];
  let since = performance.now();
  for (const [of, text] of texts.entries()) {
    for (let at = 0; at < text.length; at += SEGMENT) {
      const segment = text.slice(at, at + SEGMENT + OVERLAP);
      const folded = fold(segment);
      for (const view of [folded, decodings(folded ?? { text: segment })]) {
        if (view) views.push({ of, at, view });
      }
      if (performance.now() - since < 2) continue;
      await new Promise<void>((resolve) => setImmediate(resolve));
      since = performance.now();
    }
  }
  return views;
}
