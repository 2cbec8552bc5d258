/**
 * Values as they are meant: one that stands in a string of JSON is written with escapes there, and without them it is what a
 * placeholder stands for. It is then the same value as elsewhere in the request, and is written back with the escapes of the
 * place where the answer has it.
 */
import { JsonNesting } from "./json_nesting.ts";
import type { Found, SliceClock } from "./scan_leaves.ts";

/** Units of text that are read between two looks at the clock. */
const STRIDE = 4096;
const BACKSLASH = "\\";

/** The findings, with their values as they are meant. */
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
      // Of a JSON field one level of escapes was read before anything was sought in it.
      meant[i] = { ...found[i], value: unescaped(found[i].value, nesting.open - (isJson ? 1 : 0)) };
    }
  }
  return meant;
}

/** A value without the escapes of so many strings; with those that are none it stays as it is. */
function unescaped(value: string, strings: number): string {
  try {
    for (let i = 0; i < strings; i++) value = String(JSON.parse(`"${value}"`));
  } catch {
    // The value ends within an escape, or its text was no JSON after all.
  }
  return value;
}
