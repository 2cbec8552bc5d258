/**
 * The worker that runs RE2. Its heap is limited to 16 MiB; when that is exhausted, the module aborts and this
 * worker must be replaced. re2.ts starts, monitors and replaces it.
 *
 * `re2-wasm` copies the whole input for each match and counts in code points, so a text is searched in
 * windows: short ones where matches are frequent, long ones where there are none. This keeps the work linear
 * in text and matches.
 */
import type { WrappedRE2 as Binding } from "re2-wasm/build/wasm/re2.js";

/** A pattern and the texts to search. */
export interface Re2Job {
  id: number;
  pattern: string;
  texts: readonly string[];
}

export type Re2Reply =
  | { id: number; kind: "found"; spans: Uint32Array[]; cut: boolean }
  /** RE2 rejects the pattern. */
  | { id: number; kind: "refused"; why: string }
  /** The module aborted, while compiling or matching. */
  | { id: number; kind: "died"; compiling: boolean };

/** Missing in the package's types. */
type Compiled = Binding & { delete(): void };

/** Number of cached compiled patterns; each may use some megabytes while matching. */
const KEPT = 8;
/** Maximum matches of one pattern in one text. */
const MOST_MATCHES = 20_000;
/** A longer match may be truncated at the end of a window. */
const LONGEST_MATCH = 2048;
/** Part of a window's end in which a match may be another one in the whole text: longer, or none. */
const MARGIN = 0.25;
const WINDOWS = [256, 1024, 4096, 16_384] as const;

const compiled = new Map<string, Compiled>();

/** Declared by hand because the program's types are those of the main thread. */
const scope = globalThis as unknown as {
  onmessage: (event: { data: Re2Job }) => void;
  postMessage(answer: Re2Reply): void;
};
// Suppresses the module's abort messages, which would flood the log.
console.warn = console.error = () => {};
const binding = load();
scope.onmessage = async ({ data }) => scope.postMessage(run(data, await binding));

/** The class is added to the module's exports at run time, so a named import does not find it. */
async function load(): Promise<typeof Binding> {
  const module: unknown = await import("re2-wasm/build/wasm/re2.js");
  return (module as { default: { WrappedRE2: typeof Binding } }).default.WrappedRE2;
}

function run({ id, pattern, texts }: Re2Job, RE2: typeof Binding): Re2Reply {
  let compiling = true;
  try {
    const found = compile(pattern, RE2);
    if (typeof found === "string") return { id, kind: "refused", why: found };
    compiling = false;
    let cut = false;
    const spans = texts.map((text) => {
      const all = search(found, text.toWellFormed());
      cut ||= all.length / 2 >= MOST_MATCHES;
      return Uint32Array.from(all);
    });
    return { id, kind: "found", spans, cut };
  } catch {
    return { id, kind: "died", compiling };
  }
}

/** The compiled pattern, or the error message. */
function compile(pattern: string, RE2: typeof Binding): Compiled | string {
  const kept = compiled.get(pattern);
  if (kept) {
    compiled.delete(pattern);
    compiled.set(pattern, kept);
    return kept;
  }
  if (compiled.size >= KEPT) {
    const [oldest, old] = compiled.entries().next().value!;
    compiled.delete(oldest);
    old.delete();
  }
  const made = new RE2(pattern, false, false, false) as Compiled;
  if (!made.ok()) {
    const why = made.error();
    made.delete();
    return why;
  }
  compiled.set(pattern, made);
  return made;
}

/** Start and end of all matches that are not empty, in one array. */
function search(pattern: Compiled, text: string): number[] {
  const spans: number[] = [];
  let from = 0;
  let size = WINDOWS.length - 1;
  while (from < text.length && spans.length < MOST_MATCHES * 2) {
    const to = border(text, from + WINDOWS[size]);
    // Context for `^` and `\b`.
    const back = from === 0 ? 0 : border(text, from - 1);
    const window = text.slice(back, to);
    const before = from === 0 ? 0 : 1;
    const match = pattern.match(window, before, false);
    const ends = to === text.length;
    if (match.index < 0) {
      // A match may start in the rest of the window and end beyond it.
      if (ends) return spans;
      if (size < WINDOWS.length - 1) size++;
      from = Math.max(from, border(text, to - LONGEST_MATCH));
      continue;
    }
    const start = back + unitsOf(window, match.index);
    const end = start + match.match.length;
    if (!ends && end > to - Math.min(WINDOWS[size] * MARGIN, LONGEST_MATCH)) {
      if (start > from) {
        from = start;
        continue;
      }
      if (size < WINDOWS.length - 1) {
        size = WINDOWS.length - 1;
        continue;
      }
    }
    if (end > start) spans.push(start, end);
    from = end > start ? end : border(text, end + 1, true);
    size = end - start > WINDOWS[0] / 2 ? 1 : 0;
  }
  return spans;
}

/** A position at or before `at` (or at or after it) that does not split a surrogate pair. */
function border(text: string, at: number, after = false): number {
  if (at >= text.length) return text.length;
  if (at <= 0) return 0;
  const inside = (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
  return inside ? (after ? at + 1 : at - 1) : at;
}

/** Number of UTF-16 units of the first `points` code points. */
function unitsOf(text: string, points: number): number {
  let units = 0;
  for (let n = 0; n < points; n++) units += (text.charCodeAt(units) & 0xfc00) === 0xd800 ? 2 : 1;
  return units;
}
