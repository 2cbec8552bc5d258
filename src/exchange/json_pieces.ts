/**
 * JSON in pieces: a text of many megabytes made in one go would hold up every other call.
 *
 * A stack of its own and no generator within a generator: what comes out of nested ones passes through all of them, and a value of
 * five hundred levels would cost five hundred times as much.
 */

/** A piece is at least so long, and a longer text is cut. */
const PIECE = 1 << 16;
/** Values that are written before a piece is handed out, however short it is. */
const VALUES = 5000;
/** An object or list of fewer values, all of them short, is written at once. */
const FEW = 32;
const SHORT = 1 << 10;
/** Neighbours in a list are written at once, too, as many as make a piece. So many levels of them are looked at for that. */
const LEVELS = 6;
/** A longer text is a piece of its own: to put it behind another copies both. */
const LONG = 1 << 12;

const { isRawJSON: isRaw } = JSON as unknown as { isRawJSON(value: unknown): boolean };

/** An object or list that is being written. */
interface Open {
  node: Record<string, unknown> | readonly unknown[];
  /** Null: it is a list. */
  names: readonly string[] | null;
  /** Of what comes next. */
  at: number;
  /** Nothing of it has been written. */
  bare: boolean;
}

/**
 * Pieces of some 64 KiB that together are `JSON.stringify(value)`; a long text is cut in halves of no pair.
 *
 * @param sorted fields stand in the order of their names, so that values that mean the same are the same text
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
    // On to what is behind it, and out of what has ended.
    while ((next = writer.next()) === RUN) {
      yield writer.waiting;
      yield writer.run;
      writer.waiting = "";
    }
  } while (next !== END);
  if (writer.waiting !== "") yield writer.waiting;
}

/** What {@link Writer.next} answers in place of a value: neighbours that are a piece of their own, and the end. */
const RUN = Symbol("run");
const END = Symbol("end");

class Writer {
  /** What is written and not yet handed out. */
  waiting = "";
  /** Neighbours in a list, written at once, that are handed out behind what waits. */
  run = "";
  readonly #sorted: boolean;
  /** Innermost last. */
  readonly #open: Open[] = [];

  constructor(sorted: boolean) {
    this.#sorted = sorted;
  }

  /** Writes a value, or opens it where it is large. */
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

  /** Writes up to the next value that is to be written for itself, and answers it. */
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

/** Where the values of a list end, from one on, that together are no longer than a piece. */
function endOfRun(list: readonly unknown[], from: number): number {
  let end = from;
  for (let left = PIECE; end < list.length; end++) {
    left -= sizeWithin(list[end], left, LEVELS);
    if (left < 0) break;
  }
  return end;
}

/** A text in pieces of some 64 KiB, escaped, without its quotes. */
function* cut(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + PIECE, text.length);
    // Halves of a pair would each be written as an escape, which is a text of the same meaning; whole pairs are shorter.
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last < 0xdc00) end--;
    yield JSON.stringify(text.slice(at, end)).slice(1, -1);
    at = end;
  }
}

/** A value that is written at once, as an item: `null` where JSON has nothing for it. */
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

/** Whether it holds a few short values and nothing that holds others. */
function isFlat(node: object): boolean {
  if (Array.isArray(node)) return node.length <= FEW && node.every(isShort);
  const names = Object.keys(node);
  return names.length <= FEW &&
    names.every((name) => name.length <= SHORT && isShort((node as Record<string, unknown>)[name]));
}

function isShort(value: unknown): boolean {
  return typeof value === "string" ? value.length <= SHORT : typeof value !== "object" || value === null;
}

/** About how many characters a value has as JSON, counted no further than `most`. */
export function sizeUpTo(value: unknown, most: number): number {
  return sizeWithin(value, most, Infinity);
}

/** The same; infinite for a value that holds others in more than so many levels. */
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
