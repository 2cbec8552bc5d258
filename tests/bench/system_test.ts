import { assert } from "@std/assert";
import { countInstructions } from "./system.ts";

Deno.test("instructions are counted, or said not to be, on processors that do not count them", async () => {
  // `perf` waits for the end of a process of which it counts nothing: whoever waits for its first counter would wait as long.
  const counting = await countInstructions(Deno.pid);
  if (counting === null) return;
  let sum = 0;
  for (let i = 0; i < 1e6; i++) sum += i;
  assert(sum > 0);
  assert(await counting.stop() > 1e5);
});
