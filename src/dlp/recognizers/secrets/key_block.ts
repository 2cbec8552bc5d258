/** Private keys in PEM format, and the static keys of OpenVPN. */

import { partEnd, report, type ScannedView } from "../scanned_view.ts";

const KEY_BLOCK =
  /-----BEGIN (?:(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?|OpenVPN [\w -]{1,30}[kK]ey(?: V\d)?)-----([^-]{0,12000}?(?:-(?!----)[^-]{0,12000}?){0,40})(?:-----[\w -]{0,60}?-----|$)/y;

/** The last line of a block, also of one in the format of SSH2: `---- END SSH2 ENCRYPTED PRIVATE KEY ----`. */
export const END_OF_BLOCK = /-{4,5} ?END [\w ]{1,60}-{4,5}/;

/** The first and the last line. */
const FRAME = /^-----[\w -]{0,80}?-----|-----[\w ]{0,60}-----$/g;

/** A complete key block; returns its end, or the start of the search. */
export function scanKeyBlock(view: ScannedView, start: number): number {
  KEY_BLOCK.lastIndex = start;
  const match = KEY_BLOCK.exec(view.text);
  if (!match) return start;
  const block = view.text.slice(start, partEnd(view, start, match[0].length));
  if (block.replace(FRAME, "").replace(/\\n|\s|[^A-Za-z0-9+/=]/g, "").length < 24) return start;
  const end = endOf(view.text, start, start + block.length);
  report(view, "PRIVATE_KEY", start, end, 0.95);
  return end;
}

/** A line of the key, and a setting below it. */
const SETTING_BELOW =
  /[A-Za-z0-9+/=]{16}\s{0,4}(?=\n[ \t]{0,16}[A-Za-z_][\w.-]{0,40}(?::[ \t]|[ \t]?=[ \t]?["'\w]))/;

/**
 * Where a block ends: one without its last line, in front of a setting, or, behind a quote, in front of the
 * next such quote.
 */
function endOf(text: string, start: number, end: number): number {
  if (!text.startsWith("-----", end - 5)) {
    const below = SETTING_BELOW.exec(text.slice(start, end));
    if (below) end = start + below.index + below[0].length;
  }
  const quote = text[start - 1];
  if (quote !== '"' && quote !== "'" && quote !== "`" || text.startsWith("-----", end - 5)) return end;
  let at = text.indexOf(quote, start);
  if (at < 0 || at > end) return end;
  while (text[at - 1] === "\\") at--;
  return at;
}
