import { assertEquals } from "@std/assert";
import { Ticker } from "../../src/timing/ticker.ts";
import { standStill } from "../support/stand_still.ts";
import { stoppedTicker } from "../support/time.ts";

function stopped(options = {}) {
  const { ticker, pass } = stoppedTicker(options);
  return {
    ticker,
    /** Ticks that come so long after the one before. */
    ticks: (...gaps: number[]) => gaps.forEach(pass),
  };
}

Deno.test("Ticker.lag is what every one of the last ticks was late by", () => {
  const { ticker, ticks } = stopped();
  const deadline = ticker.deadline(() => {});
  ticks(50, 50, 50, 50, 50);
  assertEquals(ticker.lag, 0);
  // One pause, however long.
  ticks(10_000);
  assertEquals(ticker.lag, 0);
  ticks(400, 350, 500);
  assertEquals(ticker.lag, 300);
  ticks(55);
  assertEquals(ticker.lag, 5);
  deadline.close();
});

Deno.test("Ticker is not late any more once nothing is watched", () => {
  const { ticker, ticks } = stopped();
  const deadline = ticker.deadline(() => {});
  ticks(500, 500, 500, 500, 500);
  assertEquals(ticker.lag, 450);
  deadline.close();
  assertEquals(ticker.lag, 0);
});

Deno.test("Ticker calls what is due once", () => {
  const { ticker, ticks } = stopped();
  let called = 0;
  const deadline = ticker.deadline(() => called++);
  deadline.arm(100);
  ticks(99);
  assertEquals(called, 0);
  ticks(1, 100);
  assertEquals(called, 1);
  deadline.arm(100);
  deadline.disarm();
  ticks(1000);
  assertEquals(called, 1);
  deadline.close();
});

Deno.test("Ticker finds its way when what is called closes others, or itself, twice", () => {
  const { ticker, ticks } = stopped();
  const called: number[] = [];
  const deadlines = Array.from({ length: 6 }, (_, i) =>
    ticker.deadline(() => {
      called.push(i);
      if (i !== 1) return;
      for (const other of [2, 1, 3, 2, 1]) deadlines[other].close();
      ticker.deadline(() => called.push(9)).arm(0);
    }));
  for (const deadline of deadlines) deadline.arm(50);
  deadlines[0].close();
  ticks(50);
  assertEquals(called, [1, 4, 5, 9]);
  ticks(50);
  assertEquals(called, [1, 4, 5, 9]);
  for (const deadline of deadlines) deadline.close();
});

Deno.test("Ticker that lingers rests when it has found nothing for a while", () => {
  const { ticker, ticks } = stopped({ lingers: true });
  // A timer that were left would fail this test.
  ticker.deadline(() => {}).close();
  ticks(...new Array(20).fill(50));
  // And again.
  const deadline = ticker.deadline(() => {});
  ticks(...new Array(30).fill(50));
  deadline.close();
  ticks(...new Array(20).fill(50));
});

Deno.test("Ticker that lingers rests when it is closed, or when the last deadline is after that", () => {
  const { ticker } = stopped({ lingers: true });
  const deadline = ticker.deadline(() => {});
  deadline.close();
  ticker.close();
  ticker.deadline(() => {}).close();

  const other = stopped({ lingers: true }).ticker;
  const last = other.deadline(() => {});
  other.close();
  last.close();
});

Deno.test("Ticker looks at coarse deadlines once in a second, and goes on for them", () => {
  const { ticker, ticks } = stopped();
  const called: number[] = [];
  const deadlines = Array.from({ length: 3 }, (_, i) => ticker.coarse(() => called.push(i)));
  for (const [i, deadline] of deadlines.entries()) deadline.arm(i * 900);
  for (let i = 0; i < 19; i++) ticks(50);
  assertEquals([called, ticker.watched], [[], 3]);
  ticks(50);
  assertEquals(called, [0, 1]);
  deadlines[1].close();
  for (let i = 0; i < 20; i++) ticks(50);
  assertEquals([called, ticker.watched], [[0, 1, 2], 2]);
  for (const deadline of deadlines) deadline.close();
  assertEquals(ticker.watched, 0);
});

Deno.test("what has come while the process stood still disarms a deadline that was due meanwhile", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const conn = await Deno.connect({ port: listener.addr.port });
  const answering = await listener.accept();
  const ticker = new Ticker();
  const { promise: over, resolve } = Promise.withResolvers<string>();
  const deadline = ticker.deadline(() => resolve("too late"));
  deadline.arm(500);
  const read = conn.read(new Uint8Array(8)).then(() => {
    deadline.disarm();
    return "in time";
  });
  await answering.write(new Uint8Array([1]));
  standStill(1500);
  assertEquals(await Promise.race([over, read]), "in time");
  deadline.close();
  for (const open of [conn, answering, listener]) open.close();
});
