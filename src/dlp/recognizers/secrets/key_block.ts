/** Private keys in PEM format. */

import { report, type ScannedView } from "../scanned_view.ts";

const KEY_BLOCK =
  /-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----([^-]{0,12000}?(?:-(?!----)[^-]{0,12000}?){0,40})(?:-----[A-Z0-9 ]{0,60}-----|$)/y;

/** A complete key block; returns its end, or the start of the search. */
export function scanKeyBlock(view: ScannedView, start: number): number {
  KEY_BLOCK.lastIndex = start;
  const match = KEY_BLOCK.exec(view.text);
  if (!match || match[1].replace(/\\n|\s|[^A-Za-z0-9+/=]/g, "").length < 24) return start;
  report(view, "PRIVATE_KEY", start, start + match[0].length, 0.95);
  return start + match[0].length;
}
