import { assertEquals, assertRejects } from "@std/assert";
import { Slices, TURNS_PER_SLICE } from "../../src/timing/slices.ts";

/** Turns of an event loop, taken one by one. */
function turns() {
  const due: (() => void)[] = [];
  return {
    turn: (next: () => void) => void due.push(next),
    /** How many are due now. */
    get due() {
      return due.length;
    },
    take: () => due.shift()!(),
  };
}

/** A clock on which every step takes `ms`. */
function clock(ms: number): () => number {
  let now = 0;
  return () => now += ms;
}

function* work(name: string, slices: number, done: string[]): Generator<void, string> {
  for (let i = 0; i < slices; i++) {
    done.push(name);
    if (i < slices - 1) yield;
  }
  return name;
}

Deno.test("Slices does one slice in several turns, whoever has work, and keys take turns", async () => {
  const loop = turns();
  const done: string[] = [];
  const slices = new Slices({ turn: loop.turn, now: clock(1) });
  const ends = Promise.all([
    slices.run("a", work("a1", 3, done)),
    slices.run("a", work("a2", 2, done)),
    slices.run("b", work("b1", 2, done)),
  ]);
  for (let taken = 0; loop.due > 0; taken++) {
    assertEquals([loop.due, done.length], [1, Math.ceil(taken / TURNS_PER_SLICE)]);
    loop.take();
  }
  assertEquals(done, ["a1", "b1", "a2", "b1", "a1", "a2", "a1"]);
  assertEquals(await ends, ["a1", "a2", "b1"]);
});

Deno.test("Slices does brief steps of one work as one slice, for a millisecond", async () => {
  const loop = turns();
  const done: string[] = [];
  const held: number[] = [];
  const slices = new Slices({ turn: loop.turn, held: (_, ms) => held.push(ms), now: clock(0.25) });
  const ends = Promise.all([slices.run("a", work("a", 6, done)), slices.run("b", work("b", 2, done))]);
  while (loop.due > 0) loop.take();
  assertEquals(done, ["a", "a", "a", "a", "b", "b", "a", "a"]);
  assertEquals(held, [1, 0.5, 0.5]);
  assertEquals(await ends, ["a", "b"]);
});

Deno.test("Slices passes on what work throws, and goes on with the rest", async () => {
  const held: number[] = [];
  const slices = new Slices({ held: (_, ms) => held.push(ms), now: clock(1) });
  const failing = slices.run(
    "a",
    function* () {
      yield;
      throw new Error("broken");
    }(),
  );
  const done: string[] = [];
  const other = slices.run("a", work("fine", 3, done));
  await assertRejects(() => failing, Error, "broken");
  assertEquals([await other, done.length, held.length], ["fine", 3, 5]);
});
