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

/**
 * A window with a JSON web token without decoding: its parts are encoded too, but the token is recognised as
 * a whole.
 */
function token(view: View, writer: ViewWriter, escape: Spot): void {
  writer.copy(Math.max(0, escape.start - LEAD), escape.start);
  writer.say(escape);
  writer.copy(escape.end, Math.min(view.text.length, escape.end + LONGEST_TOKEN));
  writer.part();
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
  let tokens = 0;
  for (const escape of packed.length > 0 ? single : []) {
    if (!text.startsWith("eyJ", escape.end) || ++tokens > MOST_TOKENS) continue;
    token(view, writer, escape);
  }
  const decoded = writer.view();
  const folded = fold(decoded.text);
  return {
    view: folded ? compose(decoded, folded) : decoded,
    escapes: single.map(({ start, end }) => sentSpan(view, start, end)),
  };
}
