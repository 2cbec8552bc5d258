import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { boost, type BoostOptions, random } from "../../../../src/models/autoroute/training/boost.ts";
import { sumOfTrees } from "../../../../src/models/autoroute/model.ts";

const OPTIONS: BoostOptions = {
  runs: 2,
  trees: 80,
  rate: 0.1,
  leaves: 4,
  rows: 5,
  lambda: 1,
  rowShare: 0.8,
  columnShare: 1,
};

function table(): { rows: Float64Array[]; y: number[] } {
  const next = random(5);
  const rows = Array.from({ length: 600 }, () => Float64Array.of(next(), next(), 1));
  return { rows, y: rows.map(([a, b]) => (a > 0.5) === (b > 0.3) ? 1 : 0) };
}

Deno.test("boost() learns what two columns mean only together", () => {
  const { rows, y } = table();
  const trees = boost(rows, y, OPTIONS);
  const wrong = rows.filter((row, i) => Math.abs(sumOfTrees(trees, row) - y[i]) > 0.5).length;
  assert(wrong < 15, `${wrong} of ${rows.length} wrong`);
});

Deno.test("boost() gives the same trees for the same rows", () => {
  const { rows, y } = table();
  assertEquals(boost(rows, y, OPTIONS), boost(rows, y, OPTIONS));
});

Deno.test("boost() answers the mean where no split is allowed", () => {
  const { rows, y } = table();
  const trees = boost(rows, y, { ...OPTIONS, rows: 400 });
  assertEquals(trees.roots.length, 0);
  assertAlmostEquals(sumOfTrees(trees, rows[0]), y.reduce((sum, v) => sum + v, 0) / y.length, 1e-9);
});
