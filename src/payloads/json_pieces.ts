/** JSON in pieces: a body of many megabytes made in one go would hold up every other call. */

/** A longer text is cut, and a larger object written member by member. */
const PIECE = 1 << 16;

/** Pieces of some 64 KiB that together are `JSON.stringify(value)`. */
export function* jsonPieces(value: unknown): Generator<string> {
  let waiting = "";
  for (const piece of written(value)) {
    waiting += piece;
    if (waiting.length < PIECE) continue;
    yield waiting;
    waiting = "";
  }
  if (waiting !== "") yield waiting;
}

function* written(value: unknown): Generator<string> {
  if (typeof value === "string" && value.length > PIECE) {
    yield '"';
    for (let at = 0; at < value.length;) {
      let end = Math.min(at + PIECE, value.length);
      // Halves of a pair would each be written as an escape, which is a text of the same meaning; whole pairs are shorter.
      const last = value.charCodeAt(end - 1);
      if (end < value.length && last >= 0xd800 && last < 0xdc00) end--;
      yield JSON.stringify(value.slice(at, end)).slice(1, -1);
      at = end;
    }
    yield '"';
  } else if (typeof value !== "object" || value === null || isSmall(value)) {
    yield JSON.stringify(value) ?? "null";
  } else if (Array.isArray(value)) {
    let before = "[";
    for (const item of value) {
      yield before;
      yield* written(item);
      before = ",";
    }
    yield before === "[" ? "[]" : "]";
  } else {
    let before = "{";
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      yield `${before}${JSON.stringify(name)}:`;
      yield* written(member);
      before = ",";
    }
    yield before === "{" ? "{}" : "}";
  }
}

function isSmall(value: object): boolean {
  return sizeUpTo(value, PIECE) < PIECE;
}

/** About how many characters a value has as JSON, counted no further than `most`. */
export function sizeUpTo(value: unknown, most: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  let size = 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (size >= most) return size;
      size += 1 + sizeUpTo(item, most - size);
    }
    return size;
  }
  for (const name in value) {
    if (size >= most) return size;
    size += name.length + 4 + sizeUpTo((value as Record<string, unknown>)[name], most - size);
  }
  return size;
}
