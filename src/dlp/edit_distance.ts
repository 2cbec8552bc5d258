/** Edit distance between a word and a window of text, with transpositions counted as one edit. */

export interface WordPattern {
  value: string;
  /** The maximum of interest: any larger distance may be reported as some larger number. */
  edits: number;
  /** For each unit, a bit mask of its positions in the word. Null: the word is too long for that. */
  places: ReadonlyMap<number, number> | null;
}

/** For each UTF-16 unit of a word, a bit mask of its positions; null: the word is longer than 32. */
export function placesOf(value: string): Map<number, number> | null {
  if (value.length > 32) return null;
  const places = new Map<number, number>();
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i);
    places.set(unit, (places.get(unit) ?? 0) | (1 << i));
  }
  return places;
}

/** Optimal string alignment distance of a word and a window of text. */
export function distance(word: WordPattern, text: string, start: number, end: number): number {
  if (word.edits === 0) return text.startsWith(word.value, start) ? 0 : 1;
  return word.places
    ? bitDistance(word.places, word.value.length, text, start, end)
    : rowDistance(word, text, start, end);
}

/**
 * Bit-parallel algorithm by Hyyrö (A Bit-Vector Algorithm for Computing Levenshtein and Damerau Edit
 * Distances, 2003): a column of the matrix is two bit vectors, of increments and decrements.
 */
function bitDistance(
  places: ReadonlyMap<number, number>,
  length: number,
  text: string,
  start: number,
  end: number,
): number {
  const top = 1 << (length - 1);
  let up = -1;
  let down = 0;
  let diagonal = 0;
  let before = 0;
  let edits = length;
  for (let i = start; i < end; i++) {
    const here = places.get(text.charCodeAt(i)) ?? 0;
    const swapped = ((~diagonal & here) << 1) & before;
    diagonal = (((here & up) + up) ^ up) | here | down | swapped;
    const right = down | ~(diagonal | up);
    const left = diagonal & up;
    if (right & top) edits++;
    else if (left & top) edits--;
    const shifted = (right << 1) | 1;
    up = (left << 1) | ~(diagonal | shifted);
    down = shifted & diagonal;
    before = here;
  }
  return edits;
}

/** The row-wise algorithm, for words of more than 32 units. */
function rowDistance({ value, edits: most }: WordPattern, text: string, start: number, end: number): number {
  const m = end - start;
  let before: number[] = [];
  let last = Array.from({ length: m + 1 }, (_, j) => j);
  for (let i = 1; i <= value.length; i++) {
    const now = [i];
    let least = i;
    const a = value.charCodeAt(i - 1);
    for (let j = 1; j <= m; j++) {
      const b = text.charCodeAt(start + j - 1);
      let d = Math.min(last[j] + 1, now[j - 1] + 1, last[j - 1] + (a === b ? 0 : 1));
      if (i > 1 && j > 1 && a === text.charCodeAt(start + j - 2) && value.charCodeAt(i - 2) === b) {
        d = Math.min(d, before[j - 2] + 1);
      }
      now.push(d);
      least = Math.min(least, d);
    }
    if (least > most) return most + 1;
    before = last;
    last = now;
  }
  return last[m];
}
