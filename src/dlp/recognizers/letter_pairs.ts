/** Tables of pairs of ASCII characters, ignoring case: most words can be ruled out by one of their pairs. */

/** @param listed lower-case pairs, separated by spaces */
export function pairTable(listed: string): Uint8Array {
  const table = new Uint8Array(1 << 14);
  for (const pair of listed.split(" ")) table[pairAt(pair, 0)] = 1;
  return table;
}

/** Table index of the pair at a position of a text, which must be ASCII there. */
export function pairAt(text: string, at: number): number {
  return (text.charCodeAt(at) | 32) << 7 | text.charCodeAt(at + 1) | 32;
}
