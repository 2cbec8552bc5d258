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
  requestedModel: "a/b",
  model: of(["a/b", "c/d", "e/f"], Math.floor(i / 40)),
  provider: of(["p", "q", null], Math.floor(i / 7)),
  stream: true,
  status: of(["completed", "completed", "failed", "incomplete"] as const, i),
  errorCode: i % 4 === 2 ? of(["provider_unavailable", "provider_timeout"], i) : null,
  usage: { ...NO_USAGE, input: 10, output: 7 },
  estimated: false,
  searches: i % 5 === 0 ? 1 : 0,
  cost: BigInt(i) * 1_000_000n,
  ttftMs: 12,
  latencyMs: i * 10,
  clientGone: false,
  dlp: i % 6 === 0 ? { mode: "mask", findings: i % 12 === 0 ? 2 : 0 } : null,
  tags: i % 2 === 0 ? null : {
    feature: of(["search", "50%_off", 'quo"te'], i),
    ...(i > 150 && { env: "prod" }),
  },
  session: i % 9 === 0 ? "ses" : null,
  team: of(["red", null], i),
  priceVersion: null,
  cacheSaved: null,
  toolCalls: null,
  repaired: null,
  steps: null,
  listCost: null,
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
  { traits: { format: "responses", team: "red" }, fits: (g) => g.format === "responses" && g.team === "red" },
  { traits: { team: "red" }, fits: (g) => g.team === "red" },
  { traits: { tag: { name: "feature", value: "search" } }, fits: (g) => g.tags?.feature === "search" },
  { traits: { tag: { name: "feature", value: "50%_off" } }, fits: (g) => g.tags?.feature === "50%_off" },
  { traits: { tag: { name: "feature", value: 'quo"te' } }, fits: (g) => g.tags?.feature === 'quo"te' },
  { traits: { tag: { name: "feature", value: "50xxoff" } }, fits: () => false },
  { traits: { tag: { name: "env", value: null } }, fits: (g) => g.tags?.env !== undefined },
  { traits: { minCost: 250_000_000n }, fits: (g) => g.cost >= 250_000_000n },
  {
    traits: { minLatency: 2000, findings: true },
    fits: (g) => g.latencyMs >= 2000 && (g.dlp?.findings ?? 0) > 0,
  },
  { traits: { searched: true }, fits: (g) => g.searches > 0 },
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
