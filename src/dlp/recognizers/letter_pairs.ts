/** Tables of pairs of ASCII characters, letters in either case: most words are told from a few by two of theirs. */

/** @param listed in small letters, parted by blanks */
export function pairTable(listed: string): Uint8Array {
  const table = new Uint8Array(1 << 14);
  for (const pair of listed.split(" ")) table[pairAt(pair, 0)] = 1;
  return table;
}

/** Where the pair at a place of a text stands in a table; the text must be ASCII there. */
export function pairAt(text: string, at: number): number {
  return (text.charCodeAt(at) | 32) << 7 | text.charCodeAt(at + 1) | 32;
}
