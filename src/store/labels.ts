/**
 * Labels of generations: the team of the key, the session, and tags. Each label has its own sums, by day and
 * by all other usage dimensions.
 *
 * Sums of a session exist for each day on which it was used, and are deleted by retention together with the
 * generations. Sums of tags are kept like all other sums. Since callers choose tag values, only a bounded
 * number of values of each tag has its own sums per day.
 */
import type { Columns, Engine, Query } from "./engine.ts";
import { asMoney, asText, type Value } from "./rows.ts";
import {
  addCounts,
  addToSums,
  bounded,
  type Counted,
  COUNTED_OF_LABELS,
  DAY,
  LARGEST_SUM,
  type RecordLabels,
  SUMMED,
  sumOf,
} from "./sums.ts";

/** The value under which all further values of a tag are summed on a day with too many. */
export const OTHER_VALUES = "(other)";
/** The most values per tag, and the most tags, that have their own sums on one day. */
const MOST_VALUES = 1000;
const MOST_TAGS = 100;

const IDENTITY = [
  "label",
  "value",
  "starts",
  "key_id",
  "key_name",
  "account",
  "team",
  "model",
  "provider",
  "format",
] as const;

export const SUMMED_OF_LABELS = [...SUMMED, ...COUNTED_OF_LABELS] as const;

const COLUMNS: Columns = [
  ...IDENTITY.map((name) => [name, name === "starts" ? "int" : "text"] as const),
  ...SUMMED_OF_LABELS.map((name) => [name, "money"] as const),
];

const ADDING = `ON CONFLICT (${IDENTITY.join(", ")}) DO UPDATE SET ${
  SUMMED_OF_LABELS.map((name) =>
    `${name} = CASE WHEN label_sums.${name} > ${LARGEST_SUM} - excluded.${name} THEN ${LARGEST_SUM}
     ELSE label_sums.${name} + excluded.${name} END`
  ).join(", ")
}`;

/** The label of a tag in `label_sums`. */
export function tagLabel(name: string): string {
  return `tag:${name}`;
}

/** Adds generations to all sums. Generations without labels need no more than the daily sums. */
export async function countIn(engine: Engine, query: Query, counted: readonly Counted[]): Promise<void> {
  await addToSums(engine, query, counted);
  const labelled = counted.filter(({ labels }) => labels !== null);
  if (labelled.length > 0) await addToLabelSums(engine, query, labelled);
}

/** SQL condition: rows of one value of a label. */
export function ofLabel(label: string, value: string, table = "label_sums"): string {
  return `${table}.label = ${label} AND ${table}.value = ${value}`;
}

/**
 * SQL condition: rows of all values of a label, through the index by day. That index is on an expression:
 * otherwise a plan made while the table was small would be kept, and would scan the whole table for one
 * value.
 */
export function ofLabelByDay(label: string): string {
  return `label || '' = ${label}`;
}

/** A label value, and a span of whole days. */
export interface LabelSpan {
  label: string;
  value: string;
  starts: number;
  ends: number | null;
}

const SPAN: Columns = [["n", "int"], ["label", "text"], ["value", "text"], ["starts", "int"], [
  "ends",
  "int",
]];

/** The cost of generations with each label, in the order of the spans, by a single statement. */
export async function labelSpent(
  engine: Pick<Engine, "kind" | "rows">,
  query: Query,
  spans: readonly LabelSpan[],
): Promise<bigint[]> {
  if (spans.length === 0) return [];
  const rows = await query(
    `SELECT r.n AS n, (SELECT ${sumOf(engine.kind, "s.cost")} FROM label_sums s
       WHERE ${
      ofLabel("r.label", "r.value", "s")
    } AND s.starts >= r.starts AND (r.ends IS NULL OR s.starts < r.ends)) AS spent
     FROM ${engine.rows("$1", SPAN)} ORDER BY r.n`,
    [JSON.stringify(spans.map(({ label, value, starts, ends }, n) => [n, label, value, starts, ends]))],
  );
  return rows.map((row) => asMoney(row.spent));
}

async function addToLabelSums(engine: Engine, query: Query, labelled: readonly Counted[]): Promise<void> {
  let values = valuesOfStores.get(engine);
  if (values === undefined) valuesOfStores.set(engine, values = new ValuesOfDays());
  const sums = new Map<string, { identity: Value[]; counts: (number | bigint)[] }>();
  for (const c of labelled) {
    const day = c.created - c.created % DAY;
    const { generations = 1 } = c;
    const counts = [generations, c.failed ? generations : 0, ...c.counts, c.cost, ...c.moreCounts];
    const rest = [day, c.keyId, c.key, c.account, c.labels!.team ?? "", c.model, c.provider, c.format];
    for (const [label, value] of await labelsOf(c.labels!, day, values, query)) {
      const identity = [label, value, ...rest];
      const name = identity.join("\0");
      const sum = sums.get(name);
      if (sum === undefined) sums.set(name, { identity, counts: [...counts] });
      else addCounts(sum.counts, counts);
    }
  }
  const rows = [...sums].sort(([a], [b]) => a < b ? -1 : 1)
    .map(([, { identity, counts }]) => [...identity, ...counts.map(bounded)]);
  await engine.insertRows(query, { table: "label_sums", columns: COLUMNS, then: ADDING }, rows);
}

async function labelsOf(
  { team, session, tags }: RecordLabels,
  day: number,
  values: ValuesOfDays,
  query: Query,
): Promise<[label: string, value: string][]> {
  const labels: [string, string][] = [];
  if (team !== null) labels.push(["team", team]);
  if (session !== null) labels.push(["session", session]);
  for (const [name, value] of Object.entries(tags ?? {})) {
    const summed = await values.summedAs(day, name, value, query);
    if (summed !== null) labels.push([tagLabel(name), summed]);
  }
  return labels;
}

/** Cache of the tag values that have their own sums, by day and tag. */
class ValuesOfDays {
  readonly #days = new Map<number, Map<string, Set<string>>>();

  /** The value under which a tag's value is summed; null: the day has too many tags, and this tag has no sums. */
  async summedAs(day: number, name: string, value: string, query: Query): Promise<string | null> {
    const tags = this.#tagsOf(day);
    let values = tags.get(name);
    if (values === undefined) {
      if (tags.size >= MOST_TAGS) return null;
      values = new Set(await valuesInStore(query, day, name));
      tags.set(name, values);
    }
    if (values.has(value)) return value;
    if (values.size >= MOST_VALUES) return OTHER_VALUES;
    values.add(value);
    return value;
  }

  #tagsOf(day: number): Map<string, Set<string>> {
    let tags = this.#days.get(day);
    if (tags === undefined) {
      this.#days.set(day, tags = new Map());
      // Records of the previous day may still arrive, so two days are kept; others are read again when
      // needed.
      if (this.#days.size > 2) this.#days.delete(Math.min(...this.#days.keys()));
    }
    return tags;
  }
}

async function valuesInStore(query: Query, day: number, name: string): Promise<string[]> {
  const rows = await query(
    `SELECT DISTINCT value FROM label_sums WHERE ${ofLabelByDay("$1")} AND starts = $2 LIMIT ${MOST_VALUES}`,
    [tagLabel(name), day],
  );
  return rows.map((row) => asText(row.value));
}

const valuesOfStores = new WeakMap<Engine, ValuesOfDays>();
