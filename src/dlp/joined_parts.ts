/**
 * The text parts of one message as the one text that a model reads: a value may be split over them. Only the
 * surroundings of their borders are of interest, because each part is scanned by itself too.
 */
import type { BodyLeaves, Leaf, PartGroup } from "../formats/leaves.ts";

/** How far around the border of two parts a value may reach. */
export const REACH = 512;

/** Lists of more than one text part. */
export function groupsOf(reading: BodyLeaves): PartGroup[] {
  const groups = new Set<PartGroup>();
  for (const { group } of reading.leaves) if (group !== null && group.leaves.length > 1) groups.add(group);
  return [...groups];
}

/** The text of all parts, one behind the other. */
export function joined(group: PartGroup): string {
  return group.leaves.map((leaf) => leaf.text).join("");
}

/** Where each part but the last ends in the joined text. */
export function bordersOf(group: PartGroup): number[] {
  const borders: number[] = [];
  let at = 0;
  for (const leaf of group.leaves) borders.push(at += leaf.text.length);
  borders.pop();
  return borders;
}

/** The surroundings of the borders, those that overlap as one. */
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

/** The pieces of a span of the joined text; `borders` are where one part ends and the next begins. */
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

/** The part that a unit of the joined text is in. */
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
