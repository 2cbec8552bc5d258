import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { OldestFirst, Place } from "../../src/transport/oldest_first.ts";

Deno.test("OldestFirst keeps the order in which members came, as a Set does that forgets before it adds", () => {
  const step = fc.tuple(fc.constantFrom("join", "leave"), fc.nat(4));
  fc.assert(fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
    const places = [0, 1, 2, 3, 4].map((n) => new Place(n));
    const line = new OldestFirst<number>();
    const expected = new Set<number>();
    for (const [what, n] of steps) {
      expected.delete(n);
      if (what === "join") {
        expected.add(n);
        line.join(places[n]);
      } else line.leave(places[n]);
      assertEquals([...line], [...expected]);
      assertEquals(line.size, expected.size);
    }
  }));
});
