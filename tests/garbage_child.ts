/**
 * Prints how many MB are left of things that passed through a structure and are gone, seen by collections of the young
 * generation only; and how many MB bodies take of which single bytes have come. Run with --v8-flags=--expose-gc.
 */
import { ArraySet } from "../src/accounts/budgets/array_set.ts";
import { readJson } from "../src/http/body.ts";
import type { Reply } from "../src/outgoing/reply.ts";
import { readBody } from "../src/providers/reply_body.ts";
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

const SINGLE_BYTES = 100_000;

/** What reading takes when so many bytes have come, each alone. @param read calls `next` for one byte after the other; null: the end */
async function held(read: (next: () => Uint8Array<ArrayBuffer> | null) => unknown): Promise<number> {
  let came = 0;
  let before = 0;
  let after = 0;
  const measured = () => {
    gc({ type: "major" });
    const { heapUsed, external } = Deno.memoryUsage();
    return heapUsed + external;
  };
  await read(() => {
    came++;
    if (came === 1000) before = measured();
    if (came <= SINGLE_BYTES) return new Uint8Array([32]);
    after = measured();
    return null;
  });
  return (after - before) / 1e6;
}

const request = (next: () => Uint8Array<ArrayBuffer> | null) =>
  readJson(
    new Request("http://x/", {
      method: "POST",
      body: new ReadableStream({
        pull(controller) {
          const bytes = next();
          if (bytes === null) controller.close();
          else controller.enqueue(bytes);
        },
      }, { highWaterMark: 0 }),
    }),
    SINGLE_BYTES,
    { empty: {} },
  );

const answer = (next: () => Uint8Array<ArrayBuffer> | null) =>
  readBody({ read: next } as Reply, new Uint8Array(), () => Promise.resolve());

const set = new Set<object>();
const arraySet = new ArraySet<{ index: number; payload: number[] }>();
const ticker = new Ticker();
console.log(JSON.stringify({
  request: await held(async (next) => {
    await Promise.resolve(request(next)).catch(() => {});
  }),
  answer: await held(answer),
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
