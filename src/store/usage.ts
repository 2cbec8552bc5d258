/**
 * Usage by key, model, day and so on, over a span of time: whole days come from the sums, the rest of the first and the
 * last day from the generations themselves.
 *
 * Of a day whose generations have been retired no part can be told apart, so it counts when its first millisecond lies
 * within the span.
 */
import type { Engine, Query } from "./engine.ts";
import { asInt, asMoney, asText, type Row, type Value } from "./rows.ts";
import { ofLabelByDay, SUMMED_OF_LABELS } from "./labels.ts";
import {
  COUNTED,
  DAY,
  joined,
  LARGEST_SUM,
  monthOf,
  SUM_PARTS,
  type SumKind,
  SUMMED,
  SUMS_OF_KEYS,
} from "./sums.ts";
import { readSumsState, type SumsState } from "./sums_state.ts";
import {
  isLabel,
  isOfRecords,
  type LabelDimension,
  type PlainDimension,
  type UsageDimension,
} from "./usage_dimensions.ts";

export interface UsageSum {
  /**
   * What the sum is of: names of keys, ids of models, days as `2026-01-31`. Empty text: unknown, or generations that have
   * no such label.
   */
  of: Partial<Record<UsageDimension | "keyId", string>>;
  generations: number;
  /** Of these, failed or interrupted. */
  failed: number;
  input: number;
  cached: number;
  cacheWrite: number;
  output: number;
  reasoning: number;
  searches: number;
  /** Picodollars. */
  cost: bigint;
  /** Picodollars that reading from caches saved; less than nothing where that is dearer. */
  cacheSaved: bigint;
  /**
   * Of sums by a label: time of all calls, calls of tools in their answers. Null: of calls without such a label, since sums
   * of all calls do not tell them.
   */
  labelled?: { latencyMs: number | null; toolCalls: number | null };
}

export interface UsageFilter {
  by: readonly UsageDimension[];
  /** Milliseconds; inclusive. */
  from: number | null;
  /** Milliseconds; exclusive. */
  to: number | null;
  keyId?: string;
  /** Only of keys of this person. */
  member?: string;
  account?: string;
}

export interface UsagePage {
  skip: number;
  limit: number;
}

const FAILED = "CASE WHEN status IN ('failed', 'interrupted') THEN 1 ELSE 0 END";
/** What stands for a dimension in the sums, and in the generations. */
const COLUMNS: Record<PlainDimension, { sums: string; live: string }> = {
  key: { sums: "key_id", live: "key_id" },
  model: { sums: "model", live: "model" },
  day: { sums: "starts", live: `created - created % ${DAY}` },
  account: { sums: "account", live: "account" },
  provider: { sums: "provider", live: "COALESCE(provider, '')" },
  format: { sums: "format", live: "format" },
};
/** The value of a tag in a generation's row. The name has no character that would need to be quoted. */
const TAG_VALUE = {
  sqlite: (name: string) => `tags ->> '$."${name}"'`,
  postgres: (name: string) => `tags::jsonb ->> '${name}'`,
};

/** Dearest first; where a day is among the dimensions, oldest first. Of `incompleteBefore` the state of sums tells. */
export async function sumUsage(
  { kind, query }: { kind: Engine["kind"]; query: Query },
  filter: UsageFilter,
  page: UsagePage = { skip: 0, limit: 1_000_000 },
): Promise<UsageSum[]> {
  const { by, from, to, keyId } = filter;
  const span = { from: from ?? 0, to: to ?? Number.MAX_SAFE_INTEGER, keyId };
  const store = { kind, query, state: await readSumsState(query, span) };
  return by.includes("day") && by.includes("key")
    ? await sumDayByDay(store, filter, page)
    : await sumAtOnce(store, filter, page);
}

interface Summing {
  kind: Engine["kind"];
  query: Query;
  state: SumsState;
}

async function sumAtOnce(
  { kind, query, state }: Summing,
  filter: UsageFilter,
  page: UsagePage,
): Promise<UsageSum[]> {
  const run = async (parts: SumParts) => {
    const { text, params } = statement(filter, state, page, kind, parts);
    return (await query(text, params)).map((row) => decodeSum(row, filter.by));
  };
  if (kind === "postgres") return await run(SUM_PARTS.postgres);
  try {
    // Whole sums take two thirds of the time of sums in parts, and hardly any is too large.
    return await run((column) => ["0", `SUM(${column})`]);
  } catch (error) {
    if (!(error instanceof Error && error.message.includes("integer overflow"))) throw error;
    return await run(SUM_PARTS.sqlite);
  }
}

/** Keys times days are many. In the order of days a page is full after a few of them. */
async function sumDayByDay(store: Summing, filter: UsageFilter, page: UsagePage): Promise<UsageSum[]> {
  const [ends] = await store.query(
    `SELECT (SELECT MIN(created) FROM generations) AS oldest, (SELECT MAX(created) FROM generations) AS newest,
       (SELECT MIN(starts) FROM sums WHERE kind = 'day') AS first, (SELECT MAX(starts) FROM sums WHERE kind = 'day') AS last`,
  );
  const times = [ends.oldest, ends.newest, ends.first, ends.last].flatMap((time) =>
    time === null ? [] : asInt(time)
  );
  if (times.length === 0) return [];
  const begin = Math.max(filter.from ?? 0, Math.min(...times));
  const end = Math.min(filter.to ?? Number.MAX_SAFE_INTEGER, Math.max(...times) + DAY);
  const most = page.skip + page.limit;
  const found: UsageSum[] = [];
  for (let from = begin, days = 1; from < end && found.length < most; days *= 2) {
    const to = Math.min(from - from % DAY + days * DAY, end);
    found.push(...await sumAtOnce(store, { ...filter, from, to }, { skip: 0, limit: most - found.length }));
    from = to;
  }
  return found.slice(page.skip);
}

/** So much of the sums of a label is read by the index of days. */
const FEW_DAYS = 8 * DAY;

type SumParts = (column: string) => string[];

interface Spans {
  /** Whole days. */
  days: { from: number; to: number };
  /** Parts of days. */
  parts: { from: number; to: number }[];
}

function spansOf({ from, to }: UsageFilter, retired: number): Spans {
  const begin = Math.max(from ?? 0, 0);
  // After every day there is.
  const end = to ?? Number.MAX_SAFE_INTEGER - Number.MAX_SAFE_INTEGER % DAY;
  const first = Math.ceil(begin / DAY) * DAY;
  let last = Math.floor(end / DAY) * DAY;
  const parts: Spans["parts"] = [];
  if (last < first) {
    return { days: { from: first, to: first }, parts: begin < end ? [{ from: begin, to: end }] : [] };
  }
  if (begin < first && first - DAY >= retired) parts.push({ from: begin, to: first });
  if (last < end) {
    if (last < retired) last += DAY;
    else parts.push({ from: last, to: end });
  }
  return { days: { from: first, to: last }, parts };
}

function statement(
  filter: UsageFilter,
  state: SumsState,
  page: UsagePage,
  kind: Engine["kind"],
  inParts: SumParts,
): { text: string; params: Value[] } {
  const { by, keyId, member, account } = filter;
  const { days, parts } = spansOf(filter, state.retired);
  const params: Value[] = [];
  const param = (value: Value) => `$${params.push(value)}`;
  const ofKey = (keyId === undefined ? "" : ` AND key_id = ${param(keyId)}`) +
    (member === undefined ? "" : ` AND key_id IN (SELECT id FROM keys WHERE member = ${param(member)})`) +
    (account === undefined ? "" : ` AND account = ${param(account)}`);
  const named = by.includes("key");
  const labels = by.filter(isLabel);
  const summed = labels.length === 0 ? SUMMED : SUMMED_OF_LABELS;
  const inRow = (name: UsageDimension) => {
    if (!isLabel(name)) return COLUMNS[name].live;
    const value = name.startsWith("tag:") ? TAG_VALUE[kind](name.slice("tag:".length)) : name;
    return `COALESCE(${value}, '')`;
  };
  const identity = (column: (name: UsageDimension) => string) =>
    [...by.map((name, i) => `${column(name)} AS d${i}`), ...(named ? ["key_name AS name"] : [])].join(", ");

  const ofSums = (of: SumKind, from: number, to: number) =>
    `SELECT ${identity((name) => isLabel(name) ? "''" : COLUMNS[name].sums)}, ${
      [...SUMMED, ...summed.slice(SUMMED.length).map((c) => `0 AS ${c}`)].join(", ")
    } FROM ${
      of === "key" && (keyId ?? member) !== undefined ? SUMS_OF_KEYS[kind]("s") : "sums"
    } WHERE kind = '${of}' AND starts >= ${param(from)} AND starts < ${param(to)}${ofKey}`;
  const inLabel = (label: LabelDimension, from: number, to: number) => {
    // SQLite looks up row by row what it finds by the index of days.
    const together = kind === "sqlite" && to - from > FEW_DAYS;
    return `FROM label_sums WHERE ${
      together ? `label = ${param(label)}` : ofLabelByDay(param(label))
    } AND starts >= ${param(from)} AND starts < ${param(to)}${ofKey}`;
  };
  /** Of labelled generations, as what they are labelled with, and as what has to be taken from all. */
  const ofLabel = (label: LabelDimension, from: number, to: number) => {
    const where = inLabel(label, from, to);
    const column = (value: string) => (name: UsageDimension) => isLabel(name) ? value : COLUMNS[name].sums;
    const negative = (sum: (column: string) => string) =>
      summed.map((c, i) => i < SUMMED.length ? `-${sum(c)}` : "0").join(", ");
    const taken = (columns: string, groups: string) =>
      `SELECT ${identity(column("''"))}, ${columns} ${where} ${groups}`;
    const others = [
      ...by.flatMap((name) => isLabel(name) ? [] : COLUMNS[name].sums),
      ...(named ? ["key_name"] : []),
    ];
    return [
      `SELECT ${identity(column("value"))}, ${summed.join(", ")} ${where}`,
      inParts === SUM_PARTS.sqlite
        ? taken(negative((c) => c), "")
        // At once, so that not each of them is sorted among all the others.
        : taken(
          negative((c) => wholeSum(kind, c)),
          others.length === 0 ? "HAVING COUNT(*) > 0" : `GROUP BY ${others.join(", ")}`,
        ),
    ];
  };
  /**
   * By teams and another label, whose sums tell the team: what has the other label, and what has not, as what is left of its
   * team; what has no team is left of all.
   */
  const ofTeamAnd = (label: LabelDimension, from: number, to: number) => {
    const at = (team: string, value: string) => identity((name) => name === "team" ? team : value);
    const less = (unless: string) =>
      summed.map((c, i) => i < SUMMED.length ? `-${c}` : `CASE WHEN ${unless} THEN 0 ELSE -${c} END`).join(
        ", ",
      );
    const [other, teams] = [inLabel(label, from, to), inLabel("team", from, to)];
    return [
      `SELECT ${at("team", "value")}, ${summed.join(", ")} ${other}`,
      `SELECT ${at("team", "''")}, ${less("team = ''")} ${other}`,
      `SELECT ${at("value", "''")}, ${summed.join(", ")} ${teams}`,
      `SELECT ${at("''", "''")}, ${less("true")} ${teams}`,
    ];
  };
  const live = (where: string) =>
    `SELECT ${identity(inRow)}, 1 AS generations, ${FAILED} AS failed,
     ${COUNTED.map((c) => `COALESCE(${c}, 0) AS ${c}`).join(", ")}, cost${
      summed.slice(SUMMED.length).map((c) => `, COALESCE(${c}, 0) AS ${c}`).join("")
    } FROM generations WHERE ${where}${ofKey}`;
  const between = (from: number, to: number) => `created >= ${param(from)} AND created < ${param(to)}`;

  const selects: string[] = [];
  const beside = labels.length === 2 && labels.includes("team")
    ? labels.find((name) => name !== "team")
    : undefined;
  const apart = isOfRecords(by);
  if (apart) {
    const [first] = parts;
    const from = first === undefined ? days.from : Math.min(first.from, days.from);
    selects.push(live(between(from, Math.max(days.to, ...parts.map(({ to }) => to)))));
  } else if (days.from < days.to) {
    const plain = by.filter((name) => !isLabel(name));
    selects.push(
      ...kindsOf(plain, keyId ?? member, days).map(({ kind, from, to }) => ofSums(kind, from, to)),
    );
    if (labels.length === 1) selects.push(...ofLabel(labels[0], days.from, days.to));
    if (beside !== undefined) selects.push(...ofTeamAnd(beside, days.from, days.to));
    selects.push(
      ...state.missing.map((condition) => live(`${condition} AND ${between(days.from, days.to)}`)),
    );
  }
  if (!apart) selects.push(...parts.map(({ from, to }) => live(between(from, to))));
  if (selects.length === 0) selects.push(live("1 = 0"));

  const dimensions = by.map((_, i) => `d${i}`);
  const day = by.indexOf("day");
  const order = day >= 0
    ? [`d${day}`, ...dimensions.filter((name) => name !== `d${day}`)]
    : ["cost_high DESC", "cost_low DESC", ...dimensions];
  const sums = summed.flatMap((c) => {
    const [high, low] = inParts(c);
    return [`${high} AS ${c}_high`, `${low} AS ${c}_low`];
  });
  const text = `SELECT ${[...dimensions, ...(named ? ["MAX(name) AS name"] : []), ...sums].join(", ")}
    FROM (${selects.join(" UNION ALL ")}) AS u GROUP BY ${dimensions.join(", ")}
    HAVING SUM(generations) > 0 ORDER BY ${order.join(", ")}
    LIMIT ${param(page.limit)} OFFSET ${param(page.skip)}`;
  return { text, params };
}

/** PostgreSQL's sums of whole numbers are decimals, which would make decimals of all that they are united with. */
function wholeSum(kind: Engine["kind"], column: string): string {
  const sum = `SUM(${column})`;
  return kind === "sqlite" ? sum : `GREATEST(LEAST(${sum}, ${LARGEST_SUM}), -${LARGEST_SUM})::bigint`;
}

/** Sums by month, those with the fewest rows first. */
const MONTHLY: readonly { kind: SumKind; tells: readonly UsageDimension[] }[] = [
  { kind: "month", tells: ["key", "account"] },
  { kind: "models", tells: ["key", "account", "model"] },
  { kind: "routes", tells: ["key", "account", "provider", "format"] },
];

/** What sums by day of all that a key used tell apart. */
const DAILY: readonly UsageDimension[] = ["key", "account", "day"];

interface KindSpan {
  kind: SumKind;
  from: number;
  to: number;
}

/** The sums that tell these dimensions apart with the fewest rows. */
function kindsOf(by: readonly UsageDimension[], keyId: string | undefined, days: Spans["days"]): KindSpan[] {
  if (keyId === undefined && !by.includes("key")) return [{ kind: "day", ...days }];
  // One key's days are few, and there is an index for them.
  if (keyId !== undefined) return [{ kind: "key", ...days }];
  const daily = by.every((name) => DAILY.includes(name)) ? "keys" : "key";
  const monthly = MONTHLY.find(({ tells }) => by.every((name) => tells.includes(name)));
  if (monthly === undefined) return [{ kind: daily, ...days }];
  const months = { from: monthStarting(days.from), to: Math.min(monthOf(clamped(days.to)), days.to) };
  if (months.from >= months.to) return [{ kind: daily, ...days }];
  return ([
    { kind: daily, from: days.from, to: months.from },
    { kind: monthly.kind, ...months },
    { kind: daily, from: months.to, to: days.to },
  ] as const).filter(({ from, to }) => from < to);
}

/** The first month that begins at this time or later. */
function monthStarting(time: number): number {
  const month = monthOf(time);
  return month === time ? time : monthOf(month + 32 * DAY);
}

/** Dates end before the numbers do. */
function clamped(time: number): number {
  return Math.min(time, 8_000_000_000_000_000);
}

function decodeSum(row: Row, by: readonly UsageDimension[]): UsageSum {
  const of: UsageSum["of"] = {};
  for (const [i, name] of by.entries()) {
    const value = row[`d${i}`];
    if (name === "day") of.day = new Date(asInt(value)).toISOString().slice(0, 10);
    else if (name === "key") [of.keyId, of.key] = [asText(value), asText(row.name)];
    else of[name] = asText(value);
  }
  const exact = (name: string) => joined(asMoney(row[`${name}_high`]), asMoney(row[`${name}_low`]));
  const count = (name: string) => Number(exact(name));
  const told = isOfRecords(by) || by.some((name) => isLabel(name) && of[name] !== "");
  return {
    of,
    generations: count("generations"),
    failed: count("failed"),
    input: count("input"),
    cached: count("cached"),
    cacheWrite: count("cache_write"),
    output: count("output"),
    reasoning: count("reasoning"),
    searches: count("searches"),
    cost: exact("cost"),
    cacheSaved: exact("cache_saved"),
    ...(by.some(isLabel) && {
      labelled: {
        latencyMs: told ? count("latency_ms") : null,
        toolCalls: told ? count("tool_calls") : null,
      },
    }),
  };
}
