/**
 * Serializes JSON in pieces: writing many megabytes at once would block all other calls.
 *
 * Uses an explicit stack instead of nested generators: values from a nested generator pass through all outer
 * ones, so a value of five hundred levels would cost five hundred times as much.
 */

/** Minimum length of a piece; longer texts are split. */
const PIECE = 1 << 16;
/** Maximum number of values per piece. */
const VALUES = 5000;
/** Objects and arrays with fewer values, all of them short, are written at once. */
const FEW = 32;
const SHORT = 1 << 10;
/**
 * Adjacent short entries of an array are also written at once, as many as make a piece. Their size is
 * measured down to this depth.
 */
const LEVELS = 6;
/** Longer texts become a piece of their own: appending them would copy both. */
const LONG = 1 << 12;

const { isRawJSON: isRaw } = JSON as unknown as { isRawJSON(value: unknown): boolean };

/** An object or array that is being written. */
interface Open {
  node: Record<string, unknown> | readonly unknown[];
  /** Null: an array. */
  names: readonly string[] | null;
  /** Index of the next entry. */
  at: number;
  /** Nothing of it has been written. */
  bare: boolean;
}

/**
 * Pieces of about 64 KiB whose concatenation is `JSON.stringify(value)`; surrogate pairs are not split.
 *
 * @param sorted order fields by name, so that equivalent values have the same text
 */
export function* jsonPieces(value: unknown, { sorted = false } = {}): Generator<string> {
  const writer = new Writer(sorted);
  let values = 0;
  let next: unknown = value;
  do {
    if (++values >= VALUES || writer.waiting.length >= PIECE) {
      if (writer.waiting !== "") yield writer.waiting;
      writer.waiting = "";
      values = 0;
    }
    if (typeof next === "string" && next.length > PIECE) {
      writer.waiting += '"';
      for (const text of cut(next)) {
        yield writer.waiting + text;
        writer.waiting = "";
      }
      writer.waiting += '"';
    } else writer.begin(next);
    // Continues with the next value, or closes objects and arrays that have ended.
    while ((next = writer.next()) === RUN) {
      yield writer.waiting;
      yield writer.run;
      writer.waiting = "";
    }
  } while (next !== END);
  if (writer.waiting !== "") yield writer.waiting;
}

/** Results of {@link Writer.next} other than a value: a run of adjacent entries, and the end. */
const RUN = Symbol("run");
const END = Symbol("end");

class Writer {
  /** Text written but not returned yet. */
  waiting = "";
  /** A run of adjacent entries, to be returned after `waiting`. */
  run = "";
  readonly #sorted: boolean;
  /** Innermost last. */
  readonly #open: Open[] = [];

  constructor(sorted: boolean) {
    this.#sorted = sorted;
  }

  /** Writes a value, or opens it if it is large. */
  begin(value: unknown): void {
    if (typeof value !== "object" || value === null || isRaw(value) || isFlat(value)) {
      this.waiting += whole(value, this.#sorted);
    } else if (Array.isArray(value)) this.#open.push({ node: value, names: null, at: 0, bare: true });
    else {
      const names = Object.keys(value);
      this.#open.push({
        node: value as Record<string, unknown>,
        names: this.#sorted ? names.sort() : names,
        at: 0,
        bare: true,
      });
    }
  }

  /** Writes up to the next value that must be written separately, and returns it. */
  next(): unknown {
    for (;;) {
      const open = this.#open.at(-1);
      if (open === undefined) return END;
      const next = open.names === null ? this.#nextItem(open) : this.#nextMember(open, open.names);
      if (next !== END) return next;
      this.#open.pop();
    }
  }

  #nextItem(open: Open): unknown {
    const list = open.node as readonly unknown[];
    while (open.at < list.length) {
      this.waiting += open.bare ? "[" : ",";
      open.bare = false;
      const end = this.#sorted ? open.at : endOfRun(list, open.at);
      if (end <= open.at + 1) return list[open.at++];
      const run = JSON.stringify(list.slice(open.at, end)).slice(1, -1);
      open.at = end;
      if (run.length > LONG) {
        this.run = run;
        return RUN;
      }
      this.waiting += run;
    }
    this.waiting += open.bare ? "[]" : "]";
    return END;
  }

  #nextMember(open: Open, names: readonly string[]): unknown {
    for (;;) {
      const name = names[open.at++];
      if (name === undefined) break;
      const member = (open.node as Record<string, unknown>)[name];
      if (member === undefined) continue;
      this.waiting += `${open.bare ? "{" : ","}${JSON.stringify(name)}:`;
      open.bare = false;
      return member;
    }
    this.waiting += open.bare ? "{}" : "}";
    return END;
  }
}

/** The end of a run of entries, from an index on, that together fit into a piece. */
function endOfRun(list: readonly unknown[], from: number): number {
  let end = from;
  for (let left = PIECE; end < list.length; end++) {
    left -= sizeWithin(list[end], left, LEVELS);
    if (left < 0) break;
  }
  return end;
}

/** A text in pieces of about 64 KiB, escaped, without quotes. */
function* cut(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + PIECE, text.length);
    // Not between surrogates: each would be written as an escape, which is longer.
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last < 0xdc00) end--;
    yield JSON.stringify(text.slice(at, end)).slice(1, -1);
    at = end;
  }
}

/** Serializes a value at once, as an array entry: `null` if JSON has no equivalent. */
function whole(value: unknown, sorted: boolean): string {
  if (!sorted || typeof value !== "object" || value === null || Array.isArray(value) || isRaw(value)) {
    return JSON.stringify(value) ?? "null";
  }
  const fields = value as Record<string, unknown>;
  const written = Object.keys(fields).sort().filter((name) => fields[name] !== undefined).map((name) =>
    `${JSON.stringify(name)}:${JSON.stringify(fields[name])}`
  );
  return `{${written.join()}}`;
}

/** Whether it has few entries, all short and without nested values. */
function isFlat(node: object): boolean {
  if (Array.isArray(node)) return node.length <= FEW && node.every(isShort);
  const names = Object.keys(node);
  return names.length <= FEW &&
    names.every((name) => name.length <= SHORT && isShort((node as Record<string, unknown>)[name]));
}

function isShort(value: unknown): boolean {
  return typeof value === "string" ? value.length <= SHORT : typeof value !== "object" || value === null;
}

/** Approximate JSON length of a value, counted only up to `most`. */
export function sizeUpTo(value: unknown, most: number): number {
  return sizeWithin(value, most, Infinity);
}

/** The same; infinite for a value that is nested deeper than `levels`. */
function sizeWithin(value: unknown, most: number, levels: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  if (levels === 0) return Infinity;
  let size = 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (size >= most) return size;
      size += 1 + sizeWithin(item, most - size, levels - 1);
    }
    return size;
  }
  for (const name in value) {
    if (size >= most) return size;
    size += name.length + 4 + sizeWithin((value as Record<string, unknown>)[name], most - size, levels - 1);
  }
  return size;
}
