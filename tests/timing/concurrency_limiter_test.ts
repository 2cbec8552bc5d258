import { assert, assertEquals } from "@std/assert";
import { ConcurrencyLimiter, QUEUE_MS } from "../../src/timing/concurrency_limiter.ts";
import { stoppedTicker } from "../support/time.ts";

function stopped(limit: number | null) {
  const { ticker, pass } = stoppedTicker();
  return { limiter: new ConcurrencyLimiter(limit, ticker), pass, ticker };
}

/** Notes who gets a place, in order. */
function line(limiter: ConcurrencyLimiter, keys: string) {
  const got: string[] = [];
  const all = [...keys].map((key) =>
    limiter.enter(key).then((granted) => {
      got.push(granted ? key : `-${key}`);
    })
  );
  return { got, done: Promise.all(all) };
}

const settled = () => new Promise<void>((resolve) => queueMicrotask(() => queueMicrotask(resolve)));

Deno.test("ConcurrencyLimiter without a limit only counts", () => {
  const { limiter } = stopped(null);
  for (let i = 0; i < 1000; i++) assert(limiter.tryEnter());
  assertEquals([limiter.inFlight, limiter.queued], [1000, 0]);
});

Deno.test("ConcurrencyLimiter lets keys take turns", async () => {
  const { limiter } = stopped(8);
  for (let i = 0; i < 8; i++) limiter.tryEnter();
  const { got, done } = line(limiter, "aaaabbc");
  assertEquals(limiter.queued, 7);
  for (let i = 0; i < 7; i++) {
    limiter.leave();
    await settled();
  }
  await done;
  assertEquals(got.join(""), "abcabaa");
  assertEquals([limiter.inFlight, limiter.queued], [8, 0]);
});

Deno.test("ConcurrencyLimiter lets nobody overtake those who wait", async () => {
  const { limiter } = stopped(1);
  limiter.tryEnter();
  const { got, done } = line(limiter, "a");
  assert(!limiter.tryEnter());
  limiter.leave();
  assert(!limiter.tryEnter());
  await done;
  assertEquals(got, ["a"]);
  limiter.leave();
  assert(limiter.tryEnter());
});

Deno.test("ConcurrencyLimiter refuses at once when its queue is full", async () => {
  const { limiter } = stopped(4);
  for (let i = 0; i < 4; i++) limiter.tryEnter();
  const { got, done } = line(limiter, "aaaaa");
  await settled();
  assertEquals(got, ["-a"]);
  for (let i = 0; i < 4; i++) limiter.leave();
  await done;
});

Deno.test("ConcurrencyLimiter has a key with many waiting make room for one with fewer", async () => {
  const { limiter } = stopped(4);
  for (let i = 0; i < 4; i++) limiter.tryEnter();
  const { got, done } = line(limiter, "aaaabbb");
  await settled();
  // Two of a's gave way; a third b would have more than a.
  assertEquals(got, ["-a", "-a", "-b"]);
  for (let i = 0; i < 4; i++) limiter.leave();
  await done;
  assertEquals(got.slice(3).join(""), "abab");
});

Deno.test("ConcurrencyLimiter lets nobody wait for long", async () => {
  const { limiter, pass } = stopped(1);
  limiter.tryEnter();
  const { got, done } = line(limiter, "ab");
  pass(QUEUE_MS - 1);
  await settled();
  assertEquals(got, []);
  pass(1);
  await done;
  assertEquals(got, ["-a", "-b"]);
  assertEquals(limiter.queued, 0);
});

Deno.test("ConcurrencyLimiter lets waiting calls in when its limit is raised", async () => {
  const { limiter } = stopped(1);
  limiter.tryEnter();
  const { got, done } = line(limiter, "abc");
  limiter.setLimit(3);
  await settled();
  assertEquals(got, ["a", "b"]);
  limiter.setLimit(null);
  await done;
  assertEquals(limiter.inFlight, 4);
});

Deno.test("ConcurrencyLimiter lets nobody in before it is down to a lowered limit", async () => {
  const { limiter } = stopped(3);
  for (let i = 0; i < 3; i++) limiter.tryEnter();
  const { got, done } = line(limiter, "a");
  limiter.setLimit(1);
  for (let i = 0; i < 2; i++) limiter.leave();
  await settled();
  assertEquals([got, limiter.inFlight], [[], 1]);
  limiter.leave();
  await done;
  assertEquals([got, limiter.inFlight], [["a"], 1]);
});

Deno.test("ConcurrencyLimiter sends nobody away for a key that would have as many waiting", async () => {
  const { limiter } = stopped(4);
  for (let i = 0; i < 4; i++) limiter.tryEnter();
  const { got, done } = line(limiter, "abcde");
  await settled();
  assertEquals(got, ["-e"]);
  for (let i = 0; i < 4; i++) limiter.leave();
  await done;
});

Deno.test("ConcurrencyLimiter lets those that come first pass all others, in their order, as long as they wait", async () => {
  const { limiter, pass, ticker } = stopped(1);
  limiter.tryEnter();
  const { got, done } = line(limiter, "abab");
  const first = ["1", "2", "3", "4", "5"].map((name) =>
    limiter.enterFirst().then((granted) => void got.push(granted ? name : `-${name}`))
  );
  assertEquals(limiter.queued, 9);
  for (let i = 0; i < 3; i++) {
    limiter.leave();
    await settled();
  }
  assertEquals(got.join(""), "123");
  pass(QUEUE_MS);
  await Promise.all(first);
  await done;
  assertEquals([got.length, limiter.queued, limiter.inFlight], [9, 0, 1]);
  limiter.leave();
  assert(await limiter.enterFirst());
  assertEquals(ticker.watched, 0);
});
