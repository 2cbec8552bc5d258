/** The issued tokens that a scan looks for, as `tokenTable()` prepares them. */
export interface TokenForm {
  readonly type: string;
  readonly prefix: string;
  /** Sticky; matches from the beginning on. */
  readonly pattern: RegExp;
}

export interface TokenTable {
  /** Forms by the first two units of their beginning, as `first * 128 + second`, the longest beginning first. */
  readonly byPair: readonly (readonly TokenForm[] | undefined)[];
  /** One bit for each third unit that any of a pair's beginnings has: most words cost two look-ups. */
  readonly thirds: Uint32Array;
}
