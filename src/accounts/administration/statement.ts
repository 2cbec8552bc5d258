/**
 * The statement of an account for one month, for billing: every generation, or one line per day and model;
 * totals, prices and added credits.
 *
 * It is produced page by page, with a few pages in memory. For days whose records retention has deleted, a
 * statement of generations contains the sums by day and model, so that it still adds up to the amount
 * charged.
 */
import { shownInput } from "../../schema/mistakes.ts";
import type { Generation, KnownPrices, Store, UsageSum } from "../../store/mod.ts";
import type { Clock } from "../../timing/clock.ts";
import { invalid, readAccount } from "./input.ts";
import { formatAmount, keptVersion } from "../budgets/money.ts";
import type { StoreSync } from "../store_sync.ts";
import { type GenerationView, generationView, type UsageView, usageView } from "./views.ts";
import { Failure } from "../../exchange/failure.ts";

export interface StatementQuery {
  account: string;
  /** `2026-11`, in UTC. */
  month: string;
  /** `generation` or `day`; default: generation. */
  by?: string;
}

export interface StatementHead {
  account: string;
  month: string;
  /** Inclusive start and exclusive end. */
  from: string;
  to: string;
  /** Time of creation: a statement of a current month contains everything up to then. */
  created: string;
  by: "generation" | "day";
}

/** Sums of calls. Tokens are numbers, `cost` is a decimal string in dollars. */
export type StatementTotals = Pick<
  UsageView,
  | "generations"
  | "failed"
  | "input_tokens"
  | "cached_tokens"
  | "cache_write_tokens"
  | "output_tokens"
  | "reasoning_tokens"
  | "searches"
  | "cost"
>;

export type StatementLine = GenerationView | UsageView;

export interface StatementFoot {
  totals: StatementTotals;
  /** Per model, most expensive first. */
  models: ({ model: string } & StatementTotals)[];
  /**
   * The price versions of generations that are still in the ledger. `model`: the model they belong to, null
   * if the version is unique without it. `prices` null: unknown.
   */
  prices: {
    version: string;
    model: string | null;
    since: string | null;
    prices: KnownPrices["prices"] | null;
  }[];
  credits_added: { created: string; amount: string; note: string | null }[];
}

export interface Statement {
  head: StatementHead;
  lines: AsyncIterable<readonly StatementLine[]>;
  /** Available after all lines have been read. */
  foot(): Promise<StatementFoot>;
}

export interface StatementOptions {
  store: Store;
  sync: StoreSync;
  clock: Clock;
}

const DAY = 86_400_000;
/** Lines per read, so that other reads can run in between. */
const PAGE = 500;

/**
 * Reads the calls of an account in one month. Throws `validation_error` for an invalid account, month or
 * grouping, and `not_found` for an unknown account.
 */
export async function makeStatement(
  { store, sync, clock }: StatementOptions,
  query: StatementQuery,
): Promise<Statement> {
  const account = readAccount(query.account);
  const by = query.by ?? "generation";
  if (by !== "generation" && by !== "day") {
    throw invalid("by", `expected generation or day, got ${shownInput(by, ["by"])}`);
  }
  const span = monthOf(query.month);
  await sync.flush();
  if (await store.account(account) === null) {
    throw new Failure("not_found", "There is no such account.", { param: "account" });
  }
  if (await store.incompleteBefore(span) !== null) {
    throw new Failure(
      "service_unavailable",
      "Records of this month that an older release left are still being summed up. Try again in some minutes.",
      { retryAfter: 60 },
    );
  }
  const now = clock.now();
  const end = Math.min(span.to, Math.max(span.from, now + 1, await endOfRecords(store, now, span.to)));
  const reading = new StatementReading(store, { account, by, span, end });
  return {
    head: {
      account,
      month: query.month,
      from: new Date(span.from).toISOString(),
      to: new Date(span.to).toISOString(),
      created: new Date(now).toISOString(),
      by,
    },
    lines: reading.lines(),
    foot: () => reading.foot(),
  };
}

/** The end of records from the future: those of a node whose clock is ahead, or from before a clock was set back. */
async function endOfRecords(store: Store, now: number, to: number): Promise<number> {
  if (now >= to) return to;
  const [newest] = await store.listGenerations({ from: now, to }, { after: null, limit: 1 });
  return newest === undefined ? 0 : newest.created + 1;
}

/** Milliseconds since the epoch: inclusive start and exclusive end. */
interface Span {
  from: number;
  to: number;
}

interface StatementScope {
  account: string;
  by: StatementHead["by"];
  /** The month. */
  span: Span;
  /** End of the records that the statement contains. */
  end: number;
}

/** Reads the lines of one statement from the store, and sums them up for its foot. */
class StatementReading {
  readonly #store: Store;
  readonly #scope: StatementScope;
  /** Identifies the reads of this statement, with which others take turns. */
  readonly #asker: string;
  readonly #summing = new Summing();

  constructor(store: Store, scope: StatementScope) {
    this.#store = store;
    this.#scope = scope;
    this.#asker = `statement ${scope.account}`;
  }

  async *lines(): AsyncGenerator<readonly StatementLine[]> {
    const { by, span, end } = this.#scope;
    const kept = await this.#keptFrom();
    yield* this.#days(by === "day" ? span.to : kept);
    for (const records of await this.#spansWithRecords(kept, end)) {
      if (by === "day") await this.#addVersions(records);
      else yield* this.#generations(records);
    }
    if (by === "generation" && await this.#keptFrom() > kept) {
      throw new Failure(
        "service_unavailable",
        "Records of this month were deleted while the statement was read, because their retention has ended. Try again.",
        { retryAfter: 60 },
      );
    }
  }

  /** Records of the month before this time have been deleted. */
  async #keptFrom(): Promise<number> {
    const { span } = this.#scope;
    return Math.min(Math.max(await this.#store.retiredBefore(), span.from), span.to);
  }

  async foot(): Promise<StatementFoot> {
    const { account, span } = this.#scope;
    const { versions } = this.#summing;
    const known = new Map((await this.#store.pricesOf([...versions.keys()])).map((p) => [p.version, p]));
    const added = await this.#store.creditAdditions(account, span);
    return {
      ...this.#summing.result(),
      prices: [...versions].map(([kept, named]) => ({
        ...named,
        since: isoOf(known.get(kept)?.since),
        prices: known.get(kept)?.prices ?? null,
      })),
      credits_added: added.map(({ created, amount, note }) => ({
        created: new Date(created).toISOString(),
        amount: formatAmount(amount),
        note,
      })),
    };
  }

  /** Sums by day and model, from the start of the month. */
  async *#days(to: number): AsyncGenerator<readonly StatementLine[]> {
    const { account, span: { from } } = this.#scope;
    const days = await this.#store.sumUsage(
      { by: ["day", "model"], from, to, account },
      undefined,
      this.#asker,
    );
    for (let i = 0; i < days.length; i += PAGE) {
      const page = days.slice(i, i + PAGE);
      for (const sum of page) this.#summing.addSum(sum);
      yield page.map(usageView);
    }
  }

  async *#generations({ from, to }: Span): AsyncGenerator<readonly StatementLine[]> {
    const { account } = this.#scope;
    let after: { created: number; id: string } | null = null;
    for (;;) {
      const page: Generation[] = await this.#store.accountGenerations({ account, from, to }, {
        after,
        limit: PAGE,
      }, this.#asker);
      for (const g of page) this.#summing.addGeneration(g);
      if (page.length > 0) yield page.map(generationView);
      if (page.length < PAGE) return;
      after = page[page.length - 1];
    }
  }

  /**
   * Daily sums contain no price versions, so these are read from the records, day by day, so that other reads
   * can run in between.
   */
  async #addVersions({ from, to }: Span): Promise<void> {
    const { account } = this.#scope;
    for (let day = from; day < to; day = dayAfter(day)) {
      const until = Math.min(dayAfter(day), to);
      const used = await this.#store.accountPriceVersions({ account, from: day, to: until }, this.#asker);
      for (const { version, model } of used) this.#summing.addVersions(version, model);
    }
  }

  /** Runs of consecutive days on which the account has records: other accounts may have very many. */
  async #spansWithRecords(from: number, to: number): Promise<Span[]> {
    const { account, span } = this.#scope;
    const sums = await this.#store.sumUsage(
      { by: ["day"], from, to: span.to, account },
      undefined,
      this.#asker,
    );
    const spans: Span[] = [];
    for (const { of } of sums) {
      const day = Date.parse(of.day!);
      const last = spans.at(-1);
      if (last !== undefined && last.to === day) last.to = Math.min(day + DAY, to);
      else spans.push({ from: Math.max(day, from), to: Math.min(day + DAY, to) });
    }
    return spans.filter(({ from, to }) => from < to);
  }
}

function dayAfter(time: number): number {
  return (Math.floor(time / DAY) + 1) * DAY;
}

function isoOf(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}

/** A calendar month in UTC, as for budgets. */
function monthOf(month: string): Span {
  const match = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(month);
  if (match === null) throw invalid("month", `expected YYYY-MM, got ${shownInput(month, ["month"])}`);
  const [year, index] = [Number(match[1]), Number(match[2]) - 1];
  const at = (index: number) => {
    const date = new Date(0);
    // Not `Date.UTC`, which maps the years 0 to 99 to 1900 to 1999.
    date.setUTCFullYear(year, index, 1);
    return date.getTime();
  };
  return { from: at(index), to: at(index + 1) };
}

interface Totals {
  generations: number;
  failed: number;
  /** Input, cached, cache writes, output, reasoning, searches. */
  counts: bigint[];
  cost: bigint;
}

const COUNTS = [
  "input_tokens",
  "cached_tokens",
  "cache_write_tokens",
  "output_tokens",
  "reasoning_tokens",
  "searches",
] as const;

class Summing {
  readonly #all = none();
  readonly #models = new Map<string, Totals>();
  /** By the names under which the store has their prices. */
  readonly versions = new Map<string, { version: string; model: string | null }>();

  addSum(
    { of, generations, failed, input, cached, cacheWrite, output, reasoning, searches, cost }: UsageSum,
  ): void {
    const counts = [input, cached, cacheWrite, output, reasoning, searches];
    this.#add(of.model ?? "", { generations, failed, counts: counts.map(BigInt), cost });
  }

  addGeneration({ model, status, usage, searches, cost, priceVersion }: Generation): void {
    const { input = 0, cached = 0, cacheWrite = 0, output = 0, reasoning = 0 } = usage ?? {};
    const counts = [input, cached, cacheWrite, output, reasoning, searches];
    const failed = status === "failed" || status === "interrupted" ? 1 : 0;
    this.#add(model, { generations: 1, failed, counts: counts.map(BigInt), cost });
    if (priceVersion !== null) this.addVersions(priceVersion, model);
  }

  /** @param versions of one generation; several are separated by commas */
  addVersions(versions: string, model: string): void {
    for (const version of versions.split(", ")) {
      const kept = keptVersion(version, model);
      if (this.versions.has(kept)) continue;
      this.versions.set(kept, { version, model: kept === version ? null : model });
    }
  }

  result(): Pick<StatementFoot, "totals" | "models"> {
    const models = [...this.#models].sort(([a, x], [b, y]) =>
      y.cost > x.cost ? 1 : y.cost < x.cost ? -1 : a < b ? -1 : 1
    );
    return {
      totals: viewOf(this.#all),
      models: models.map(([model, totals]) => ({ model, ...viewOf(totals) })),
    };
  }

  #add(model: string, more: Totals): void {
    let ofModel = this.#models.get(model);
    if (ofModel === undefined) this.#models.set(model, ofModel = none());
    for (const totals of [this.#all, ofModel]) {
      totals.generations += more.generations;
      totals.failed += more.failed;
      totals.counts = totals.counts.map((count, i) => count + more.counts[i]);
      totals.cost += more.cost;
    }
  }
}

function none(): Totals {
  return { generations: 0, failed: 0, counts: COUNTS.map(() => 0n), cost: 0n };
}

function viewOf({ generations, failed, counts, cost }: Totals): StatementTotals {
  const named = Object.fromEntries(COUNTS.map((name, i) => [name, Number(counts[i])]));
  return { generations, failed, ...named as Record<typeof COUNTS[number], number>, cost: formatAmount(cost) };
}
