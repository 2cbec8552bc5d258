/** Triggers for types that a single pattern over the whole text finds. */

import type { ViewTrigger } from "./recognizer.ts";
import { report, type ScannedView } from "./scanned_view.ts";

type Judge = (view: ScannedView, start: number, end: number) => number;

/**
 * Every match of a pattern, without punctuation at its end, with a computed confidence.
 *
 * @param needs words of which a match requires at least one, so that the pattern is not run over texts
 * without them
 */
export function matchesOf(
  type: string,
  pattern: RegExp,
  confidenceOf: Judge,
  needs: RegExp = pattern,
): ViewTrigger {
  return {
    on: "view",
    scan(view) {
      if (needs !== pattern && !needs.test(view.text)) return;
      for (const m of view.text.matchAll(pattern)) {
        const end = m.index + m[0].replace(/[.,;:!?)]+$/, "").length;
        const confidence = confidenceOf(view, m.index, end);
        if (confidence >= 0.5) report(view, type, m.index, end, confidence);
      }
    },
  };
}
