/** A ledger with chains on either database, what is done to it behind the gateway's back, and what its proof then shows. */
import { type LedgerProof, verify } from "../../src/store/care/mod.ts";
import type { Query } from "../../src/store/engine.ts";
import { encodeRecord, type Generation, type Store } from "../../src/store/mod.ts";
import { onBothEngines, type Place } from "../support/cluster.ts";
import { registerNode010, restore010 } from "../support/released.ts";
import { generation, NOW } from "./samples.ts";

const KEY = "key of the chains";
export const DAY = 86_400_000;
export const PLAIN: Generation = generation("gen_plain");

export interface Bench {
  store: Store;
  here: Place;
  /** Records of a node, in one transaction. */
  record(node: string, ...records: Partial<Generation>[]): Promise<void>;
  proof(key?: string): Promise<LedgerProof>;
  /** What somebody does with the database alone. */
  behind(work: (query: Query) => Promise<unknown>): Promise<void>;
}

/** @param more `older`: a node of 0.1.0 works on the store, too */
type Test = (title: string, body: (bench: Bench) => Promise<void>, more?: { older?: boolean }) => void;

/** Registers tests on both databases, each with a ledger of its own. */
export function onLedger(body: (test: Test) => void): void {
  onBothEngines(({ name, place }) =>
    body((title, run, { older = false } = {}) =>
      Deno.test(`${name}: ${title}`, async () => {
        const here = place();
        if (older) {
          await restore010(here, { rows: false });
          const engine = here.engine();
          await registerNode010(engine);
          await engine.close();
        }
        const store = here.open();
        try {
          await store.prepare();
          store.chainWith(KEY);
          let count = 0;
          const seqs = new Map<string, number>();
          await run({
            store,
            here,
            async record(node, ...records) {
              if (!seqs.has(node)) await store.registerNode(node);
              const seq = (seqs.get(node) ?? 0) + 1;
              seqs.set(node, seq);
              const encoded = records.map((more) =>
                encodeRecord({ ...PLAIN, id: `gen_${++count}`, ...more })
              );
              await store.sync({ node, seq, now: NOW, records: encoded, leases: [] });
            },
            proof: (key = KEY) => verify(here.address, () => Promise.resolve(key)),
            async behind(work) {
              const engine = here.engine();
              try {
                await work(engine.query);
              } finally {
                await engine.close();
              }
            },
          });
        } finally {
          await store.close();
          here.remove();
        }
      })
    )
  );
}

/** Two nodes, two days, three transactions each. */
export async function fill({ record }: Bench): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await record("node_a", {}, { created: NOW - DAY }, { created: NOW - 5 });
    await record("node_b", { created: NOW + 7 }, { created: NOW - DAY + round });
  }
}

/** The faults that are none of the sums, as kind, node and position. */
export const kinds = (proof: LedgerProof) =>
  proof.shown.filter((fault) => !fault.kind.startsWith("sums "))
    .map((
      fault,
    ) => [fault.kind, "node" in fault ? fault.node : null, "position" in fault ? fault.position : null]);

/** The columns of sums that are told to differ. */
export const summed = (proof: LedgerProof) =>
  proof.shown.flatMap((fault) => fault.kind === "sums differ" ? [fault.column] : []).sort();
