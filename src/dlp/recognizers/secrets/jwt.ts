/** JSON web tokens. */

import { before, report, type ScannedView } from "../scanned_view.ts";

const JWT =
  /eyJ[A-Za-z0-9_-]{5,4000}\.(?:eyJ[A-Za-z0-9_-]{4,16000}(?:\.[A-Za-z0-9_-]{0,2000})?|[A-Za-z0-9_-]{4,16000}\.[A-Za-z0-9_-]{0,2000})/y;

/** A JSON web token: a header that decodes to JSON with an algorithm or type, a body, a signature. */
export function scanJwt(view: ScannedView, start: number): boolean {
  // The body of a token whose header stands in front.
  if (view.text.charCodeAt(start - 1) === 46 && /eyJ[\w-]{5,}\.$/.test(before(view, start, 400))) {
    return false;
  }
  JWT.lastIndex = start;
  const match = JWT.exec(view.text);
  if (!match) return false;
  const header = match[0].slice(0, match[0].indexOf("."));
  let readable = "";
  try {
    readable = atob(
      header.replaceAll("-", "+").replaceAll("_", "/").slice(0, header.length - header.length % 4),
    );
  } catch {
    return false;
  }
  if (!/^\{\s*"/.test(readable)) return false;
  report(view, "JWT", start, start + match[0].length, 0.95);
  return true;
}
