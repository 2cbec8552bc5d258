/** Stores of their own for tests, and what nodes say to them. */
import {
  type BudgetRef,
  encodeRecord,
  type Generation,
  type LeaseRequest,
  type LedgerRecord,
  type Store,
  type SyncRequest,
} from "../../src/store/mod.ts";
import type { Ground } from "../support/cluster.ts";
import { NOW } from "./samples.ts";

export const keyBudget = (limit: bigint, starts = 0, ends: number | null = null): BudgetRef => ({
  id: `k:key_1:${starts}`,
  scope: "key",
  owner: "key_1",
  starts,
  ends,
  limit,
});

export const rate = (limit: bigint): BudgetRef => ({
  id: "r:key_1",
  scope: "rate",
  owner: "key_1",
  starts: 0,
  ends: null,
  limit,
});

/** A node's side of the conversation, with its numbers counted. */
export function nodeOf(store: Store, node: string) {
  let seq = 0;
  const deliver = (records: readonly LedgerRecord[]) =>
    store.sync({ node, seq: ++seq, now: NOW, records, leases: [] });
  return {
    ask: async (budget: BudgetRef, floor: bigint, more: Partial<SyncRequest> & { exact?: boolean } = {}) => {
      const leases: LeaseRequest[] = [{ budget, floor, exact: more.exact ?? false }];
      const result = await store.sync({ node, seq: ++seq, now: NOW, records: [], leases, ...more });
      return result.grants[0];
    },
    deliver,
    record: (...generations: Generation[]) => deliver(generations.map((g) => encodeRecord(g))),
    at: (number: number) => store.sync({ node, seq: number, now: NOW, records: [], leases: [] }),
  };
}

/** Registers tests of a store that is prepared; `another` opens the same one again. */
export function testsOn({ name, place }: Ground) {
  return function (title: string, body: (store: Store, another: () => Store) => Promise<void>): void {
    Deno.test(`${name}: ${title}`, async () => {
      const here = place();
      const opened: Store[] = [];
      const open = () => {
        opened.push(here.open());
        return opened.at(-1)!;
      };
      try {
        const store = open();
        await store.prepare();
        await body(store, open);
      } finally {
        for (const store of opened) await store.close();
        here.remove();
      }
    });
  };
}
