/** A stop word, and its matches. */

export interface StopWord {
  value: string;
  match: "exact" | "fuzzy";
}

export interface StopWordMatch {
  /** Index of the word in the finder's list. */
  word: number;
  start: number;
  end: number;
  /** 1 for an exact match; reduced by the share of edited characters. */
  confidence: number;
}

/** Comparisons between yields. */
export const SLICE = 50_000;
