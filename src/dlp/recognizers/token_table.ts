/** The issued tokens that a scan looks for, as `tokenTable()` prepares them. */
export interface TokenForm {
  readonly type: string;
  readonly prefix: string;
  /** Sticky; matches from the beginning on. */
  readonly pattern: RegExp;
}

export interface TokenTable {
  /** Forms by the first two units of their beginning, longest beginning first. */
  readonly byStart: ReadonlyMap<string, readonly TokenForm[]>;
  /** One cell for each such pair, so that most words cost a look-up and no string. */
  readonly pairs: Uint8Array;
}
