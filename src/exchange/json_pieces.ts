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

/** What is open, innermost last. */
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
  let waiting = "";
  let values = 0;
  const stack: Open[] = [];
  let next: unknown = value;
  for (;;) {
    if (++values >= VALUES || waiting.length >= PIECE) {
      if (waiting !== "") yield waiting;
      waiting = "";
      values = 0;
    }
    if (typeof next === "string" && next.length > PIECE) {
      waiting += '"';
      for (const text of cut(next)) {
        yield waiting + text;
        waiting = "";
      }
      waiting += '"';
    } else if (typeof next !== "object" || next === null || isRaw(next) || isFlat(next)) {
      waiting += whole(next, sorted);
    } else if (Array.isArray(next)) stack.push({ node: next, names: null, at: 0, bare: true });
    else {
      const names = Object.keys(next);
      stack.push({
        node: next as Record<string, unknown>,
        names: sorted ? names.sort() : names,
        at: 0,
        bare: true,
      });
    }
    // On to what is behind it, and out of what has ended.
    for (;;) {
      const open = stack.at(-1);
      if (open === undefined) {
        if (waiting !== "") yield waiting;
        return;
      }
      const { node, names } = open;
      if (names === null) {
        const list = node as readonly unknown[];
        if (open.at < list.length) {
          waiting += open.bare ? "[" : ",";
          open.bare = false;
          const end = sorted ? open.at : endOfRun(list, open.at);
          if (end > open.at + 1) {
            const run = JSON.stringify(list.slice(open.at, end)).slice(1, -1);
            open.at = end;
            if (run.length <= LONG) waiting += run;
            else {
              yield waiting;
              yield run;
              waiting = "";
            }
            continue;
          }
          next = list[open.at++];
          break;
        }
        waiting += open.bare ? "[]" : "]";
      } else {
        const name = names[open.at++];
        if (name !== undefined) {
          const member = (node as Record<string, unknown>)[name];
          if (member === undefined) continue;
          waiting += `${open.bare ? "{" : ","}${JSON.stringify(name)}:`;
          open.bare = false;
          next = member;
          break;
        }
        waiting += open.bare ? "{}" : "}";
      }
      stack.pop();
    }
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
