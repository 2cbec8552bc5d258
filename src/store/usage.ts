/**
 * Usage by key, model, day and so on, over a time span. Whole days are read from the sums; partial first and
 * last days from the generations.
 *
 * A day whose generations have been deleted cannot be divided, so it counts as a whole if its start lies
 * within the span.
 */
import type { Engine, Query } from "./engine.ts";
import { asInt, asMoney, asText, type Row } from "./rows.ts";
import { DAY, joined, SUM_PARTS } from "./sums.ts";
import { readSumsState, type SumsState } from "./sums_state.ts";
import { isLabel, isOfRecords, type UsageDimension } from "./usage_dimensions.ts";
import { type SumParts, type UsageFilter, type UsagePage, usageStatement } from "./usage_statement.ts";

export type { UsageFilter, UsagePage } from "./usage_statement.ts";

export interface UsageSum {
  /**
   * Values of the dimensions: key names, model ids, days as `2026-01-31`. Empty text: unknown, or generations
   * without such a label.
   */
  of: Partial<Record<UsageDimension | "keyId", string>>;
  generations: number;
  /** How many of these failed or were interrupted. */
  failed: number;
  input: number;
  cached: number;
  cacheWrite: number;
  output: number;
  reasoning: number;
  searches: number;
  /** Picodollars. */
  cost: bigint;
  /** Picodollars saved by reading from prompt caches; negative if caching was more expensive. */
  cacheSaved: bigint;
  /**
   * For sums by a label: total latency and tool calls. Null for calls without such a label, since the other
   * sums do not have these columns.
   */
  labelled?: { latencyMs: number | null; toolCalls: number | null };
}

/**
 * Most expensive first; if a day is among the dimensions, oldest first. `incompleteBefore` is from {@link
 * readSumsState}.
 */
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
  const run = async (inParts: SumParts) => {
    const { text, params } = usageStatement({ kind, filter, page, state, inParts });
    return (await query(text, params)).map((row) => decodeSum(row, filter.by));
  };
  if (kind === "postgres") return await run(SUM_PARTS.postgres);
  try {
    // A single SUM takes two thirds of the time of {@link SUM_PARTS}, and rarely overflows.
    return await run((column) => ["0", `SUM(${column})`]);
  } catch (error) {
    if (!(error instanceof Error && error.message.includes("integer overflow"))) throw error;
    return await run(SUM_PARTS.sqlite);
  }
}

/** Keys times days are many rows. In order of days, a page is complete after a few days. */
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
  const hasDetails = isOfRecords(by) || by.some((name) => isLabel(name) && of[name] !== "");
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
        latencyMs: hasDetails ? count("latency_ms") : null,
        toolCalls: hasDetails ? count("tool_calls") : null,
      },
    }),
  };
}
