import { assert, assertEquals } from "@std/assert";
import { Rounds, Visited } from "../../src/timing/rounds.ts";
import { eventually, turns } from "../support/time.ts";

class Entry extends Visited {
  constructor(readonly visit: () => void) {
    super();
  }
}

function added(rounds: Rounds, visit: () => void): Entry {
  const entry = new Entry(visit);
  rounds.add(entry);
  return entry;
}

Deno.test("Rounds visits all in turn, those that came together as well, and none that has left", async () => {
  const rounds = Rounds.every(40);
  const visits: number[] = [];
  const entries = Array.from({ length: 100 }, (_, i) => added(rounds, () => visits.push(i)));
  await eventually(() => visits.length >= 250);
  // In their order, round by round.
  assertEquals(visits.slice(0, 250), Array.from({ length: 250 }, (_, i) => i % 100));
  for (const entry of entries.slice(10)) rounds.remove(entry);
  const before = visits.length;
  const late = added(rounds, () => visits.push(-1));
  await eventually(() => visits.length >= before + 33);
  const after = visits.slice(before, before + 33);
  assert(after.every((i) => i < 10), `${after}`);
  for (let at = after.indexOf(-1); at + 11 < after.length; at += 11) assertEquals(after[at + 11], -1);
  for (const entry of [...entries, late, late]) rounds.remove(entry);
  const ended = visits.length;
  await turns(50);
  assertEquals(visits.length, ended);
});

Deno.test("Rounds comes to one that removes itself, and others, while it is visited", async () => {
  const rounds = Rounds.every(10);
  const visits: string[] = [];
  const one = added(rounds, () => {
    visits.push("one");
    for (const entry of [one, two, one]) rounds.remove(entry);
    added(rounds, () => {
      visits.push("four");
      rounds.remove(three);
    });
  });
  const two = added(rounds, () => visits.push("two"));
  const three = added(rounds, () => visits.push("three"));
  await eventually(() => visits.filter((name) => name === "four").length >= 2);
  assertEquals(visits.slice(0, 3), ["one", "three", "four"]);
  assertEquals(Rounds.every(10), rounds);
});
