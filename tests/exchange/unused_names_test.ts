import { assertEquals } from "@std/assert";
import { UnusedNames } from "../../src/exchange/unused_names.ts";

/** A set that counts how often it is asked. */
class Counted extends Set<string> {
  static asked = 0;
  override has(value: string): boolean {
    Counted.asked++;
    return super.has(value);
  }
}

Deno.test("UnusedNames numbers names that are taken, and keeps them short", () => {
  const names = new UnusedNames(["a", "a_3"], 12);
  assertEquals(["a", "a", "a", "b", "a_2"].map((name) => names.take(name)), [
    "a_2",
    "a_4",
    "a_5",
    "b",
    "a_2_2",
  ]);
  assertEquals(names.take("abcdefghijklmnop"), "abcdefghijkl");
  assertEquals(names.take("abcdefghijklmnop"), "abcd_2");
});

Deno.test("UnusedNames asks a few times for each name, however many are alike", () => {
  const n = 5000;
  const alike = {
    equal: () => "_",
    "equal at the start": (i: number) => `${"x".repeat(61)}${(i >> 1).toString(36).padStart(3, "0")}`,
    "numbers already": (i: number) => `n_${i >> 2}`,
  };
  const original = globalThis.Set;
  try {
    globalThis.Set = Counted as unknown as SetConstructor;
    for (const [what, nameOf] of Object.entries(alike)) {
      Counted.asked = 0;
      const names = new UnusedNames([], 64);
      const given = new original(Array.from({ length: n }, (_, i) => names.take(nameOf(i))));
      assertEquals(given.size, n, what);
      assertEquals(Counted.asked < 6 * n, true, `${what}: asked ${Counted.asked} times`);
    }
  } finally {
    globalThis.Set = original;
  }
});
