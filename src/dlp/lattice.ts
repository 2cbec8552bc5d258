/**
 * All readings of a text: as it is, normalized; with values joined that are split by a line break; and with
 * encoded parts decoded, two levels deep.
 *
 * Boundaries are determined in the reading where they are visible: `\n4539…` is a letter and a number in the
 * original text, and a line break and a number after decoding. So a finding of a lower level at the edge of
 * an escape is superseded by findings of the higher level at that position.
 */

import { decodings } from "./decode.ts";
import { type FieldsPlace, fieldsPlace } from "./fields_place.ts";
import { fold, TAG } from "./fold.ts";
import { joinLines } from "./line_joins.ts";
import { namedFields } from "./named_fields.ts";
import { unmarked, unquoted } from "./quoted_lines.ts";
import { type OpenTable, tableCells } from "./table_cells.ts";
import { isReread, sentSpan, type Span, type View } from "./view.ts";

export interface Reading {
  readonly view: View;
  /** Number of decoded levels. */
  readonly level: 0 | 1 | 2;
  /** Line breaks have been removed within windows. */
  readonly joined: boolean;
  /** Table cells, each after the name of its column. */
  readonly cells?: boolean;
  /** Escapes decoded in this view but not in the one below, in positions of the original text. */
  readonly escapes: readonly Span[];
  /** Result of a walk over the view (hints.ts); absent: not walked yet. */
  hints?: number;
}

/** Longer ones are runs that stand for other text, with an escape in it. */
const LONGEST_ESCAPE = 12;

/** Maximum distance between a value and an encoded word that names it. */
const NAMED_WITHIN = 48;

/** Context for words and patterns that need no name: only their boundaries. */
export const BOUNDS = 1;

/** The context of a text that is scanned in pieces: what is open at the end of a piece, and in its decoded parts. */
export interface TablePlace {
  open: OpenTable | null;
  readonly fields: FieldsPlace;
  decodedOpen: OpenTable | null;
  readonly decodedFields: FieldsPlace;
}

export function tablePlace(): TablePlace {
  return { open: null, fields: fieldsPlace(), decodedOpen: null, decodedFields: fieldsPlace() };
}

/**
 * The readings of a text, lower levels first; yields between them.
 *
 * @param place where the piece starts, and, after it has been read, where the next one does; absent: the
 * whole text
 */
export function* readings(text: string, place: TablePlace = tablePlace()): Generator<Reading, void> {
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
  const fields = namedFields(plain, place.fields);
  if (fields) yield { view: fields, level: 0, joined: false, cells: true, escapes: [] };
  const quoted = unquoted(plain);
  if (quoted) yield { view: quoted, level: 0, joined: false, escapes: [] };
  const bare = quoted ?? unmarked(plain);
  if (bare) {
    for (const cells of [tableCells(bare, null)?.view, namedFields(bare)]) {
      if (cells && cells.text !== "") {
        yield { view: cells, level: 0, joined: false, cells: true, escapes: [] };
      }
    }
  }
  const first = decodings(plain, sent.hints);
  if (!first) return;
  const decoded: Reading = { ...first, level: 1, joined: false };
  yield decoded;
  const decodedTable = tableCells(first.view, place.decodedOpen);
  place.decodedOpen = decodedTable?.open ?? null;
  for (const cells of [decodedTable?.view, namedFields(first.view, place.decodedFields)]) {
    if (cells && cells.text !== "") {
      yield { view: cells, level: 0, joined: false, cells: true, escapes: [] };
    }
  }
  const second = decodings(first.view, decoded.hints);
  if (second) {
    yield { ...second, level: 2, joined: false };
    for (const cells of [tableCells(second.view, null)?.view, namedFields(second.view)]) {
      if (cells && cells.text !== "") {
        yield { view: cells, level: 0, joined: false, cells: true, escapes: [] };
      }
    }
  }
  // Lines broken by an escape only.
  const rejoined = first.escapes.length > 0 ? joinLines(first.view, { escaped: true }) : null;
  if (rejoined) yield { view: rejoined, level: 1, joined: true, escapes: [] };
}

/**
 * The span in the original text of a finding in a reading; null: a lower reading has the same text within
 * `reach` of it.
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
  const sent = sentSpan(view, start, end);
  // Of two parts that are not in this order in the original text.
  return sent.end > sent.start ? sent : null;
}

/**
 * Adjusts findings of a lower view to those of the views above that decode these escapes. A finding whose
 * first or last unit is within an escape is dropped if a higher view has a finding at that position;
 * otherwise it is extended to include the escape, or ends before it if that is a quote.
 */
export function settle<T extends { start: number; end: number }>(
  text: string,
  lower: T[],
  higher: readonly T[],
  escapes: readonly Span[],
): T[] {
  if (escapes.length === 0 || lower.length === 0) return lower;
  return lower.filter((one) => {
    const first = escapeAt(escapes, one.start);
    const last = escapeAt(escapes, one.end - 1);
    if (!first && !last) return true;
    // Made of the escape's own digits: "\\U0000201D".
    if (first === last && first!.end - first!.start <= LONGEST_ESCAPE) return false;
    // The sign gives the value, which begins with the digits of the escape: "TIN=40361628579".
    if (first && !last && text[first.start] === "=" && one.start === first.start + 1) return true;
    if (higher.some((other) => other.start < one.end && one.start < other.end)) return false;
    // What gives a value is no escape where the view above has nothing: "cuit=20451813979".
    if (first && text[first.start] !== "=") one.start = first.start;
    if (last && text[last.start] !== "=") {
      // An escaped quote ends the value.
      const isQuote = last.start > one.start && /^\\+["'`]$/.test(text.slice(last.start, last.end));
      one.end = isQuote ? last.start : last.end;
    }
    return true;
  });
}

/** The escape that contains a unit. */
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
