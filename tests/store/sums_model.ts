/** Generations drawn at random, written by this release or 0.1.0, and what their sums must be. */
import fc from "fast-check";
import type { Engine } from "../../src/store/engine.ts";
import {
  encodeRecord,
  type Generation,
  type Store,
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageFilter,
} from "../../src/store/mod.ts";
import { NO_USAGE } from "../../src/exchange/usage.ts";

export const DAY = 86_400_000;
/** The end of January: spans of days, months and parts of both lie around it. */
export const MIDDLE = Date.UTC(2026, 0, 31, 12);
const SPAN = 70 * DAY;

export interface Spec {
  at: number;
  key: number;
  model: number;
  provider: number;
  failed: boolean;
  tokens: number;
  cost: bigint;
  team?: number;
  session?: number;
  tag?: number;
  saved?: bigint;
}

/** Half of the times lie on two days: spans begin and end within a day that has generations before, in and after them. */
const at = fc.oneof(fc.integer({ min: -SPAN, max: SPAN }), fc.integer({ min: -DAY, max: DAY }));

export const spec: fc.Arbitrary<Spec> = fc.record({
  at,
  key: fc.integer({ min: 0, max: 2 }),
  model: fc.integer({ min: 0, max: 1 }),
  provider: fc.integer({ min: 0, max: 2 }),
  failed: fc.boolean(),
  tokens: fc.integer({ min: 0, max: 1000 }),
  cost: fc.bigInt({ min: 0n, max: 10n ** 13n }),
});

export const labelled: fc.Arbitrary<Spec> = fc.tuple(
  spec,
  fc.record({
    team: fc.integer({ min: 0, max: 2 }),
    session: fc.integer({ min: 0, max: 3 }),
    tag: fc.integer({ min: 0, max: 3 }),
    saved: fc.bigInt({ min: -(10n ** 9n), max: 10n ** 18n }),
  }),
).map(([plain, labels]) => ({ ...plain, ...labels }));

export function generationOf(id: string, s: Spec): Generation {
  return {
    id,
    created: MIDDLE + s.at,
    keyId: `key_${s.key}`,
    key: `name${s.key}`,
    account: `account${s.key % 2}`,
    format: "messages",
    requestedModel: "x",
    model: `a/${s.model}`,
    provider: s.provider === 0 ? null : `p${s.provider}`,
    stream: false,
    status: s.failed ? "failed" : "completed",
    errorCode: null,
    usage: s.tokens === 0
      ? null
      : { ...NO_USAGE, input: s.tokens, cached: 1, output: 2 * s.tokens, reasoning: 3 },
    estimated: false,
    searches: s.tokens % 3,
    cost: s.cost,
    ttftMs: null,
    latencyMs: 1,
    clientGone: false,
    dlp: null,
    tags: s.tag ? { env: `v${s.tag}`, ...(s.tag > 1 && { it: 'quoted "value"' }) } : null,
    session: s.session ? `s${s.session}` : null,
    team: s.team ? `t${s.team}` : null,
    priceVersion: null,
    cacheSaved: s.saved ?? null,
    toolCalls: null,
    repaired: null,
    steps: null,
    listCost: null,
  };
}

const COLUMNS_OF_010 =
  "id, created, key_id, key_name, account, format, requested_model, model, provider, stream, " +
  "status, error_code, measured, input, cached, cache_write, cache_write_1h, audio_input, image_input, video_input, " +
  "output, reasoning, audio_output, image_output, searches, cost, ttft_ms, latency_ms, client_gone, dlp_mode, dlp_findings";

/** Writes generations as a node of 0.1.0 does. */
export async function writeAs010(engine: Engine, generations: readonly Generation[]): Promise<void> {
  for (const g of generations) {
    const values = JSON.parse(encodeRecord(g).json).slice(0, 31);
    await engine.query(
      `INSERT INTO generations (${COLUMNS_OF_010}) VALUES (${
        values.map((_: unknown, i: number) => `$${i + 1}`).join(", ")
      })
       ON CONFLICT (id) DO NOTHING`,
      values,
    );
  }
}

/** Groups to what they sum up, as the rows themselves say. */
export function expected(
  all: readonly Generation[],
  { by, from, to, keyId }: UsageFilter,
): Map<string, string> {
  const sums = new Map<
    string,
    { generations: number; failed: number; input: number; searches: number; cost: bigint; saved: bigint }
  >();
  for (const g of all) {
    if (g.created < (from ?? 0) || g.created >= (to ?? Infinity)) continue;
    if (keyId !== undefined && g.keyId !== keyId) continue;
    const of: Partial<Record<UsageDimension, string>> = {
      team: g.team ?? "",
      session: g.session ?? "",
      "tag:env": g.tags?.env ?? "",
      "tag:it": g.tags?.it ?? "",
      key: g.keyId,
      model: g.model,
      day: new Date(g.created).toISOString().slice(0, 10),
      account: g.account,
      provider: g.provider ?? "",
      format: g.format,
    };
    const name = by.map((dimension) => of[dimension]).join(" ");
    const sum = sums.get(name) ?? { generations: 0, failed: 0, input: 0, searches: 0, cost: 0n, saved: 0n };
    sums.set(name, sum);
    sum.generations++;
    if (g.status === "failed") sum.failed++;
    sum.input += g.usage?.input ?? 0;
    sum.searches += g.searches;
    sum.cost += g.cost;
    sum.saved += g.cacheSaved ?? 0n;
  }
  return new Map([...sums].map(([name, s]) => [name, Object.values(s).join(" ")]));
}

export async function actual(store: Store, filter: UsageFilter): Promise<Map<string, string>> {
  return new Map((await store.sumUsage(filter)).map(({ of, ...s }) => [
    filter.by.map((name) => name === "key" ? of.keyId : of[name]).join(" "),
    [s.generations, s.failed, s.input, s.searches, s.cost, s.cacheSaved].join(" "),
  ]));
}

const dimension: fc.Arbitrary<UsageDimension> = fc.constantFrom(
  ...USAGE_DIMENSIONS.filter((name) => name !== "tag:NAME"),
  "tag:env",
  "tag:it",
);
const time = fc.oneof(
  fc.constant(null),
  at.map((at) => MIDDLE + at),
  // Beginnings of days and months.
  fc.integer({ min: -70, max: 70 }).map((day) => Math.floor(MIDDLE / DAY) * DAY + day * DAY),
  fc.integer({ min: -3, max: 3 }).map((month) => Date.UTC(2026, month, 1)),
);
export const filters = fc.record({
  by: fc.uniqueArray(dimension, { minLength: 1, maxLength: 2 }),
  from: time,
  to: time,
  keyId: fc.oneof(fc.constant(undefined), fc.constant("key_1")),
});
