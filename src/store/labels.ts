/**
 * Labels of generations: their key's team, their session, their tags. Each label has sums of its own, by day and whatever
 * else usage is asked by.
 *
 * A session has a row for each day on which it ran, so its sums go with the retention as its generations do. Tags stay like
 * all other sums; callers choose their values, so of one tag only so many values a day have sums of their own.
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

/** What stands for the values of a tag that are too many for a day. */
export const OTHER_VALUES = "(other)";
/** So many values of one tag, and so many tags, have sums of their own on one day. */
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

/** The name under which a tag's sums are kept. */
export function tagLabel(name: string): string {
  return `tag:${name}`;
}

/** Adds generations to all sums. Those without labels cost no more than the sums by day. */
export async function countIn(engine: Engine, query: Query, counted: readonly Counted[]): Promise<void> {
  await addToSums(engine, query, counted);
  const labelled = counted.filter(({ labels }) => labels !== null);
  if (labelled.length > 0) await addToLabelSums(engine, query, labelled);
}

/** The condition of the sums of one value of a label. */
export function ofLabel(label: string, value: string, table = "label_sums"): string {
  return `${table}.label = ${label} AND ${table}.value = ${value}`;
}

/**
 * The condition of all values of a label, by the index of its days. That index is of an expression, so that no plan, made
 * while the table was small, takes it for one value, and goes through all of them.
 */
export function ofLabelByDay(label: string): string {
  return `label || '' = ${label}`;
}

/** A label's value, and a span of whole days. */
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

/** What generations with labels cost, in the order of the spans: one statement for any number of them. */
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

/** Values of tags that have sums of their own, by day and tag, as far as this process knows. */
class ValuesOfDays {
  readonly #days = new Map<number, Map<string, Set<string>>>();

  /** The value that a tag's value is summed as; null: the day has too many tags, and this one has no sums. */
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
      // Those of yesterday still come; the store is asked again for what comes later.
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
