/**
 * Replaces findings in streamed JSON text so that it remains valid: in strings the placeholder is inserted, a
 * number or keyword becomes a string, and punctuation is kept.
 */
import type { Replacement } from "./json_text.ts";

/** The state of the JSON tokenizer at a position. */
export type JsonPlace = "outside" | "string" | "escape";

/** The state at the end of a piece: outside of strings, in a string, or after a backslash. */
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
 * The replacements for one finding.
 *
 * @param place state at the start of the finding
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
