/**
 * Every reading of a text: as it stands, without disguise; with values put together that a line break cuts; and with what
 * is encoded read, two levels deep.
 *
 * Boundaries are judged in the view where they are true: `\n4539…` is a letter and a number in the text as it stands, a
 * line break and a number in the view that reads escapes. So what a lower view finds at the edge of an escape gives way
 * to what the view above it finds there.
 */

import { decodings } from "./decode.ts";
import { fold, TAG } from "./fold.ts";
import { joinLines } from "./line_joins.ts";
import { namedFields } from "./named_fields.ts";
import { type OpenTable, tableCells } from "./table_cells.ts";
import { isReread, sentSpan, type Span, type View } from "./view.ts";

export interface Reading {
  readonly view: View;
  /** How many levels of encoding are read in it. */
  readonly level: 0 | 1 | 2;
  /** A line break is taken out of each window. */
  readonly joined: boolean;
  /** Cells of tables, each behind the name of its column. */
  readonly cells?: boolean;
  /** Escapes that the view reads and the one below it does not, in the text that was sent. */
  readonly escapes: readonly Span[];
  /** What a walk over the view tells of what is encoded in it (hints.ts); absent: nobody has walked it. */
  hints?: number;
}

/** How far an encoded word that names a value may stand from it. */
const NAMED_WITHIN = 48;

/** Of words and patterns that nothing has to name: what bounds them. */
export const BOUNDS = 1;

/** Where a text that is read in pieces stands in a table. */
export interface TablePlace {
  open: OpenTable | null;
}

/**
 * The readings of a text, lower ones first; control may be handed back between any two.
 *
 * @param place where the piece begins, and when it is read, where the next one does; absent: the text is no piece
 */
export function* readings(text: string, place: TablePlace = { open: null }): Generator<Reading, void> {
  const plain: View = fold(text) ?? { text };
  const sent: Reading = { view: plain, level: 0, joined: false, escapes: [] };
  yield sent;
  if (plain.from && TAG.test(text)) {
    const untagged: View = fold(text, "dropped") ?? { text };
    yield { view: untagged, level: 0, joined: false, escapes: [] };
  }
  const joined = joinLines(plain);
  if (joined) yield { view: joined, level: 0, joined: true, escapes: [] };
  const table = tableCells(plain, place.open);
  place.open = table?.open ?? null;
  if (table && table.view.text !== "") {
    yield { view: table.view, level: 0, joined: false, cells: true, escapes: [] };
  }
  const fields = namedFields(plain);
  if (fields) yield { view: fields, level: 0, joined: false, cells: true, escapes: [] };
  const first = decodings(plain, sent.hints);
  if (!first) return;
  const decoded: Reading = { ...first, level: 1, joined: false };
  yield decoded;
  if (first.escapes.length > 0) {
    for (const cells of [tableCells(first.view, null)?.view, namedFields(first.view)]) {
      if (cells && cells.text !== "") {
        yield { view: cells, level: 0, joined: false, cells: true, escapes: [] };
      }
    }
  }
  const second = decodings(first.view, decoded.hints);
  if (second) yield { ...second, level: 2, joined: false };
  // Lines that only an escape breaks.
  const rejoined = first.escapes.length > 0 ? joinLines(first.view, { escaped: true }) : null;
  if (rejoined) yield { view: rejoined, level: 1, joined: true, escapes: [] };
}

/**
 * What a reading finds at a run of its view, in the text that was sent; null: nothing within `reach` of it is said
 * otherwise by a lower one.
 */
export function revealed(
  { view, level, joined }: Reading,
  start: number,
  end: number,
  reach = NAMED_WITHIN,
): { start: number; end: number } | null {
  if (joined) {
    if (!isReread(view, start, end, 0)) return null;
  } else if (level > 0 && !isReread(view, start, end, reach)) return null;
  return sentSpan(view, start, end);
}

/**
 * Settles findings of a lower view against those of the views above it, which read these escapes. One whose first or last
 * unit lies in an escape gives way where a higher view has a finding on the same place; else it grows to take the escape in.
 */
export function settle<T extends { start: number; end: number }>(
  lower: T[],
  higher: readonly T[],
  escapes: readonly Span[],
): T[] {
  if (escapes.length === 0 || lower.length === 0) return lower;
  return lower.filter((one) => {
    const first = escapeAt(escapes, one.start);
    const last = escapeAt(escapes, one.end - 1);
    if (!first && !last) return true;
    if (higher.some((other) => other.start < one.end && one.start < other.end)) return false;
    if (first) one.start = first.start;
    if (last) one.end = last.end;
    return true;
  });
}

/** The escape that a unit belongs to. */
function escapeAt(escapes: readonly Span[], at: number): Span | undefined {
  let low = 0;
  let high = escapes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (escapes[middle].end <= at) low = middle + 1;
    else high = middle;
  }
  const found = escapes[low];
  return found && found.start <= at ? found : undefined;
}
