/** The issuers' tokens to search for, as prepared by `tokenTable()`. */
export interface TokenForm {
  readonly type: string;
  readonly prefix: string;
  /** Sticky; matches from the prefix on. */
  readonly pattern: RegExp;
}

export interface TokenTable {
  /** Forms by the first two units of their prefix, as `first * 128 + second`, longest prefix first. */
  readonly byPair: readonly (readonly TokenForm[] | undefined)[];
  /** Bit mask of the third units of all prefixes with this pair: most words need two lookups. */
  readonly thirds: Uint32Array;
}
