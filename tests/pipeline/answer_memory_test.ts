import { assertEquals } from "@std/assert";
import { AnswerMemory } from "../../src/pipeline/answer_memory.ts";

/** Whether a promise has resolved by now. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  void promise.then(() => done = true);
  for (let i = 0; i < 10; i++) await undefined;
  return done;
}

Deno.test("a key's answers beside its oldest wait for room, and those of another key do not", async () => {
  const memory = new AnswerMemory(100);
  const [first, second, third] = [memory.open("a"), memory.open("a"), memory.open("a")];
  assertEquals(await settled(first.grow(40)), true);
  const waits = second.grow(20);
  assertEquals(await settled(waits), false);
  // The oldest goes on whatever it holds.
  assertEquals(await settled(first.grow(500)), true);
  const other = memory.open("b");
  assertEquals(await settled(other.grow(10)), true);
  const behind = third.grow(10);
  first.close();
  assertEquals([await settled(waits), await settled(behind)], [true, true]);
  second.close();
  third.close();
  other.close();
});

Deno.test("an answer that is given up waits no longer, and gives back what it held once", async () => {
  const memory = new AnswerMemory(100);
  const [first, second, third] = [memory.open("a"), memory.open("a"), memory.open("a")];
  await first.grow(50);
  const waits = second.grow(50);
  second.close();
  second.close();
  assertEquals(await settled(waits), true);
  first.close();
  assertEquals(await settled(third.grow(50)), true);
  third.close();
});
