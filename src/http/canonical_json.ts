/** JSON in one form for values that mean the same: fields in the order of their names, no blanks. */
import { createHash } from "node:crypto";
import { isObject } from "../exchange/json.ts";
import { sizeUpTo } from "../payloads/json_pieces.ts";

const isRaw = (JSON as unknown as { isRawJSON?(value: unknown): boolean }).isRawJSON ?? (() => false);

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part) => isObject(part) && !isRaw(part) ? sorted(part) : part) ?? "";
}

function sorted(value: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(value);
  const inOrder = names.every((name, i) => i === 0 || names[i - 1] < name);
  if (inOrder) return value;
  const made = Object.create(null) as Record<string, unknown>;
  for (const name of names.sort()) made[name] = value[name];
  return made;
}

/** Characters that are written, or hashed, at once. */
const PIECE = 1 << 16;
/** Pieces from one slice to the next. */
const PIECES = 8;

/** A hash that is the same for values that mean the same, in slices. */
export function* canonicalDigest(value: unknown): Generator<void, string> {
  const hash = createHash("sha256");
  let waiting = "";
  let pieces = 0;
  for (const piece of canonicalPieces(value)) {
    waiting += piece;
    if (waiting.length < PIECE) continue;
    hash.update(waiting);
    waiting = "";
    if (++pieces % PIECES === 0) yield;
  }
  return hash.update(waiting).digest("base64url");
}

/** Texts that together tell a value from every other; no JSON, where a string is long. */
function* canonicalPieces(value: unknown): Generator<string> {
  if (typeof value === "string" && value.length > PIECE) {
    yield `"${value.length} `;
    for (let at = 0; at < value.length; at += PIECE) yield value.slice(at, at + PIECE);
  } else if (typeof value !== "object" || value === null || isRaw(value) || sizeUpTo(value, PIECE) < PIECE) {
    yield canonicalJson(value);
  } else if (Array.isArray(value)) {
    yield "[";
    for (const item of value) {
      yield* canonicalPieces(item);
      yield ",";
    }
    yield "]";
  } else {
    yield "{";
    for (const name of Object.keys(value).sort()) {
      yield `${JSON.stringify(name)}:`;
      yield* canonicalPieces((value as Record<string, unknown>)[name]);
      yield ",";
    }
    yield "}";
  }
}
