import { assert, assertEquals } from "@std/assert";
import { Groups } from "../../src/timing/groups.ts";

/** Turns of an event loop that end when they are told to, and take so many milliseconds. */
function loop(turnMs = 1) {
  let calls: (() => void)[] = [];
  let time = 0;
  return {
    now: () => time,
    turnEnd: (call: () => void) => void calls.push(call),
    get asked() {
      return calls.length;
    },
    /** Ends a turn, and gives what waits its chance to go on. */
    async turn() {
      time += turnMs;
      const due = calls;
      calls = [];
      for (const call of due) call();
      await Promise.resolve();
    },
  };
}

function enter(groups: Groups, count: number, key = "k") {
  const begun: number[] = [];
  for (let i = 0; i < count; i++) {
    const turn = groups.enter(key);
    if (turn === null) begun.push(i);
    else void turn.then(() => begun.push(i));
  }
  return begun;
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

Deno.test("few begin at once, and nothing is left of them", async () => {
  const turns = loop();
  const groups = new Groups(turns.turnEnd, turns.now);
  assertEquals(enter(groups, 3), [0, 1, 2]);
  for (let i = 0; i < 2; i++) await turns.turn();
  assertEquals(turns.asked, 0);
  assertEquals(enter(groups, 6), upTo(6));
});

Deno.test("many that come at once begin group by group, in the order in which they came", async () => {
  const turns = loop();
  const groups = new Groups(turns.turnEnd, turns.now);
  const begun = enter(groups, 40);
  const sizes = [begun.length];
  while (begun.length < 40) {
    const before = begun.length;
    await turns.turn();
    assertEquals(begun.length, before, "what the last group began is written and sent in this turn");
    await turns.turn();
    sizes.push(begun.length - before);
  }
  assertEquals(begun, upTo(40));
  assert(sizes.every((size) => size <= 6), String(sizes));
  for (let i = 0; i < 2; i++) await turns.turn();
  assertEquals(turns.asked, 0);
});

Deno.test("short turns are waited for until sockets have been looked at", async () => {
  const turns = loop(0.01);
  const groups = new Groups(turns.turnEnd, turns.now);
  const begun = enter(groups, 12);
  for (let i = 0; i < 11; i++) await turns.turn();
  assertEquals(begun, upTo(6));
  await turns.turn();
  assertEquals(begun, upTo(12));
});

Deno.test("one that comes while others wait stands behind them", async () => {
  const turns = loop();
  const groups = new Groups(turns.turnEnd, turns.now);
  const begun = enter(groups, 7);
  await turns.turn();
  let late = false;
  void groups.enter("k")!.then(() => late = begun.length === 7);
  await turns.turn();
  assertEquals(begun, upTo(7));
  assert(late);
});

Deno.test("a rush begins in a few turns, however large it is", async () => {
  const turns = loop();
  const groups = new Groups(turns.turnEnd, turns.now);
  const begun = enter(groups, 5000);
  let ended = 0;
  while (begun.length < 5000) {
    await turns.turn();
    ended++;
  }
  assertEquals(begun, upTo(5000));
  assert(ended <= 20, String(ended));
});

Deno.test("a call of another key does not wait behind all of a flood", async () => {
  const turns = loop();
  const groups = new Groups(turns.turnEnd, turns.now);
  const flood = enter(groups, 1000, "flood");
  const other = enter(groups, 1, "other");
  for (let i = 0; i < 2; i++) await turns.turn();
  assertEquals(other, [0]);
  assert(flood.length <= 6 + 125, String(flood.length));
});

Deno.test("where turns are long, streams that keep coming wait for few of them", async () => {
  const turns = loop(16);
  const groups = new Groups(turns.turnEnd, turns.now);
  const waits: number[] = [];
  for (let i = 0; i < 100; i++) {
    for (let j = 0; j < 32; j++) void groups.enter("k")?.then(() => waits.push(turns.now() - came));
    const came = turns.now();
    await turns.turn();
  }
  assert(waits.length > 2000, String(waits.length));
  assert(Math.max(...waits) <= 4 * 16, String(Math.max(...waits)));
});

Deno.test("turns of the process itself are taken", async () => {
  const groups = new Groups();
  await Promise.all(Array.from({ length: 100 }, () => groups.enter("k")));
});
