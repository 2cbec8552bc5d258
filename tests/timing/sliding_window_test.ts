import { assertEquals } from "@std/assert";
import { SlidingWindow } from "../../src/timing/sliding_window.ts";

Deno.test("SlidingWindow forgets by tenths, also when nothing comes after", () => {
  const window = new SlidingWindow(1000);
  window.add(0, 1, 0);
  window.add(150, 2, 1);
  assertEquals(window.sum(999), { calls: 3, hits: 1 });
  assertEquals(window.sum(1000), { calls: 2, hits: 1 });
  assertEquals(window.sum(1099), { calls: 2, hits: 1 });
  assertEquals(window.sum(1100), { calls: 0, hits: 0 });
  // The slot of the first serves again.
  window.add(1020, 5, 4);
  assertEquals(window.sum(1050), { calls: 7, hits: 5 });
  window.clear();
  assertEquals(window.sum(1050), { calls: 0, hits: 0 });
});
