import { assertEquals } from "@std/assert";
import { KeptTurns, SocketMemory } from "../../src/http/kept_turns.ts";

const turn = (bytes: number) => ({ items: [bytes], bytes });

Deno.test("a key whose sockets keep most makes room for those of others, its oldest first", () => {
  const all = new SocketMemory({ most: 1000, longestMessage: 100 });
  const [big, small] = [all.enter("big"), all.enter("small")];
  const bigs = Array.from({ length: 4 }, () => new KeptTurns(big));
  for (const kept of bigs) kept.keep("r", null, turn(120));
  const one = new KeptTurns(small);
  one.keep("r1", null, turn(100));
  assertEquals([one.upTo("r1")?.bytes, bigs.map((kept) => kept.upTo("r") !== null)], [
    100,
    [false, true, true, true],
  ]);
  one.keep("r2", "r1", turn(100));
  assertEquals([one.upTo("r2")?.bytes, bigs.map((kept) => kept.upTo("r") !== null)], [
    200,
    [false, false, true, true],
  ]);
  // Its own are forgotten where it is itself the one that keeps most.
  bigs[0].keep("r", null, turn(120));
  assertEquals([bigs[0].upTo("r"), one.upTo("r2")?.bytes, big.turns, small.turns], [null, 200, 240, 200]);
  for (const kept of [...bigs, one]) kept.clear();
  assertEquals([all.held, big.turns, small.turns], [0, 0, 0]);
});

Deno.test("messages of one key that wait leave room for those of others", () => {
  const all = new SocketMemory({ most: 1000, longestMessage: 100 });
  const [big, small] = [all.enter("big"), all.enter("small")];
  assertEquals([big.takeMessages(250), big.takeMessages(1), small.takeMessages(200)], [true, false, true]);
  big.takeMessages(-250);
  assertEquals([big.takeMessages(1), all.held], [true, 201]);
  all.bound({ most: 1000, longestMessage: 700 });
  assertEquals([big.takeMessages(699), big.takeMessages(1)], [true, false]);
});

Deno.test("what the sockets of a key hold goes with the last of them", () => {
  const all = new SocketMemory({ most: 1000, longestMessage: 100 });
  const memory = all.enter("k");
  assertEquals(all.enter("k") === memory, true);
  memory.leave();
  assertEquals(all.enter("k") === memory, true);
  memory.leave();
  memory.leave();
  assertEquals(all.enter("k") === memory, false);
});

Deno.test("answers that were forgotten count as long as later ones hold them, and no longer", () => {
  const all = new SocketMemory({ most: 1000, longestMessage: 100 });
  const kept = new KeptTurns(all.enter("k"));
  kept.keep("r1", null, turn(300));
  kept.keep("r2", "r1", turn(20));
  kept.keep("r3", "r2", turn(1));
  kept.forget("r2");
  kept.forget("r1");
  assertEquals([kept.upTo("r3")?.bytes, kept.bytes, all.held], [321, 321, 321]);
  kept.keep("r4", "r3", turn(5));
  kept.forget("r4");
  assertEquals([kept.bytes, all.held], [321, 321]);
  kept.forget("r3");
  assertEquals([kept.bytes, all.held], [0, 0]);
});
