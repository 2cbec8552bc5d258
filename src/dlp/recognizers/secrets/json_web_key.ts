/** Private members of JSON web keys. Source: RFC 7517, RFC 7518 (section 6), RFC 8037. */

import { report, type ScannedView } from "../scanned_view.ts";

/**
 * A private member with its value; `d` is in keys of all asymmetric types, the others belong to RSA. Quotes
 * may be escaped: the decoded text around an escape does not reach from one member to the next.
 */
const MEMBER = /(?:d|k|[pq]|d[pq]|qi)\\{0,8}"\s{0,8}:\s{0,8}\\{0,8}"([A-Za-z0-9_-]{21,1400})(?=\\{0,8}")/y;
const TYPE = /"kty\\{0,8}"\s{0,8}:\s{0,8}\\{0,8}"(RSA|EC|OKP|oct)\\{0,8}"/;
/** Maximum distance of the member from the type of its key: an RSA key of 8,192 bits has less before it. */
const WITHIN = 3000;

/** The name of a member, between quotes, at `start`. */
export function scanJsonWebKey(view: ScannedView, start: number): void {
  const { text } = view;
  if (text.charCodeAt(start - 1) !== 34) return;
  MEMBER.lastIndex = start;
  const value = MEMBER.exec(text)?.[1];
  if (value === undefined) return;
  const end = MEMBER.lastIndex;
  const type = typeOfKey(text, start, end);
  const name = text[start];
  if (type === undefined || (name === "k") !== (type === "oct")) return;
  report(view, "PRIVATE_KEY", end - value.length, end, 0.95);
}

/** The member `kty` of the object around a member; undefined: it has none. */
function typeOfKey(text: string, start: number, end: number): string | undefined {
  const opening = text.lastIndexOf("{", start);
  const closing = text.indexOf("}", end);
  const object = text.slice(
    Math.max(opening, start - WITHIN, 0),
    closing < 0 ? end + WITHIN : Math.min(closing, end + WITHIN),
  );
  return TYPE.exec(object)?.[1];
}
