import { assert, assertEquals } from "@std/assert";
import { LoadShedder } from "../../src/timing/load_shedder.ts";
import { StoppedClock } from "../support/time.ts";

const A_TURN = 32;

/** A shedder whose turns end when the test says so, after so many milliseconds. */
function stopped() {
  const clock = new StoppedClock();
  let ends: (() => void)[] = [];
  const shedder = new LoadShedder({ clock, turnEnd: (work) => void ends.push(work) });
  const entered: number[] = [];
  /** Waited, and had to make room. */
  const sentAway: number[] = [];
  let next = 0;
  return {
    shedder,
    entered,
    clock,
    /** So many come; how many of them were turned away. */
    come(count: number, key = "k"): number {
      let refused = 0;
      for (let i = 0; i < count; i++) {
        const who = next++;
        const entry = shedder.enter(key);
        if (entry === true) entered.push(who);
        else if (entry === false) refused++;
        else void entry.then((letIn) => (letIn ? entered : sentAway).push(who));
      }
      return refused;
    },
    sentAway,
    async turn(ms: number): Promise<void> {
      clock.time += ms;
      const due = ends;
      ends = [];
      for (const end of due) end();
      await Promise.resolve();
    },
    turning: () => ends.length > 0,
  };
}

Deno.test("LoadShedder admits a bounded number in a turn, the rest in the order they came", async () => {
  const { shedder, entered, come, turn, turning } = stopped();
  assertEquals(come(A_TURN + 10), 0);
  assertEquals([entered.length, shedder.waiting], [A_TURN, 10]);
  await turn(5);
  assertEquals([entered.length, shedder.waiting], [A_TURN + 10, 0]);
  // There is room in this turn, but nobody overtakes.
  come(A_TURN);
  assertEquals(shedder.waiting, 10);
  await turn(5);
  await turn(5);
  assertEquals(entered, Array.from({ length: 2 * A_TURN + 10 }, (_, i) => i));
  assert(!turning());
});

Deno.test("LoadShedder serves all of a burst", async () => {
  const { shedder, entered, come, turn } = stopped();
  assertEquals(come(2000), 0);
  let came = 2000;
  for (let turns = 0; shedder.waiting > 0; turns++) {
    if (turns % 10 === 5) {
      // More come while the line stands: it would take them less than a second.
      assertEquals(come(A_TURN), 0);
      came += A_TURN;
    }
    await turn(10);
  }
  assertEquals(entered.length, came);
});

Deno.test("LoadShedder keeps the line short under overload, and forgets that once it is over", async () => {
  const { shedder, entered, come, turn, clock } = stopped();
  let refused = 0;
  // Three times as many come as are served: 32 in 5 milliseconds.
  for (let i = 0; i < 2000; i++) {
    refused += come(3 * A_TURN);
    await turn(5);
    // From the third second on nobody waits for more than a twentieth of one, 320 calls.
    if (clock.time > 3000) assert(shedder.waiting <= 321, `${shedder.waiting} wait at ${clock.time}`);
  }
  assertEquals(entered.length, 2000 * A_TURN + A_TURN);
  assertEquals(entered.length + refused + shedder.waiting, 2000 * 3 * A_TURN);
  while (shedder.waiting > 0) await turn(5);
  await turn(5);
  clock.time += 500;
  // Not a second has passed: a burst would still be cut short.
  assert(come(2000) > 0);
  while (shedder.waiting > 0) await turn(5);
  await turn(5);
  clock.time += 2000;
  assertEquals(come(2000), 0);
});

Deno.test("LoadShedder takes no long turn with few in it for a slow line", async () => {
  const { shedder, come, turn } = stopped();
  for (let i = 0; i < 100; i++) {
    assertEquals(come(A_TURN + 2), 0);
    await turn(2);
    // The two of the line have come in; what makes this one long are frames of streams that run.
    await turn(40);
  }
  assertEquals(come(500), 0);
  while (shedder.waiting > 0) await turn(2);
});

Deno.test("LoadShedder refuses the key that floods it, and serves the others soon", async () => {
  const { shedder, entered, sentAway, come, turn } = stopped();
  let refused = 0;
  for (let i = 0; i < 1000; i++) {
    refused += come(3 * A_TURN, "flood");
    // A newcomer each time, and one who asks again and again.
    assertEquals(come(1, "modest"), 0);
    assertEquals(come(1, `new ${i % 50}`), 0);
    const before = entered.length;
    await turn(5);
    if (i > 0) assertEquals(entered.length - before, A_TURN);
  }
  assert(refused > 50_000);
  assert(sentAway.length > 0);
  // Of every turn's 98 the last two are not the flood's; of these none was sent away, and none is left waiting for long.
  const isFlood = (who: number) => who % 98 < 96;
  assert(sentAway.every(isFlood));
  assert(entered.filter((who) => !isFlood(who)).length >= 2 * 999);
  while (shedder.waiting > 0) await turn(5);
});

Deno.test("LoadShedder waits for no end of a turn where calls come one at a time, and bounds a burst behind them", async () => {
  const { shedder, entered, come, turn, turning } = stopped();
  come(1);
  assert(turning());
  await turn(1);
  for (let i = 0; i < 7; i++) come(1);
  assert(!turning());
  come(A_TURN + 10);
  assert(turning());
  assertEquals([entered.length, shedder.waiting], [1 + 7 + A_TURN, 10]);
  await turn(5);
  await turn(5);
  assertEquals(entered, Array.from({ length: 1 + 7 + A_TURN + 10 }, (_, i) => i));
  // Several came together: the next ends of turns are waited for.
  come(1);
  assert(turning());
});
