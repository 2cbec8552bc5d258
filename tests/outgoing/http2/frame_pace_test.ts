/** How long connections over HTTP/2 wait before they read on. */
import { assertEquals } from "@std/assert";
import { FramePace } from "../../../src/outgoing/http2/frame_pace.ts";

/** The times that were waited, in milliseconds, while so many frames arrived each millisecond, in batches; 0: not at all. */
function waits(pace: FramePace, waited: number[], rate: number, { from = 0, batch = 100, ms = 1000 } = {}) {
  const all = new Set<number>();
  let frames = 0;
  for (let now = from; now < from + ms; now++) {
    for (frames += rate; frames >= batch; frames -= batch) {
      waited.length = 0;
      all.add(pace.after(batch, now) === null ? 0 : waited[0]);
    }
  }
  return [...all];
}

function paceWith(waited: number[]): FramePace {
  return new FramePace((ms) => {
    waited.push(ms);
    return Promise.resolve();
  });
}

Deno.test("the wait grows with the rate of frames, up to 8 ms", () => {
  for (const [rate, wait] of [[1, 0], [29, 0], [39, 0], [45, 1], [75, 4], [100, 7], [1000, 8]]) {
    const waited: number[] = [];
    const pace = paceWith(waited);
    waits(pace, waited, rate);
    // The first second has settled it.
    assertEquals(waits(pace, waited, rate, { from: 1000 }), [wait], `${rate} frames/ms`);
  }
});

Deno.test("a connection of few streams does not wait, but its frames count", () => {
  const waited: number[] = [];
  const pace = paceWith(waited);
  waits(pace, waited, 100, { batch: 10 });
  assertEquals(waits(pace, waited, 100, { from: 1000, batch: 10 }), [0]);
  assertEquals(waits(pace, waited, 100, { from: 2000, batch: 100, ms: 1 }), [7]);
});

Deno.test("after a silence nothing waits, whatever the rate was before", () => {
  const waited: number[] = [];
  const pace = paceWith(waited);
  waits(pace, waited, 100);
  assertEquals(pace.after(100, 60_000), null);
  // A large first batch says nothing about the rate.
  assertEquals(new FramePace().after(100_000, 0), null);
});
