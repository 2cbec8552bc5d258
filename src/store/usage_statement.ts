/**
 * Builds the SQL statement of a usage report and its parameters: rows of sums and of generations are brought
 * into one form, united, and summed by the dimensions.
 *
 * A result row has the dimensions as `d0`, `d1` and so on, the key's name if keys are a dimension, and one
 * column per sum.
 */
import type { Engine } from "./engine.ts";
import { ofLabelByDay, SUMMED_OF_LABELS } from "./labels.ts";
import type { Value } from "./rows.ts";
import { COUNTED, DAY, LARGEST_SUM, monthOf, SUM_PARTS, type SumKind, SUMMED, SUMS_OF_KEYS } from "./sums.ts";
import type { SumsState } from "./sums_state.ts";
import {
  isLabel,
  isOfRecords,
  type LabelDimension,
  type PlainDimension,
  type UsageDimension,
} from "./usage_dimensions.ts";

export interface UsageFilter {
  by: readonly UsageDimension[];
  /** Milliseconds; inclusive. */
  from: number | null;
  /** Milliseconds; exclusive. */
  to: number | null;
  keyId?: string;
  /** Only of keys that belong to this person. */
  member?: string;
  account?: string;
}

export interface UsagePage {
  skip: number;
  limit: number;
}

const FAILED = "CASE WHEN status IN ('failed', 'interrupted') THEN 1 ELSE 0 END";
/** The expression for each dimension, over the sums and over the generations. */
const COLUMNS: Record<PlainDimension, { sums: string; live: string }> = {
  key: { sums: "key_id", live: "key_id" },
  model: { sums: "model", live: "model" },
  day: { sums: "starts", live: `created - created % ${DAY}` },
  account: { sums: "account", live: "account" },
  provider: { sums: "provider", live: "COALESCE(provider, '')" },
  format: { sums: "format", live: "format" },
};
/** SQL: the value of a tag in a generation's row. Tag names contain no character that must be escaped. */
const TAG_VALUE = {
  sqlite: (name: string) => `tags ->> '$."${name}"'`,
  postgres: (name: string) => `tags::jsonb ->> '${name}'`,
};

/** Up to this span, the sums of a label are read through the index by day. */
const FEW_DAYS = 8 * DAY;

/** The two expressions that a sum is read as; the first is the more significant. */
export type SumParts = (column: string) => string[];

export interface StatementOptions {
  kind: Engine["kind"];
  filter: UsageFilter;
  page: UsagePage;
  state: SumsState;
  inParts: SumParts;
}

export function usageStatement(options: StatementOptions): { text: string; params: Value[] } {
  const statement = new UsageStatement(options);
  return { text: statement.text(), params: statement.params };
}

class UsageStatement {
  readonly params: Value[] = [];
  readonly #options: StatementOptions;
  readonly #by: readonly UsageDimension[];
  readonly #labels: readonly LabelDimension[];
  /** Keys are a dimension, so rows are grouped by key name as well. */
  readonly #named: boolean;
  /** The columns that are summed. */
  readonly #summed: readonly string[];
  /** The filter's conditions, which apply to every table. */
  readonly #ofKey: string;

  constructor(options: StatementOptions) {
    const { by, keyId, member, account } = options.filter;
    this.#options = options;
    this.#by = by;
    this.#labels = by.filter(isLabel);
    this.#named = by.includes("key");
    this.#summed = this.#labels.length === 0 ? SUMMED : SUMMED_OF_LABELS;
    this.#ofKey = (keyId === undefined ? "" : ` AND key_id = ${this.#param(keyId)}`) +
      (member === undefined
        ? ""
        : ` AND key_id IN (SELECT id FROM keys WHERE member = ${this.#param(member)})`) +
      (account === undefined ? "" : ` AND account = ${this.#param(account)}`);
  }

  text(): string {
    const { page, inParts } = this.#options;
    const selects = this.#selects();
    const dimensions = this.#by.map((_, i) => `d${i}`);
    const day = this.#by.indexOf("day");
    const order = day >= 0
      ? [`d${day}`, ...dimensions.filter((name) => name !== `d${day}`)]
      : ["cost_high DESC", "cost_low DESC", ...dimensions];
    const sums = this.#summed.flatMap((c) => {
      const [high, low] = inParts(c);
      return [`${high} AS ${c}_high`, `${low} AS ${c}_low`];
    });
    return `SELECT ${[...dimensions, ...(this.#named ? ["MAX(name) AS name"] : []), ...sums].join(", ")}
    FROM (${selects.join(" UNION ALL ")}) AS u GROUP BY ${dimensions.join(", ")}
    HAVING SUM(generations) > 0 ORDER BY ${order.join(", ")}
    LIMIT ${this.#param(page.limit)} OFFSET ${this.#param(page.skip)}`;
  }

  /** The parts of the UNION; never empty. */
  #selects(): string[] {
    const { filter, state } = this.#options;
    if (isOfRecords(this.#by)) {
      const { from, to } = boundsOf(filter);
      return [this.#live(this.#between(Math.max(from, state.retired), to))];
    }
    const { days, parts } = spansOf(filter, state.retired);
    const selects = [
      ...(days.from < days.to ? this.#ofDays(days) : []),
      ...parts.map(({ from, to }) => this.#live(this.#between(from, to))),
    ];
    return selects.length === 0 ? [this.#live("1 = 0")] : selects;
  }

  #ofDays({ from, to }: Span): string[] {
    const { filter: { keyId, member }, state } = this.#options;
    const labels = this.#labels;
    const plain = this.#by.filter((name) => !isLabel(name));
    const beside = labels.length === 2 && labels.includes("team")
      ? labels.find((name) => name !== "team")
      : undefined;
    return [
      ...kindsOf(plain, keyId ?? member, { from, to }).map((of) => this.#ofSums(of)),
      ...(labels.length === 1 ? this.#ofLabel(labels[0], from, to) : []),
      ...(beside === undefined ? [] : this.#ofTeamAnd(beside, from, to)),
      ...state.missing.map((condition) => this.#live(`${condition} AND ${this.#between(from, to)}`)),
    ];
  }

  #ofSums({ kind: of, from, to }: KindSpan): string {
    const { kind, filter: { keyId, member } } = this.#options;
    const columns = [...SUMMED, ...this.#summed.slice(SUMMED.length).map((c) => `0 AS ${c}`)];
    return `SELECT ${this.#identity((name) => isLabel(name) ? "''" : COLUMNS[name].sums)}, ${
      columns.join(", ")
    } FROM ${
      of === "key" && (keyId ?? member) !== undefined ? SUMS_OF_KEYS[kind]("s") : "sums"
    } WHERE kind = '${of}' AND starts >= ${this.#param(from)} AND starts < ${this.#param(to)}${this.#ofKey}`;
  }

  /**
   * Rows by label: labelled generations with their value, and again with negative counts, which subtract them
   * from the rows without a label (those come from the sums of all generations).
   */
  #ofLabel(label: LabelDimension, from: number, to: number): string[] {
    const { kind, inParts } = this.#options;
    const where = this.#inLabel(label, from, to);
    const column = (value: string) => (name: UsageDimension) => isLabel(name) ? value : COLUMNS[name].sums;
    const negative = (sum: (column: string) => string) =>
      this.#summed.map((c, i) => i < SUMMED.length ? `-${sum(c)}` : "0").join(", ");
    const taken = (columns: string, groups: string) =>
      `SELECT ${this.#identity(column("''"))}, ${columns} ${where} ${groups}`;
    const others = [
      ...this.#by.flatMap((name) => isLabel(name) ? [] : COLUMNS[name].sums),
      ...(this.#named ? ["key_name"] : []),
    ];
    return [
      `SELECT ${this.#identity(column("value"))}, ${this.#summed.join(", ")} ${where}`,
      inParts === SUM_PARTS.sqlite
        ? taken(negative((c) => c), "")
        // Grouped beforehand, so that fewer rows are sorted in the outer statement.
        : taken(
          negative((c) => wholeSum(kind, c)),
          others.length === 0 ? "HAVING COUNT(*) > 0" : `GROUP BY ${others.join(", ")}`,
        ),
    ];
  }

  /**
   * Rows by team and another label; the sums of that label have a team column. Generations with the other
   * label; those of the same team without it (the team's sums minus the former); and those without a team
   * (all minus both).
   */
  #ofTeamAnd(label: LabelDimension, from: number, to: number): string[] {
    const summed = this.#summed;
    const at = (team: string, value: string) => this.#identity((name) => name === "team" ? team : value);
    const less = (unless: string) =>
      summed.map((c, i) => i < SUMMED.length ? `-${c}` : `CASE WHEN ${unless} THEN 0 ELSE -${c} END`)
        .join(", ");
    const [other, teams] = [this.#inLabel(label, from, to), this.#inLabel("team", from, to)];
    return [
      `SELECT ${at("team", "value")}, ${summed.join(", ")} ${other}`,
      `SELECT ${at("team", "''")}, ${less("team = ''")} ${other}`,
      `SELECT ${at("value", "''")}, ${summed.join(", ")} ${teams}`,
      `SELECT ${at("''", "''")}, ${less("true")} ${teams}`,
    ];
  }

  #inLabel(label: LabelDimension, from: number, to: number): string {
    // SQLite looks up each row that it finds through the index by day, so long spans do not use that index.
    const together = this.#options.kind === "sqlite" && to - from > FEW_DAYS;
    return `FROM label_sums WHERE ${
      together ? `label = ${this.#param(label)}` : ofLabelByDay(this.#param(label))
    } AND starts >= ${this.#param(from)} AND starts < ${this.#param(to)}${this.#ofKey}`;
  }

  /** Rows of generations instead of sums. */
  #live(where: string): string {
    return `SELECT ${this.#identity((name) => this.#inRow(name))}, 1 AS generations, ${FAILED} AS failed,
     ${COUNTED.map((c) => `COALESCE(${c}, 0) AS ${c}`).join(", ")}, cost${
      this.#summed.slice(SUMMED.length).map((c) => `, COALESCE(${c}, 0) AS ${c}`).join("")
    } FROM generations WHERE ${where}${this.#ofKey}`;
  }

  #between(from: number, to: number): string {
    return `created >= ${this.#param(from)} AND created < ${this.#param(to)}`;
  }

  #inRow(name: UsageDimension): string {
    if (!isLabel(name)) return COLUMNS[name].live;
    const value = name.startsWith("tag:") ? TAG_VALUE[this.#options.kind](name.slice("tag:".length)) : name;
    return `COALESCE(${value}, '')`;
  }

  #identity(column: (name: UsageDimension) => string): string {
    const dimensions = this.#by.map((name, i) => `${column(name)} AS d${i}`);
    return [...dimensions, ...(this.#named ? ["key_name AS name"] : [])].join(", ");
  }

  /** Adds a parameter; returns its placeholder. */
  #param(value: Value): string {
    return `$${this.params.push(value)}`;
  }
}

/** Milliseconds; `to` is exclusive. */
interface Span {
  from: number;
  to: number;
}

interface Spans {
  /** Whole days. */
  days: Span;
  /** Partial days. */
  parts: Span[];
}

function boundsOf({ from, to }: UsageFilter): Span {
  return {
    from: Math.max(from ?? 0, 0),
    // No upper bound: later than every possible day.
    to: to ?? Number.MAX_SAFE_INTEGER - Number.MAX_SAFE_INTEGER % DAY,
  };
}

function spansOf(filter: UsageFilter, retired: number): Spans {
  const { from: begin, to: end } = boundsOf(filter);
  const first = Math.ceil(begin / DAY) * DAY;
  let last = Math.floor(end / DAY) * DAY;
  const parts: Span[] = [];
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

/** PostgreSQL's SUM of integers has the type numeric, which would make the whole UNION numeric. */
function wholeSum(kind: Engine["kind"], column: string): string {
  const sum = `SUM(${column})`;
  return kind === "sqlite" ? sum : `GREATEST(LEAST(${sum}, ${LARGEST_SUM}), -${LARGEST_SUM})::bigint`;
}

/** Monthly sums, from the fewest rows to the most. */
const MONTHLY: readonly { kind: SumKind; tells: readonly UsageDimension[] }[] = [
  { kind: "month", tells: ["key", "account"] },
  { kind: "models", tells: ["key", "account", "model"] },
  { kind: "routes", tells: ["key", "account", "provider", "format"] },
];

/** Dimensions of the daily sums per key (`keys`). */
const DAILY: readonly UsageDimension[] = ["key", "account", "day"];

interface KindSpan extends Span {
  kind: SumKind;
}

/** The kinds of sums with the fewest rows that have all these dimensions. */
function kindsOf(by: readonly UsageDimension[], keyId: string | undefined, days: Span): KindSpan[] {
  if (keyId === undefined && !by.includes("key")) return [{ kind: "day", ...days }];
  // One key has few rows per day, and there is an index for them.
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

/** The first start of a month at or after this time. */
function monthStarting(time: number): number {
  const month = monthOf(time);
  return month === time ? time : monthOf(month + 32 * DAY);
}

/** Limits a time to the range of Date, which is smaller than that of numbers. */
function clamped(time: number): number {
  return Math.min(time, 8_000_000_000_000_000);
}
