/**
 * Prints how many MB are left of things that passed through a structure and are gone, seen by collections of the young
 * generation only. Run with --v8-flags=--expose-gc.
 */
import { ArraySet } from "../src/accounts/budgets/array_set.ts";
import { Ticker } from "../src/timing/ticker.ts";

const THINGS = 20_000;
const BYTES = 1000;

const gc = (globalThis as unknown as { gc(options: { type: string }): void }).gc;

/** Ages what is held by now, so that the next collection moves it into the old generation. */
function age(): void {
  gc({ type: "minor" });
  gc({ type: "minor" });
}

/** One thing in, then the one before it out, as calls overlap. */
function pass(take: (payload: number[]) => () => void): number {
  const payload = () => new Array(BYTES / 8).fill(0.5);
  gc({ type: "major" });
  let out = take(payload());
  age();
  const before = Deno.memoryUsage().heapUsed;
  for (let i = 0; i < THINGS; i++) {
    const next = take(payload());
    out();
    out = next;
    if (i % 1000 === 0) gc({ type: "minor" });
  }
  out();
  age();
  return (Deno.memoryUsage().heapUsed - before) / 1e6;
}

const set = new Set<object>();
const arraySet = new ArraySet<{ index: number; payload: number[] }>();
const ticker = new Ticker();
console.log(JSON.stringify({
  set: pass((payload) => {
    const item = { payload };
    set.add(item);
    return () => set.delete(item);
  }),
  arraySet: pass((payload) => {
    const item = { index: -1, payload };
    arraySet.add(item);
    return () => arraySet.delete(item);
  }),
  ticker: pass((payload) => {
    const deadline = ticker.deadline(() => payload);
    return () => deadline.close();
  }),
}));
