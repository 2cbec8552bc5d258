/** Search over generations: what it finds, on both engines, is what a look at each record would find. */
import { assert, assertEquals } from "@std/assert";
import { NO_USAGE } from "../../src/exchange/usage.ts";
import {
  encodeRecord,
  type Generation,
  type GenerationFilter,
  type GenerationTraits,
} from "../../src/store/mod.ts";
import { type Found, searchGenerations } from "../../src/store/search.ts";
import type { Position } from "../../src/store/position.ts";
import { hasTraits } from "../../src/store/traits.ts";
import { onBothEngines } from "../support/cluster.ts";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 0, 15, 12);
const of = <T>(values: readonly T[], i: number): T => values[i % values.length];

/** Some of each kind, over ten days; two of some times. */
const ALL: Generation[] = Array.from({ length: 300 }, (_, i) => ({
  id: `gen_${String(i).padStart(4, "0")}`,
  created: NOW - Math.floor(i / 2) * (DAY / 15),
  keyId: `key_${i % 3}`,
  key: of(["dev", "batch", "dev"], i),
  account: of(["acme", "other"], i),
  format: of(["messages", "responses"] as const, i),
  requestedModel: of(["a/b", "svc/auto"], Math.floor(i / 3)),
  model: of(["a/b", "c/d", "e/f"], Math.floor(i / 40)),
  provider: of(["p", "q", null], Math.floor(i / 7)),
  stream: i % 3 !== 0,
  status: of(["completed", "completed", "failed", "incomplete"] as const, i),
  errorCode: i % 4 === 2 ? of(["provider_unavailable", "provider_timeout"], Math.floor(i / 4)) : null,
  usage: i % 17 === 5 ? null : {
    ...NO_USAGE,
    input: 10 + i,
    output: 7 * (i % 40),
    cached: of([0, 4], i),
    reasoning: of([0, 0, 6], i),
    imageInput: i % 8 === 3 ? 5 : 0,
    audioOutput: i % 8 === 4 ? 5 : 0,
  },
  estimated: i % 13 === 0,
  searches: i % 5 === 0 ? 1 : 0,
  cost: BigInt(i) * 1_000_000n,
  ttftMs: i % 4 === 2 ? null : i,
  latencyMs: i * 10,
  clientGone: i % 11 === 0,
  dlp: i % 6 === 0
    ? { mode: of(["mask", "alert"], Math.floor(i / 6)), findings: i % 12 === 0 ? 2 : 0 }
    : null,
  tags: i % 2 === 0 ? null : {
    feature: of(["search", "Search", "50%_off", 'quo"te'], Math.floor(i / 2)),
    ...(i > 150 && { env: "prod" }),
  },
  session: i % 9 === 0 ? "ses" : null,
  team: of(["red", null], i),
  priceVersion: of([null, "file 1", "file 2"], i),
  cacheSaved: null,
  toolCalls: of([null, 0, 2], i),
  repaired: of([null, 1], Math.floor(i / 5)),
  steps: null,
  listCost: i % 7 === 0 ? 5n : null,
}));

interface Case {
  filter?: GenerationFilter;
  traits: GenerationTraits;
  fits(g: Generation): boolean;
}

const CASES: Case[] = [
  { traits: { status: "failed" }, fits: (g) => g.status === "failed" },
  { traits: { errorCode: "provider_timeout" }, fits: (g) => g.errorCode === "provider_timeout" },
  { traits: { provider: "q" }, fits: (g) => g.provider === "q" },
  { traits: { format: "messages", team: "red" }, fits: (g) => g.format === "messages" && g.team === "red" },
  { traits: { team: "red" }, fits: (g) => g.team === "red" },
  { traits: { tag: { name: "feature", value: "search" } }, fits: (g) => g.tags?.feature === "search" },
  { traits: { tag: { name: "feature", value: "50%_off" } }, fits: (g) => g.tags?.feature === "50%_off" },
  { traits: { tag: { name: "feature", value: 'quo"te' } }, fits: (g) => g.tags?.feature === 'quo"te' },
  { traits: { tag: { name: "feature", value: "50xxoff" } }, fits: () => false },
  { traits: { tag: { name: "feature", value: "Search" } }, fits: (g) => g.tags?.feature === "Search" },
  { traits: { tag: { name: "Feature", value: null } }, fits: () => false },
  { traits: { tag: { name: "env", value: null } }, fits: (g) => g.tags?.env !== undefined },
  { traits: { least: { cost: 250_000_000n } }, fits: (g) => g.cost >= 250_000_000n },
  {
    traits: { least: { latencyMs: 2000 }, findings: true },
    fits: (g) => g.latencyMs >= 2000 && (g.dlp?.findings ?? 0) > 0,
  },
  { traits: { searched: true }, fits: (g) => g.searches > 0 },
  { traits: { most: { cost: 40_000_000n } }, fits: (g) => g.cost <= 40_000_000n },
  {
    traits: { least: { ttftMs: 50 }, most: { ttftMs: 90, latencyMs: 800 } },
    fits: (g) => g.ttftMs !== null && g.ttftMs >= 50 && g.ttftMs <= 90 && g.latencyMs <= 800,
  },
  {
    traits: { least: { inputTokens: 100 }, most: { outputTokens: 70 } },
    fits: (g) => g.usage !== null && g.usage.input >= 100 && g.usage.output <= 70,
  },
  { traits: { requestedModel: "svc/auto" }, fits: (g) => g.requestedModel === "svc/auto" },
  { traits: { priceVersion: "file 2" }, fits: (g) => g.priceVersion === "file 2" },
  { traits: { dlpMode: "alert" }, fits: (g) => g.dlp?.mode === "alert" },
  { traits: { streamed: true, clientGone: true }, fits: (g) => g.stream && g.clientGone },
  { traits: { whole: true }, fits: (g) => !g.stream },
  {
    traits: { cached: true, reasoned: true },
    fits: (g) => (g.usage?.cached ?? 0) > 0 && (g.usage?.reasoning ?? 0) > 0,
  },
  { traits: { media: true }, fits: (g) => (g.usage?.imageInput ?? 0) + (g.usage?.audioOutput ?? 0) > 0 },
  { traits: { calledTools: true }, fits: (g) => (g.toolCalls ?? 0) > 0 },
  { traits: { repaired: true }, fits: (g) => g.repaired === 1 },
  { traits: { estimated: true }, fits: (g) => g.estimated },
  { traits: { ownCredential: true }, fits: (g) => g.listCost !== null },
  {
    filter: { key: "dev" },
    traits: { status: "failed" },
    fits: (g) => g.key === "dev" && g.status === "failed",
  },
  { filter: { key: "nobody" }, traits: { status: "failed" }, fits: () => false },
  {
    filter: { keyId: "key_1" },
    traits: { searched: true },
    fits: (g) => g.keyId === "key_1" && g.searches > 0,
  },
  {
    filter: { model: "c/d", account: "acme" },
    traits: { status: "completed" },
    fits: (g) => g.model === "c/d" && g.account === "acme" && g.status === "completed",
  },
  {
    filter: { session: "ses" },
    traits: { team: "red" },
    fits: (g) => g.session === "ses" && g.team === "red",
  },
  {
    filter: { from: NOW - 5 * DAY, to: NOW - 2 * DAY },
    traits: { provider: "p" },
    fits: (g) => g.created >= NOW - 5 * DAY && g.created < NOW - 2 * DAY && g.provider === "p",
  },
];

Deno.test("what is known in memory is found by the same traits", () => {
  for (const { filter, traits, fits } of CASES) {
    if (filter !== undefined) continue;
    const expected = ALL.filter(fits);
    const isNone = traits.tag?.value === "50xxoff" || traits.tag?.name === "Feature";
    assert(expected.length > 0 || isNone, JSON.stringify(Object.keys(traits)));
    assertEquals(ALL.filter((g) => hasTraits(g, traits)), expected);
  }
});

onBothEngines(({ name, place }) => {
  Deno.test(`${name}: searchGenerations() finds what fits, newest first, page by page, however little a search looks through`, async () => {
    const here = place();
    const store = here.open();
    const engine = here.engine();
    try {
      await store.prepare();
      await store.registerNode("a");
      await store.sync({ node: "a", seq: 1, now: NOW, records: ALL.map((g) => encodeRecord(g)), leases: [] });
      while (await store.buildSums(1000));
      const newest = ALL.toSorted((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1));
      for (const [i, { filter = {}, traits, fits }] of CASES.entries()) {
        const expected = newest.filter(fits).map(({ id }) => id);
        for (
          const [limit, bounds] of [[1000, undefined], [7, undefined], [7, {
            rows: 11,
            statements: 2,
          }]] as const
        ) {
          const found: string[] = [];
          let after: Position | null = null;
          let rounds = 0;
          do {
            const page: Found = await searchGenerations(
              engine.query,
              { filter, traits },
              { after, limit },
              bounds,
            );
            assert(page.rows.length <= limit);
            found.push(...page.rows.map(({ id }) => id));
            after = page.next;
            assert(++rounds < 200, `case ${i} goes on for ever`);
          } while (after !== null);
          assertEquals(found, expected, `case ${i}, ${limit} a page, ${JSON.stringify(bounds)}`);
        }
      }
    } finally {
      await engine.close();
      await store.close();
      here.remove();
    }
  });
});
