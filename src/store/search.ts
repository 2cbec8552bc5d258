/**
 * Search over generations by any recorded field. Few fields have an index, so one search reads a bounded
 * number of records, reports how far it got, and is continued by the next request. The daily sums show which
 * days need not be read.
 */
import type { Query } from "./engine.ts";
import { conditions, type GenerationFilter, keysNamed } from "./generations.ts";
import { ofLabel, OTHER_VALUES, tagLabel } from "./labels.ts";
import type { Position } from "./position.ts";
import { decodeRow, type Generation, NAMES } from "./records.ts";
import { asInt, asText, type Value } from "./rows.ts";
import { DAY } from "./sums.ts";
import { sumsAreWhole } from "./sums_state.ts";
import { addTraits, type GenerationTraits } from "./traits.ts";

export interface Found {
  rows: Generation[];
  /** Where to continue; null: everything was searched. */
  next: Position | null;
}

/** Records read per statement, and statements per search. */
const BOUNDS = { rows: 10_000, statements: 8 };

interface Search {
  where: string[];
  params: Value[];
  /** Set if the search is limited to one key, whose records an index orders. */
  keyId: string | undefined;
}

/** Newest first. */
export async function searchGenerations(
  query: Query,
  { filter, traits }: { filter: GenerationFilter; traits: GenerationTraits },
  { after, limit }: { after: Position | null; limit: number },
  bounds = BOUNDS,
): Promise<Found> {
  const keyIds = filter.key === undefined || filter.keyId !== undefined
    ? null
    : await keysNamed(query, filter);
  if (keyIds?.length === 0) return { rows: [], next: null };
  const keyId = filter.keyId ?? (keyIds?.length === 1 ? keyIds[0] : undefined);
  const { where, params } = conditions({ ...filter, keyId, from: undefined, to: undefined });
  addTraits(traits, where, params);
  if (filter.member !== undefined) {
    params.push(filter.member);
    where.push(`key_id IN (SELECT id FROM keys WHERE member = $${params.length})`);
  }
  const search = { where, params, keyId };
  const rows: Generation[] = [];
  let at = after;
  let statements = 0;
  for (const span of await spansOf(query, { ...filter, keyId }, traits)) {
    if (at !== null && span.from > at.created) continue;
    for (;;) {
      if (statements++ >= bounds.statements) return { rows, next: at };
      const end = await boundary(query, search, { span, after: at, rows: bounds.rows });
      rows.push(...await between(query, search, { span, after: at, end, limit: limit - rows.length }));
      if (rows.length >= limit) return { rows, next: positionOf(rows[rows.length - 1]) };
      if (end === null) break;
      at = end;
    }
    // The next span starts below this one.
    at = { created: span.from, id: "" };
  }
  return { rows, next: null };
}

const positionOf = ({ created, id }: Position) => ({ created, id });

interface Span {
  from: number;
  to: number;
}

/** The last of a number of records after a position; null: there are fewer. */
async function boundary(
  query: Query,
  { keyId }: Search,
  { span: { from, to }, after, rows }: { span: Span; after: Position | null; rows: number },
): Promise<Position | null> {
  const params: Value[] = [from, Math.min(to, after === null ? to : after.created + 1)];
  const where = ["created >= $1", "created < $2"];
  if (after !== null) {
    params.push(after.created, after.id);
    where.push("(created, id) < ($3, $4)");
  }
  if (keyId !== undefined) {
    params.push(keyId);
    where.push(`key_id = $${params.length}`);
  }
  const [row] = await query(
    `SELECT created, id FROM generations WHERE ${where.join(" AND ")}
     ORDER BY created DESC, id DESC LIMIT 1 OFFSET ${rows - 1}`,
    params,
  );
  return row === undefined ? null : { created: asInt(row.created), id: asText(row.id) };
}

/** Matching records, from a position to a boundary. */
async function between(
  query: Query,
  search: Search,
  { span, after, end, limit }: { span: Span; after: Position | null; end: Position | null; limit: number },
): Promise<Generation[]> {
  const params = [...search.params];
  const where = [...search.where];
  const add = (text: (...names: string[]) => string, ...values: Value[]) => {
    const names = values.map((value) => `$${params.push(value)}`);
    where.push(text(...names));
  };
  add((at) => `created >= ${at}`, Math.max(span.from, end?.created ?? 0));
  add((at) => `created < ${at}`, Math.min(span.to, after === null ? span.to : after.created + 1));
  if (after !== null) add((created, id) => `(created, id) < (${created}, ${id})`, after.created, after.id);
  if (end !== null) add((created, id) => `(created, id) >= (${created}, ${id})`, end.created, end.id);
  const rows = await query(
    `SELECT ${NAMES} FROM generations WHERE ${where.join(" AND ")}
     ORDER BY created DESC, id DESC LIMIT $${params.push(limit)}`,
    params,
  );
  return rows.map(decodeRow);
}

/** Runs of consecutive days that may contain matches, newest first. */
async function spansOf(query: Query, filter: GenerationFilter, traits: GenerationTraits): Promise<Span[]> {
  const { from = 0, to = Number.MAX_SAFE_INTEGER } = filter;
  const whole = [{ from, to }];
  if (!await sumsAreWhole(query)) return whole;
  const sets: Set<number>[] = [];
  const summed = Object.entries({
    account: filter.account,
    model: filter.model,
    provider: traits.provider,
    format: traits.format,
  }).filter(([, value]) => value !== undefined) as [string, string][];
  if (summed.length > 0) {
    const where = summed.map(([name], i) => `${name} = $${i + 1}`);
    sets.push(
      await days(
        query,
        `SELECT DISTINCT starts FROM sums WHERE kind = 'day' AND ${where.join(" AND ")}`,
        summed.map(([, value]) => value),
      ),
    );
  }
  const labels: [label: string, value: string][] = [];
  if (filter.session !== undefined) labels.push(["session", filter.session]);
  if (traits.team !== undefined) labels.push(["team", traits.team]);
  for (const [label, value] of labels) {
    sets.push(
      await days(query, `SELECT DISTINCT starts FROM label_sums WHERE ${ofLabel("$1", "$2")}`, [
        label,
        value,
      ]),
    );
  }
  if (traits.tag !== undefined && traits.tag.value !== null) {
    const found = await daysOfTag(query, traits.tag.name, traits.tag.value);
    if (found !== null) sets.push(found);
  }
  if (sets.length === 0) return whole;
  const both = sets.reduce((found, other) => found.intersection(other));
  const spans: Span[] = [];
  for (const day of [...both].sort((a, b) => b - a)) {
    const last = spans.at(-1);
    if (last !== undefined && last.from === day + DAY) last.from = day;
    else spans.push({ from: day, to: day + DAY });
  }
  return spans.map((span) => ({ from: Math.max(span.from, from), to: Math.min(span.to, to) }))
    .filter((span) => span.from < span.to);
}

/**
 * Days on which a tag has this value. Null: unknown. A tag with many values does not have sums for each of
 * them, and on a day with too many tags this one may have no sums.
 */
async function daysOfTag(query: Query, name: string, value: string): Promise<Set<number> | null> {
  const of = (value: string) =>
    days(query, `SELECT DISTINCT starts FROM label_sums WHERE ${ofLabel("$1", "$2")}`, [
      tagLabel(name),
      value,
    ]);
  const found = (await of(value)).union(await of(OTHER_VALUES));
  return found.size === 0 ? null : found;
}

async function days(query: Query, sql: string, params: Value[]): Promise<Set<number>> {
  return new Set((await query(sql, params)).map((row) => asInt(row.starts)));
}
