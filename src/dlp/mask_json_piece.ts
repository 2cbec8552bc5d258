/**
 * Replaces findings in JSON text that comes in pieces, so that what is JSON stays JSON: in strings the placeholder stands
 * as it is, a number or a name of the language becomes a string, and signs of the language stay.
 */
import type { Replacement } from "./json_text.ts";

/** Where in JSON a text ends. */
export type JsonPlace = "outside" | "string" | "escape";

/** Where in JSON the end of a piece stands: outside of strings, in one, or behind a backslash. */
export function placeAfter(text: string, start: number, end: number, place: JsonPlace): JsonPlace {
  for (let i = start; i < end; i++) {
    const unit = text.charCodeAt(i);
    if (place === "escape") place = "string";
    else if (place === "outside") {
      if (unit === 34) place = "string";
    } else if (unit === 92) place = "escape";
    else if (unit === 34) place = "outside";
  }
  return place;
}

/**
 * The replacements that one finding takes.
 *
 * @param place where in JSON the finding begins
 */
export function replacementsFor(
  text: string,
  { start, end, by }: Replacement,
  place: JsonPlace,
  out: Replacement[],
): void {
  let named = false;
  const name = () => {
    const said = named ? "" : by;
    named = true;
    return said;
  };
  for (let at = start; at < end;) {
    const from = at;
    if (place === "outside") {
      if (/[\s"{}[\],:]/.test(text[at])) {
        if (text[at] === '"') place = "string";
        at++;
        continue;
      }
      while (at < end && !/[\s"{}[\],:]/.test(text[at])) at++;
      out.push({ start: from, end: at, by: `"${name()}"` });
      continue;
    }
    while (at < end && (place === "escape" || text[at] !== '"')) {
      place = placeAfter(text, at, at + 1, place);
      at++;
    }
    if (at > from) out.push({ start: from, end: at, by: name() });
    if (at < end) {
      place = "outside";
      at++;
    }
  }
}
