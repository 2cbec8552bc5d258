/** Secrets that depend on the whole text: a Kubernetes manifest, or a field with a name and a value. */

import { isPlaceholder, looksRandom } from "../randomness.ts";
import { report, type ScannedView } from "../scanned_view.ts";

const KIND = /kind:/i;
const MANIFEST = /(?<![\w-])kind:\s{0,3}["']?secret["']?\s/i;
const ENTRY =
  /^[ \t]{1,8}["']?[\w.-]{1,80}["']?:\s{0,3}(?:[|>]-?\s{1,12})?["']?([A-Za-z0-9+/]{10,4000}={0,3})["']?\s*$/gm;

/** The values of a Kubernetes secret, which are only base64 encoded. */
export function scanManifest(view: ScannedView): void {
  const text = view.text;
  if (!KIND.test(text) || !MANIFEST.test(text)) return;
  for (let at = text.search(/^data:/m), n = 0; at >= 0 && n < 1; n++) {
    const stop = text.slice(at + 5).search(/^\S/m);
    const block = text.slice(at, stop < 0 ? text.length : at + 5 + stop);
    for (const m of block.matchAll(ENTRY)) {
      const start = at + m.index + m[0].search(/\S/);
      report(view, "GENERIC_SECRET", start, at + m.index + m[0].trimEnd().length, 0.7);
    }
  }
}

const LINE =
  /^["'`<{(\s]{0,8}(?![\w.-]{0,40}(?:commit|sha\d*|md5|hash|digest|sum|uuid|guid|id|etag|rev|version|build|integrity)\b)[\w.-]{2,40}(?: \w{1,10})?["'`]?\s{0,3}[:=\s]\s{0,3}["'`]?$/i;

/** Only if secrets alone are searched for: a view that consists of a name and a random-looking value. */
export function scanAssignment(view: ScannedView): void {
  const { text, first, last, focused } = view;
  if (!focused || last - first > 300 || last - first < 26) return;
  const value = /[\w+/.~-]{24,}={0,2}$/.exec(text.slice(first, last))?.[0];
  if (
    !value || value.length === last - first || !looksRandom(value.replace(/^[:=-]+/, ""), true) ||
    isPlaceholder(value)
  ) return;
  if (!LINE.test(text.slice(0, last - value.length))) return;
  report(view, "GENERIC_SECRET", last - value.length, last, 0.5);
}
