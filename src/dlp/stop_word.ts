/** A word of an organisation's own, and where it was found. */

export interface StopWord {
  value: string;
  match: "exact" | "fuzzy";
}

export interface StopWordMatch {
  /** Position of the word in the list that the finder was made of. */
  word: number;
  start: number;
  end: number;
  /** 1 as it is; less by the share of edited characters. */
  confidence: number;
}

/** Comparisons between two times that control is handed back. */
export const SLICE = 50_000;
