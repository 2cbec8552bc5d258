/** Records of calls whose process was taken for dead, and what becomes of them when it was only frozen. */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { NO_USAGE } from "../../src/exchange/usage.ts";
import {
  accountBudget,
  type BudgetRef,
  encodePresumed,
  encodeRecord,
  type Generation,
  type LedgerRecord,
  type Store,
  type SyncRequest,
  USAGE_DIMENSIONS,
} from "../../src/store/mod.ts";
import { onBothEngines } from "../support/cluster.ts";

const NOON = Date.UTC(2026, 0, 15, 12);

const PRESUMED: Generation = {
  id: "",
  created: NOON,
  keyId: "key_1",
  key: "dev",
  account: "acme",
  format: "messages",
  requestedModel: "a/b",
  model: "a/b",
  provider: null,
  stream: true,
  status: "interrupted",
  errorCode: null,
  usage: null,
  estimated: false,
  searches: 0,
  cost: 0n,
  ttftMs: null,
  latencyMs: 0,
  clientGone: false,
  dlp: null,
  tags: null,
  session: null,
  team: null,
  priceVersion: null,
  cacheSaved: null,
  toolCalls: null,
  repaired: null,
  steps: null,
  listCost: null,
};

const presumed = (id: string) => encodeRecord({ ...PRESUMED, id });
const real = (id: string, tokens = 5, more: Partial<Generation> = {}) =>
  encodeRecord({
    ...PRESUMED,
    id,
    provider: "p",
    model: "a/c",
    status: "completed",
    usage: { ...NO_USAGE, input: tokens },
    cost: BigInt(tokens),
    latencyMs: 40_000,
    ...more,
  });

const KEY_BUDGET: BudgetRef = {
  id: "k:1",
  scope: "key",
  owner: "key_1",
  starts: 0,
  ends: null,
  limit: 1000n,
};

/** What the ledger holds, told in every way that there is. */
async function seen(store: Store) {
  const records = await store.listGenerations({}, { after: null, limit: 100 });
  const usage: Record<string, unknown> = {};
  for (const by of USAGE_DIMENSIONS) {
    const sums = await store.sumUsage({ by: [by], from: null, to: null });
    usage[by] = sums.map((
      { of, generations, failed, input, cost },
    ) => [of[by], generations, failed, input, cost]);
  }
  return { records: records.map((g) => [g.id, g.status, g.cost]).sort(), usage };
}

onBothEngines(({ name, place }) => {
  async function withStore(
    body: (store: Store, write: (more: Partial<SyncRequest>) => Promise<bigint[]>) => Promise<void>,
  ) {
    const here = place();
    const store = here.open();
    let seq = 0;
    try {
      await store.prepare();
      await store.registerNode("n");
      await store.declareAccounts([{ name: "acme", credits: 1000n }]);
      await body(store, async (more) => {
        const leases = [accountBudget("acme"), KEY_BUDGET].map((budget) => ({
          budget,
          floor: 0n,
          exact: true,
        }));
        const { grants } = await store.sync({
          node: "n",
          seq: ++seq,
          now: NOON,
          records: [],
          leases,
          ...more,
        });
        return grants.map(({ spent }) => spent);
      });
    } finally {
      await store.close();
      here.remove();
    }
  }

  Deno.test(`${name}: a real end takes the place of a presumed one once, in records, sums and budgets at once`, () =>
    withStore(async (store, write) => {
      await write({ records: [presumed("a"), presumed("b")] });
      assertEquals(await write({ records: [real("a")] }), [5n, 5n]);
      const after = await seen(store);
      assertEquals(after.records, [["a", "completed", 5n], ["b", "interrupted", 0n]]);
      assertEquals(after.usage.model, [["a/c", 1, 0, 5, 5n], ["a/b", 1, 1, 0, 0n]]);
      assertEquals(after.usage.provider, [["p", 1, 0, 5, 5n], ["", 1, 1, 0, 0n]]);
      // Whatever comes later changes nothing: the same end, another, or the presumption.
      for (const late of [real("a"), real("a", 9), presumed("a")]) {
        assertEquals(await write({ records: [late] }), [5n, 5n]);
        assertEquals(await seen(store), after);
      }
      // The last one that was presumed: nothing of it is left, not even a row of nothing.
      await write({ records: [real("b", 7), real("b", 8)] });
      const last = await seen(store);
      assertEquals(last.usage.provider, [["p", 2, 0, 12, 12n]]);
      assertEquals(last.usage.key, [["dev", 2, 0, 12, 12n]]);
    }));

  Deno.test(`${name}: an end that was interrupted in fact takes the place, too, and one without a record withdraws it`, () =>
    withStore(async (store, write) => {
      await write({ records: [presumed("a"), presumed("b"), real("c")] });
      const broken = real("a", 0, { status: "interrupted", usage: null, cost: 0n });
      assertEquals(await write({ records: [broken], released: ["b", "c", "d"] }), [5n, 5n]);
      const { records, usage } = await seen(store);
      assertEquals(records, [["a", "interrupted", 0n], ["c", "completed", 5n]]);
      assertEquals(usage.provider, [["p", 2, 1, 5, 5n]]);
      assertEquals((await store.generation("a"))?.latencyMs, 40_000);
    }));

  Deno.test(`${name}: a call that has ended meanwhile is not presumed to be interrupted`, () =>
    withStore(async (store, write) => {
      await write({ began: [{ id: "a", data: "" }, { id: "b", data: "" }] });
      const [a, b] = ["a", "b"].map((id) => encodePresumed({ ...PRESUMED, id }));
      await write({ ended: ["a"] });
      await write({ records: [a, b] });
      assertEquals((await seen(store)).records, [["b", "interrupted", 0n]]);
    }));

  Deno.test(`${name}: of presumed and real ends in any order and any batches the real one stays`, async () => {
    const end = fc.constantFrom<(id: string) => LedgerRecord>(presumed, (id) => real(id));
    const written = fc.tuple(fc.constantFrom("a", "b", "c"), end).map(([id, make]) => make(id));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(written, { maxLength: 6 }), { maxLength: 6 }),
        (batches) =>
          withStore(async (store, write) => {
            let spent: bigint[] = [0n, 0n];
            for (const records of batches) spent = await write({ records });
            const ids = new Set(batches.flat().map(({ id }) => id));
            const ended = new Set(batches.flat().filter(({ cost }) => cost > 0n).map(({ id }) => id));
            const owed = 5n * BigInt(ended.size);
            assertEquals(spent, [owed, owed]);
            const { records, usage } = await seen(store);
            assertEquals(
              records,
              [...ids].sort().map((id) => ended.has(id) ? [id, "completed", 5n] : [id, "interrupted", 0n]),
            );
            const sums = ids.size === 0
              ? []
              : [["acme", ids.size, ids.size - ended.size, 5 * ended.size, owed]];
            assertEquals(usage.account, sums);
          }),
      ),
      { numRuns: name === "sqlite" ? 60 : 25 },
    );
  });
});
