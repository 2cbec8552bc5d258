/**
 * Joins the text parts of a message, since a model reads them as one text and a value may be split over them.
 * Only the surroundings of the borders are scanned, because each part is also scanned separately.
 */
import type { BodyLeaves, Leaf, PartGroup } from "../formats/leaves/mod.ts";
import { isDigit } from "./recognizers/character_class.ts";

/** Maximum distance of a value from the border. */
export const REACH = 512;

/** Groups of more than one text part. */
export function groupsOf(reading: BodyLeaves): PartGroup[] {
  const groups = new Set<PartGroup>();
  for (const { group } of reading.leaves) if (group !== null && group.leaves.length > 1) groups.add(group);
  return [...groups];
}

/** The concatenated text of all parts. */
export function joined(group: PartGroup): string {
  return group.leaves.map((leaf) => leaf.text).join("");
}

/** End of each part but the last in the joined text. */
export function bordersOf(group: PartGroup): number[] {
  const borders: number[] = [];
  let at = 0;
  for (const leaf of group.leaves) borders.push(at += leaf.text.length);
  borders.pop();
  return borders;
}

/** Surroundings of the borders, with overlapping ones merged. */
export function windowsOf(borders: readonly number[], length: number): { start: number; end: number }[] {
  const windows: { start: number; end: number }[] = [];
  for (const at of borders) {
    const start = Math.max(0, at - REACH);
    const end = Math.min(length, at + REACH);
    const last = windows.at(-1);
    if (last && start <= last.end) last.end = end;
    else windows.push({ start, end });
  }
  return windows;
}

/**
 * Surroundings of the borders between two digits, with a space at each: there, the border may stand for the
 * separator of two groups of a number. All borders get their space at once, because the surroundings of
 * thousands of short parts overlap, and would be scanned thousands of times one by one.
 */
export function* spacedWindowsOf(
  text: string,
  borders: readonly number[],
): Generator<{ text: string; /** A position in the joined text. */ sent(position: number): number }> {
  const spaced = borders.filter((at) => isDigit(text.charCodeAt(at - 1)) && isDigit(text.charCodeAt(at)));
  let next = 0;
  for (const { start, end } of windowsOf(spaced, text.length)) {
    const from = next;
    const pieces: string[] = [];
    let at = start;
    for (; next < spaced.length && spaced[next] < end; next++) pieces.push(text.slice(at, at = spaced[next]));
    pieces.push(text.slice(at, end));
    // The space of each border is one unit later for each border before it.
    const spaceAt = (i: number) => spaced[i] - start + i - from;
    const upTo = next;
    yield {
      text: pieces.join(" "),
      sent(position) {
        let low = from;
        let high = upTo;
        while (low < high) {
          const middle = (low + high) >> 1;
          if (spaceAt(middle) < position) low = middle + 1;
          else high = middle;
        }
        return start + position - (low - from);
      },
    };
  }
}

/** The pieces of a span of the joined text by part; `borders` are the boundaries between parts. */
export function piecesOf(
  group: PartGroup,
  borders: readonly number[],
  start: number,
  end: number,
): { leaf: Leaf; start: number; end: number }[] {
  const pieces: { leaf: Leaf; start: number; end: number }[] = [];
  for (let i = partAt(borders, start); i < group.leaves.length; i++) {
    const at = i === 0 ? 0 : borders[i - 1];
    if (at >= end) break;
    const leaf = group.leaves[i];
    const from = Math.max(start, at);
    const to = Math.min(end, at + leaf.text.length);
    if (from < to) pieces.push({ leaf, start: from - at, end: to - at });
  }
  return pieces;
}

/** The part that contains a unit of the joined text. */
function partAt(borders: readonly number[], at: number): number {
  let low = 0;
  let high = borders.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (borders[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
