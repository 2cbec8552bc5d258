/**
 * A view of the encoded parts of a text: each is decoded and shown with its surrounding text, since the word
 * that names a value, and its boundaries, may be outside of the encoded part.
 *
 * A run maps back to itself as a whole, escapes map back individually. The size is bounded: at most twice the
 * text, plus the decompressed contents of runs.
 */

import { escapes } from "./escapes.ts";
import { fold } from "./fold.ts";
import { ANYTHING, ESCAPES } from "./hints.ts";
import { CLASS_OF, WORD } from "./recognizers/character_class.ts";
import { packedRuns } from "./packed.ts";
import { compose, sentSpan, type Span, type Spot, type View, ViewWriter } from "./view.ts";

export interface Decoded {
  readonly view: View;
  /** Positions of single-character escapes in the original text, in order. */
  readonly escapes: readonly Span[];
}

/** Context before and after an encoded part. */
const LEAD = 112;
const TRAIL = 112;

/** Maximum number of encoded runs that are also examined as the beginning of a JSON web token. */
const MOST_TOKENS = 32;
const LONGEST_TOKEN = 4096;

/** What JSON web tokens begin with: an encoded brace and quote. */
const TOKEN_BEGINS = "eyJ";
/** Characters of these tokens. */
const OF_TOKEN = /[\w.-]*/y;

function isOfToken(unit: number): boolean {
  return (CLASS_OF[unit] & WORD) !== 0 || unit === 46;
}

/** The end of the characters of a token from `start` on. */
function tokenEnd(text: string, start: number): number {
  OF_TOKEN.lastIndex = start;
  OF_TOKEN.test(text);
  return OF_TOKEN.lastIndex;
}

/**
 * Where a JSON web token starts that an escape cuts, or stands directly before; -1: nowhere. A further escape
 * may have left two characters between them: `%253DeyJ…`.
 */
function tokenStart(text: string, escape: Spot): number {
  for (const at of [escape.end, escape.end + 2]) if (text.startsWith(TOKEN_BEGINS, at)) return at;
  if (escape.says !== "") return -1;
  let start = escape.start;
  while (start > 0 && escape.start - start < LONGEST_TOKEN && isOfToken(text.charCodeAt(start - 1))) start--;
  return start < escape.start && text.startsWith(TOKEN_BEGINS, start) ? start : -1;
}

/**
 * Windows with JSON web tokens without decoding them: their parts are encoded too, but a token is recognised
 * as a whole.
 */
function showTokens(view: View, writer: ViewWriter, escapes: readonly Spot[]): void {
  const { text } = view;
  let done = 0;
  for (let i = 0, shown = 0; i < escapes.length && shown < MOST_TOKENS; i++) {
    const start = escapes[i].end < done ? -1 : tokenStart(text, escapes[i]);
    if (start < 0) continue;
    shown++;
    let at = Math.max(0, Math.min(start, escapes[i].start) - LEAD);
    const most = start + LONGEST_TOKEN;
    for (; i < escapes.length && escapes[i].start < most; i++) {
      const escape = escapes[i];
      // Only what cuts the token belongs to it, and what stands before it.
      if (
        escape.start > start && (escape.says !== "" || escape.start !== tokenEnd(text, Math.max(at, start)))
      ) break;
      writer.copy(at, escape.start);
      writer.say(escape);
      at = escape.end;
    }
    done = Math.min(tokenEnd(text, Math.max(at, start)), most);
    writer.copy(at, done);
    writer.part();
    i--;
  }
}

/** The rest of a token or key. */
const REST_OF_TOKEN = /[\w+/=.~-]*/y;

/** The end of the context after an encoded part: a token that starts in it is shown to its end. */
function trailEnd(text: string, start: number): number {
  const end = start + TRAIL;
  if (end >= text.length) return text.length;
  REST_OF_TOKEN.lastIndex = end;
  REST_OF_TOKEN.test(text);
  return Math.min(REST_OF_TOKEN.lastIndex, start + LONGEST_TOKEN);
}

/**
 * The view with decoded parts; null: there are none.
 * @param hints result of the walk over the view
 */
export function decodings(view: View, hints = ANYTHING): Decoded | null {
  const { text } = view;
  const single = (hints & ESCAPES) === 0 ? [] : escapes(text);
  const packed = packedRuns(text, hints);
  if (single.length === 0 && packed.length === 0) return null;
  const spots = packed.length === 0
    ? single
    : [...packed, ...single].sort((a, b) => a.start - b.start || b.end - a.end);
  const writer = new ViewWriter(view);
  let budget = view.text.length * 2 + 4096;
  for (let i = 0; i < spots.length && budget > 0;) {
    const start = Math.max(0, spots[i].start - LEAD);
    let p = start;
    let end = spots[i].end;
    for (; i < spots.length && spots[i].start <= end + LEAD; i++) {
      const spot = spots[i];
      if (spot.start < p) continue;
      writer.copy(p, spot.start);
      writer.say(spot);
      budget -= spot.says.length;
      p = end = spot.end;
      if (budget <= 0) break;
    }
    // The next window shows what is around the next encoded part.
    writer.copy(p, Math.min(trailEnd(text, p), spots[i]?.start ?? text.length));
    writer.part();
  }
  if (packed.length > 0) showTokens(view, writer, single);
  const decoded = writer.view();
  const folded = fold(decoded.text);
  return {
    view: folded ? compose(decoded, folded) : decoded,
    escapes: single.map(({ start, end }) => sentSpan(view, start, end)),
  };
}
