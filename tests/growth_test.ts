/** Whatever others repeat in what they send costs in proportion to how often: counted in steps, without a clock. */
import { assert, assertEquals } from "@std/assert";
import { DIMENSIONS, exponentOf, MOST_EXPONENT, sizeOf } from "./support/growth/mod.ts";
import { stepsOf, watched } from "./support/growth/work.ts";

Deno.test("work and output grow no faster than what is repeated", async (t) => {
  for (const { name, prepare, from = 200 } of DIMENSIONS) {
    await t.step(name, () => {
      const steps: number[] = [];
      const sizes: number[] = [];
      for (const n of [from, 2 * from, 4 * from]) {
        steps.push(stepsOf(prepare(n, watched)));
        sizes.push(sizeOf(prepare(n, (value) => value)()));
      }
      assert(exponentOf(steps) <= MOST_EXPONENT, `steps ${steps.join(", ")}`);
      assert(exponentOf(sizes) <= MOST_EXPONENT, `characters ${sizes.join(", ")}`);
    });
  }
});

Deno.test("stepsOf() sees what grows with the square", () => {
  const square: Record<string, (list: number[]) => unknown> = {
    includes: (list) => list.filter((x) => !list.includes(-x - 1)),
    shift: (list) => {
      const rest = [...list];
      while (rest.length > 0) rest.shift();
    },
    findIndex: (list) => list.map((x) => list.findIndex((y) => y === x)),
    "reading again": (list) => {
      let sum = 0;
      for (const x of list) for (const y of list) sum += x * y;
      return sum;
    },
    concat: (list) => list.reduce((all: number[], x) => all.concat(x), []),
  };
  for (const [name, work] of Object.entries(square)) {
    const steps = [100, 200, 400].map((n) => {
      const list = watched(Array.from({ length: n }, (_, i) => i));
      return stepsOf(() => work(list));
    });
    assert(exponentOf(steps) > 1.6, `${name}: ${steps.join(", ")}`);
  }
  const linear = [100, 200, 400].map((n) => {
    const list = watched(Array.from({ length: n }, (_, i) => i));
    return stepsOf(() => list.map((x) => x + 1).filter((x) => x > 5));
  });
  assertEquals(Math.round(10 * exponentOf(linear)), 10);
});
