/**
 * Decodes values: one found in a JSON string is written with escapes; the placeholder represents the value
 * without them. So it equals other occurrences in the request, and is inserted into the answer with the
 * escapes needed there.
 */
import { JsonNesting } from "./json_nesting.ts";
import type { Found, SliceClock } from "./scan_leaves.ts";

/** Units of text between clock checks. */
const STRIDE = 4096;
const BACKSLASH = "\\";

/** The findings with decoded values. */
export function* meantValues(found: readonly Found[], clock: SliceClock): Generator<void, Found[]> {
  const meant = [...found];
  const written = found.map((_, i) => i).filter((i) => found[i].value.includes(BACKSLASH));
  for (const [leaf, places] of Map.groupBy(written, (i) => found[i].leaf)) {
    const isJson = leaf.kind === "json";
    const nesting = new JsonNesting(isJson);
    let at = 0;
    for (const i of places.sort((a, b) => found[a].start - found[b].start)) {
      while (at < found[i].start) {
        const to = Math.min(found[i].start, at + STRIDE);
        nesting.read(leaf.text.slice(at, to));
        if (clock.due(to - at)) yield* clock.rest();
        at = to;
      }
      // For a JSON field one level of escapes was decoded before scanning.
      meant[i] = { ...found[i], value: unescaped(found[i].value, nesting.open - (isJson ? 1 : 0)) };
    }
  }
  return meant;
}

/** A value with this many levels of escapes decoded; invalid escapes are kept. */
function unescaped(value: string, strings: number): string {
  try {
    for (let i = 0; i < strings; i++) value = String(JSON.parse(`"${value}"`));
  } catch {
    // The value ends within an escape, or the text is not JSON.
  }
  return value;
}
