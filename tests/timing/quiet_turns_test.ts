import { assertEquals } from "@std/assert";
import { QuietTurns } from "../../src/timing/quiet_turns.ts";

/** How many of the last ten turns were waited for to their end, of many that each bring so many calls, after a quiet one. */
function waitedFor(calls: number): number {
  const quiet = new QuietTurns();
  quiet.ended(1);
  const waited: boolean[] = [];
  for (let turn = 0; turn < 100; turn++) {
    let together = 0;
    for (let call = 0; call < calls; call++) if (together > 0 || !quiet.passes()) together++;
    waited.push(together > 0);
    if (together > 0) quiet.ended(together);
  }
  return waited.slice(-10).filter(Boolean).length;
}

Deno.test("the end of a turn is seldom waited for where calls come one at a time", () => {
  const ends = waitedFor(1);
  assertEquals(ends === 1 || ends === 2, true, String(ends));
});

Deno.test("the end of every turn is waited for where several calls come in each, however many", () => {
  for (let calls = 2; calls <= 64; calls++) assertEquals(waitedFor(calls), 10, `${calls} in each turn`);
});
