/**
 * Data of the overview's charts: sums over a time range in steps, in total and by the values of one
 * dimension.
 *
 * Hours and days are read from the nodes' rollups. Longer ranges, and those with calls before rollups were
 * introduced, are read from the daily sums, which are also the basis of billing; percentiles, and calls that
 * failed without a record, are always from the rollups.
 */
import { formatAmount } from "../accounts/budgets/money.ts";
import type { Administration } from "../accounts/mod.ts";
import { Cell, Rollup } from "../accounts/live/rollup.ts";
import type { SpanReader } from "../accounts/live/timeline.ts";
import type { UsageView } from "../accounts/mod.ts";
import { Failure } from "../exchange/failure.ts";
import { refusedField } from "./administration_input.ts";
import { DAY, type Dimension, DIMENSIONS, RANGES } from "./overview_ranges.ts";

/** Maximum number of values with a line of their own. */
const MOST_GROUPS = 12;
/** Maximum number of sums, read in one query: each further page would aggregate everything again. */
const MOST_SUMS = 4000;

export interface OverviewAsked {
  range: string;
  by: string;
  /** Only this value of the dimension; absent: all. */
  of?: string;
}

export interface OverviewSources {
  administration: Pick<Administration, "usage">;
  timeline: SpanReader;
  now: number;
}

/** Throws `validation_error` for an unknown range or dimension. */
export async function overview({ range, by, of }: OverviewAsked, sources: OverviewSources) {
  const found = Object.hasOwn(RANGES, range) ? RANGES[range] : undefined;
  if (found === undefined) {
    throw refusedField("range", `one of ${Object.keys(RANGES).join(", ")}`, range, "enum");
  }
  if (!(DIMENSIONS as readonly string[]).includes(by)) {
    throw refusedField("by", `one of ${DIMENSIONS.join(", ")}`, by, "enum");
  }
  const dimension = by as Dimension;
  const { span, step, length } = found;
  // The last point is that of the current step.
  const to = Math.floor(sources.now / step) * step + step;
  const from = to - Math.ceil(length / step) * step;
  const steps = new Map<number, Rollup>();
  for (let at = from; at < to; at += step) steps.set(at, new Rollup());
  const { rollups, store, whole: complete } = await sources.timeline.read({ span, from, to, by: dimension });
  for (const [starts, rollup] of rollups) steps.get(starts - (starts - from) % step)?.merge(rollup);
  const whole = new Rollup();
  for (const rollup of steps.values()) whole.merge(rollup);
  let source = "spans";
  let incompleteBefore: string | undefined;
  if (store && (length > 7 * DAY || whole.all.requests === 0) && length >= 7 * DAY) {
    const summed = await fromSums(steps, { from, to, step, dimension }, sources.administration);
    if (summed !== null) {
      copyCounts(summed.all, whole.all);
      if (dimension !== "tag") {
        const cells = whole.by[dimension];
        // A rollup has few values of each dimension, and keys by the names that they had.
        for (const cell of cells.values()) copyCounts(new Cell(), cell);
        for (const [value, cell] of summed.by) copyCounts(cell, whole.cell(dimension, value, Infinity));
        for (const [value, { requests }] of cells) {
          if (requests === 0 && !summed.by.has(value)) cells.delete(value);
        }
      }
      source = "sums by day";
      incompleteBefore = summed.incompleteBefore;
    }
  }
  const points = [...steps.values()];
  const shown = ({ all, by }: Rollup) => of === undefined ? all : by[dimension].get(of) ?? new Cell();
  const groups = [...whole.by[dimension]].sort(([, a], [, b]) => b.requests - a.requests).slice(
    0,
    MOST_GROUPS,
  );
  return {
    range,
    by: dimension,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    step_seconds: step / 1000,
    /** False: only data of this process from the last hour, since the store is unavailable. */
    store,
    /** False: for a person with very many calls, only the newest are included. */
    complete: complete || source !== "spans",
    source,
    ...(incompleteBefore !== undefined && { incomplete_before: incompleteBefore }),
    times: [...steps.keys()].map((time) => new Date(time).toISOString()),
    total: sumView(shown(whole)),
    series: seriesView(points.map(shown)),
    groups: groups.map(([value, cell]) => ({
      value,
      ...sumView(cell),
      series: {
        requests: points.map((point) => point.by[dimension].get(value)?.requests ?? 0),
        cost: points.map((point) => formatAmount(point.by[dimension].get(value)?.cost ?? 0n)),
        latency_p95_ms: points.map((point) =>
          rounded(point.by[dimension].get(value)?.latency.percentile(.95))
        ),
      },
    })),
    more_groups: Math.max(0, whole.by[dimension].size - groups.length),
  };
}

/** Fills the steps with daily sums. Null: not available at present. */
async function fromSums(
  steps: Map<number, Rollup>,
  { from, to, step, dimension }: { from: number; to: number; step: number; dimension: Dimension },
  administration: Pick<Administration, "usage">,
) {
  const span = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  let incompleteBefore: string | undefined;
  const read = async (by: string): Promise<UsageView[] | null> => {
    const { data, next_cursor, incomplete_before, store } = await administration.usage({
      by,
      ...span,
      most: MOST_SUMS,
    });
    if (store === "away" || next_cursor !== null) return null;
    incompleteBefore ??= incomplete_before;
    return data;
  };
  try {
    const [days, groups, both] = await Promise.all([
      read("day"),
      dimension === "tag" ? [] : read(dimension),
      dimension === "tag" || dimension === "team" || dimension === "key" ? null : read(`day,${dimension}`),
    ]);
    if (days === null || groups === null) return null;
    const at = (day: string) => {
      const time = Math.max(from, Date.parse(day));
      return steps.get(time - (time - from) % step);
    };
    for (const rollup of steps.values()) {
      copyCounts(new Cell(), rollup.all);
      if (both !== null) { for (const cell of rollup.by[dimension].values()) copyCounts(new Cell(), cell); }
    }
    const all = new Cell();
    for (const row of days) {
      addCounts(row, all);
      const point = at(row.day!);
      if (point !== undefined) addCounts(row, point.all);
    }
    const by = new Map<string, Cell>();
    for (const row of groups) {
      const value = row[dimension as keyof UsageView] as string | undefined;
      if (!value) continue;
      const cell = by.get(value) ?? new Cell();
      by.set(value, cell);
      addCounts(row, cell);
    }
    for (const row of both ?? []) {
      const value = row[dimension as keyof UsageView] as string | undefined;
      const point = at(row.day!);
      if (value && point !== undefined) addCounts(row, point.cell(dimension, value, Infinity));
    }
    return { all, by, incompleteBefore };
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.code === "service_unavailable") return null;
    throw thrown;
  }
}

const PICODOLLARS = 12;

/** Exact conversion: amounts are decimal strings. */
function picodollars(amount: string): bigint {
  const [dollars, rest = ""] = amount.split(".");
  return BigInt(dollars + rest.padEnd(PICODOLLARS, "0").slice(0, PICODOLLARS));
}

function addCounts(row: UsageView, cell: Cell): void {
  cell.requests += row.generations;
  cell.errors += row.failed;
  cell.input += row.input_tokens;
  cell.cached += row.cached_tokens;
  cell.output += row.output_tokens;
  cell.searches += row.searches;
  cell.cost += picodollars(row.cost);
  cell.saved += picodollars(row.cache_saved);
}

/** Copies the counts of records, and keeps calls without a record. Latencies are left unchanged. */
function copyCounts(
  { requests, errors, input, cached, output, searches, cost, saved }: Cell,
  to: Cell,
): void {
  const { unrecorded } = to;
  Object.assign(to, {
    requests: requests + unrecorded,
    errors: errors + unrecorded,
    input,
    cached,
    output,
    searches,
    cost,
    saved,
  });
}

const rounded = (ms: number | null | undefined) => ms === null || ms === undefined ? null : Math.round(ms);

function sumView(cell: Cell) {
  return {
    requests: cell.requests,
    errors: cell.errors,
    input_tokens: cell.input,
    cached_tokens: cell.cached,
    output_tokens: cell.output,
    searches: cell.searches,
    cost: formatAmount(cell.cost),
    cache_saved: formatAmount(cell.saved),
    ttft_ms: percentiles(cell.ttft),
    latency_ms: percentiles(cell.latency),
  };
}

function percentiles(histogram: Cell["ttft"]) {
  return {
    p50: rounded(histogram.percentile(.5)),
    p95: rounded(histogram.percentile(.95)),
    p99: rounded(histogram.percentile(.99)),
  };
}

function seriesView(cells: readonly Cell[]) {
  const of = <T>(value: (cell: Cell) => T) => cells.map(value);
  const times = (name: "ttft" | "latency") => ({
    p50: of((cell) => rounded(cell[name].percentile(.5))),
    p95: of((cell) => rounded(cell[name].percentile(.95))),
    p99: of((cell) => rounded(cell[name].percentile(.99))),
  });
  return {
    requests: of(({ requests }) => requests),
    errors: of(({ errors }) => errors),
    input_tokens: of(({ input }) => input),
    cached_tokens: of(({ cached }) => cached),
    output_tokens: of(({ output }) => output),
    cost: of(({ cost }) => formatAmount(cost)),
    cache_saved: of(({ saved }) => formatAmount(saved)),
    ttft_ms: times("ttft"),
    latency_ms: times("latency"),
  };
}
