/**
 * The patterns of a check, run over the texts of a request: each text as it is and in folded form, so that a disguised
 * value is found where its plain form would be.
 */
import { fold } from "./fold.ts";
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

export async function findPatterns(
  texts: readonly string[],
  check: Check,
  re2: Re2,
): Promise<PatternResult> {
  const views = texts.map(fold);
  const all = [...texts];
  views.forEach((view) => view && all.push(view.text));
  const result: PatternResult = { matches: new Map(), whole: true, refused: null };
  for (const [pattern, { rule }] of check.patterns.entries()) {
    const outcome = await re2.find(rule.pattern, all);
    if (outcome.kind === "refused") {
      result.refused ??= { pattern, why: outcome.why };
      result.whole = false;
    } else if (outcome.kind === "exhausted") result.whole = false;
    else {
      result.whole &&= outcome.whole;
      let folded = texts.length;
      texts.forEach((text, i) => {
        const view = views[i];
        const spans = outcome.spans[i];
        const more = view
          ? outcome.spans[folded++].map(({ start, end }) => ({
            start: view.from![start],
            end: view.to![end - 1],
          }))
          : [];
        add(result.matches, text, pattern, spans, more);
      });
    }
  }
  return result;
}

function add(
  matches: Map<string, PatternMatch[]>,
  text: string,
  pattern: number,
  spans: readonly Span[],
  more: readonly Span[],
): void {
  if (spans.length === 0 && more.length === 0) return;
  const known = new Set(spans.map(({ start, end }) => `${start} ${end}`));
  const list = matches.get(text) ?? [];
  for (const span of spans) list.push({ pattern, ...span });
  for (const span of more) if (!known.has(`${span.start} ${span.end}`)) list.push({ pattern, ...span });
  matches.set(text, list);
}
