import { assertEquals } from "@std/assert";
import { AnswerBuffer, AnswerMemory } from "../../src/pipeline/answer_memory.ts";

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

Deno.test("answers of one call share what it holds, and those that wait go on when it is over", async () => {
  const memory = new AnswerMemory(100);
  const [first, second] = [memory.open("a"), memory.open("a")];
  await first.grow(60);
  const waits = [second.grow(10), second.grow(20)];
  assertEquals(await Promise.all(waits.map(settled)), [false, false]);
  first.shrink(40);
  assertEquals(await Promise.all(waits.map(settled)), [true, true]);
  assertEquals(memory.bytes, 50);
  second.shrink(30);
  first.close();
  second.close();
  // What is given back late is given back once.
  second.shrink(30);
  await second.grow(30);
  assertEquals(memory.bytes, 0);
});

Deno.test("AnswerBuffer counts an answer once it is worth it, as many times as it is in memory, and gives all of it back", () => {
  const memory = new AnswerMemory(1 << 30);
  const held = memory.open("a");
  const buffer = new AnswerBuffer(() => held);
  assertEquals(buffer.more(100_000), null);
  assertEquals(memory.bytes, 0);
  buffer.more(100_000);
  assertEquals(memory.bytes, 600_000);
  // A little more is counted with what comes behind it.
  assertEquals(buffer.more(1000), null);
  assertEquals(memory.bytes, 600_000);
  buffer.more(2_000_000);
  assertEquals([memory.bytes, buffer.isLarge], [6_603_000, true]);
  buffer.passed();
  assertEquals(memory.bytes, 0);
  // Of a stream: what of it has not been passed on.
  for (let i = 0; i < 100; i++) assertEquals(buffer.holds(60_000), null);
  buffer.holds(200_000);
  assertEquals(memory.bytes, 600_000);
  buffer.holds(150_000);
  assertEquals(memory.bytes, 450_000);
  buffer.holds(10);
  assertEquals(memory.bytes, 0);
  held.close();
});

Deno.test("AnswerMemory allows 256 MiB in all, and half of it for one key", async () => {
  const memory = new AnswerMemory();
  const goesOn = async (held: ReturnType<AnswerMemory["open"]>, bytes: number) =>
    await settled(held.grow(bytes));
  const [first, second] = [memory.open("a"), memory.open("a")];
  assertEquals(await goesOn(first, 100 << 20), true);
  assertEquals(await goesOn(second, 28 << 20), true);
  assertEquals(await goesOn(second, 1), false);
  // The oldest call of each key goes on.
  const [other, further] = [memory.open("b"), memory.open("b")];
  assertEquals(await goesOn(other, 127 << 20), true);
  assertEquals(await goesOn(further, 1 << 20), false);
  assertEquals(await goesOn(other, 1 << 30), true);
  for (const held of [first, second, other, further]) held.close();
  assertEquals(memory.bytes, 0);
});
