import { assertEquals, assertRejects } from "@std/assert";
import { StoreUnavailable } from "../../src/store/engine.ts";
import { ReadLane } from "../../src/store/read_lane.ts";
import { nextTurn } from "../support/time.ts";

/** A lane whose reads end when told, and the order in which they began. */
function laneOf(most?: number) {
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const lane = new ReadLane((sql) => {
    began.push(sql);
    return new Promise((resolve) => ends.push(() => resolve([])));
  }, most);
  return {
    began,
    read: (asker: string, sql: string) => lane.of(asker)(sql),
    async end() {
      ends.shift()!();
      // The next one begins within the same turn of the event loop.
      await nextTurn();
    },
  };
}

Deno.test("ReadLane runs one read at a time, and askers take turns", async () => {
  const { began, read, end } = laneOf();
  const all = ["a1", "a2", "a3", "a4"].map((sql) => read("a", sql)).concat(read("b", "b1"), read("c", "c1"));
  assertEquals(began, ["a1"]);
  for (let i = 0; i < 6; i++) {
    assertEquals(began.length, i + 1);
    await end();
  }
  assertEquals(began, ["a1", "a2", "b1", "c1", "a3", "a4"]);
  await Promise.all(all);
});

Deno.test("ReadLane goes on after a read that failed", async () => {
  let fail = true;
  const lane = new ReadLane(() => fail ? Promise.reject(new Error("no")) : Promise.resolve([]));
  const first = lane.of("a")("one");
  const second = lane.of("a")("two");
  await assertRejects(() => first, Error, "no");
  fail = false;
  assertEquals(await second.catch(() => "failed"), "failed");
  assertEquals(await lane.of("a")("three"), []);
});

Deno.test("ReadLane refuses beyond its bound whoever has asked most", async () => {
  const { began, read, end } = laneOf(3);
  const running = read("a", "a1");
  const waiting = [read("a", "a2"), read("a", "a3"), read("a", "a4")];
  const refused = assertRejects(() => waiting[2], StoreUnavailable);
  await assertRejects(() => read("a", "a5"), StoreUnavailable);
  const other = read("b", "b1");
  await refused;
  for (let i = 0; i < 4; i++) await end();
  await Promise.all([running, waiting[0], waiting[1], other]);
  assertEquals(began, ["a1", "a2", "b1", "a3"]);
});
