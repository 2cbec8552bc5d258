/**
 * Splits a text into words, runs of digits and single punctuation marks, and counts the hashes of words and
 * adjacent pairs. The returned arrays are scratch memory that the next call overwrites; callers are
 * synchronous and copy what they keep.
 */

/** Maximum number of characters; a longer prompt is cut in the middle by the caller. */
export const READ_CHARS = 8_192;

export const WORD_TOKEN = 0, NUMBER_TOKEN = 1, MARK_TOKEN = 2;

export interface Tokens {
  count: number;
  /** Hashes of the lower-cased tokens. */
  hashes: Uint32Array;
  /** `WORD_TOKEN`, `NUMBER_TOKEN` or `MARK_TOKEN`. */
  kinds: Uint8Array;
  starts: Int32Array;
  ends: Int32Array;
}

// Kept between calls because allocating it costs more than filling it.
const scratch: Tokens = {
  count: 0,
  hashes: new Uint32Array(READ_CHARS + 2),
  kinds: new Uint8Array(READ_CHARS + 2),
  starts: new Int32Array(READ_CHARS + 2),
  ends: new Int32Array(READ_CHARS + 2),
};

/** FNV-1a over lower-cased UTF-16 units. */
export function hashWord(word: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ lower(word.charCodeAt(i)), 0x01000193);
  return hash >>> 0;
}

/** Lower-cases an ASCII letter; other codes are unchanged. */
export function lower(code: number): number {
  return code >= 65 && code <= 90 ? code + 32 : code;
}

const isDigit = (code: number) => code >= 48 && code <= 57;
export const isUpper = (code: number) => code >= 65 && code <= 90;
const isLetter = (code: number) =>
  code >= 97 && code <= 122 || isUpper(code) || code >= 0xc0 && code < 0x2000 ||
  code >= 0x2c00 && code < 0x2e80;
/** Scripts without spaces: each character is a token. */
const isIdeograph = (code: number) => code >= 0x2e80;

/** `text` has at most `READ_CHARS` characters. */
export function tokenize(text: string): Tokens {
  const { hashes, kinds, starts, ends } = scratch;
  let count = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === 32 || code === 10 || code === 13 || code === 9 || code === 0xa0) {
      at++;
      continue;
    }
    let end = at + 1;
    let hash = Math.imul(0x811c9dc5 ^ lower(code), 0x01000193);
    let kind = MARK_TOKEN;
    if (isLetter(code) || isDigit(code)) {
      kind = isDigit(code) ? NUMBER_TOKEN : WORD_TOKEN;
      for (; end < text.length; end++) {
        const next = text.charCodeAt(end);
        if (kind === NUMBER_TOKEN ? !isDigit(next) : !isLetter(next)) break;
        hash = Math.imul(hash ^ lower(next), 0x01000193);
      }
    } else if (isIdeograph(code)) kind = WORD_TOKEN;
    hashes[count] = hash >>> 0;
    kinds[count] = kind;
    starts[count] = at;
    ends[count] = end;
    count++;
    at = end;
  }
  scratch.count = count;
  return scratch;
}

/** The first token that does not start before `offset`. */
export function firstTokenAt({ starts, count }: Tokens, offset: number): number {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle] < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Open addressing with twice the maximum number of hashes of a prompt; `stamp` avoids clearing the table
// between calls.
const TABLE = 65_536;
const tableHash = new Uint32Array(TABLE);
const tablePlace = new Uint16Array(TABLE);
const tableStamp = new Uint32Array(TABLE);
const foundGrams = new Uint32Array(2 * READ_CHARS + 4);
const foundCounts = new Uint16Array(2 * READ_CHARS + 4);
let stamp = 0;

/** Distinct hashes of words and pairs, and the number of occurrences of each. */
export function countGrams({ hashes, count }: Tokens): { grams: Uint32Array; counts: Uint16Array } {
  stamp = (stamp + 1) >>> 0;
  let found = 0;
  const add = (hash: number) => {
    let slot = hash & (TABLE - 1);
    while (tableStamp[slot] === stamp && tableHash[slot] !== hash) slot = (slot + 1) & (TABLE - 1);
    if (tableStamp[slot] === stamp) {
      foundCounts[tablePlace[slot]]++;
      return;
    }
    tableStamp[slot] = stamp;
    tableHash[slot] = hash;
    tablePlace[slot] = found;
    foundGrams[found] = hash;
    foundCounts[found++] = 1;
  };
  for (let i = 0; i < count; i++) {
    add(spread(hashes[i]));
    if (i > 0) add(spread(Math.imul(hashes[i - 1], 0x9e3779b1) ^ hashes[i]));
  }
  return { grams: foundGrams.slice(0, found), counts: foundCounts.slice(0, found) };
}

/** FNV leaves the low bits of short words similar, and these index the table. */
function spread(hash: number): number {
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
