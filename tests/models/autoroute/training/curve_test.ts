import { assertAlmostEquals, assertEquals, assertStringIncludes } from "@std/assert";
import { apgr, curve, type Judged, picture } from "../../../../src/models/autoroute/training/curve.ts";

function judged(...rows: [score: number, weak: number, strong: number][]): Judged[] {
  return rows.map(([score, weak, strong]) => ({ score, weak, strong }));
}

Deno.test("apgr() is a half for one score, more for gains first, less for gains last", () => {
  assertAlmostEquals(apgr(judged([1, 0, 1], [1, 1, 1], [1, 0, 0], [1, 0, 1])), 0.5);
  assertAlmostEquals(apgr(judged([4, 0, 1], [3, 0, 1], [2, 1, 1], [1, 0, 0])), 0.75);
  assertAlmostEquals(apgr(judged([1, 0, 1], [2, 0, 1], [3, 1, 1], [4, 0, 0])), 0.25);
});

Deno.test("apgr() goes above one where the strong model's own mistakes are avoided", () => {
  assertAlmostEquals(apgr(judged([3, 0, 1], [2, 0, 1], [1, 1, 0])), (0.5 + 1.5 + 1.5) / 3);
});

Deno.test("curve() shares equal scores out whatever their order", () => {
  const one = judged([1, 0, 1], [1, 1, 1], [0, 0, 0]);
  const other = judged([1, 1, 1], [1, 0, 1], [0, 0, 0]);
  assertEquals(curve(one), curve(other));
  assertEquals(curve(one).map((p) => p.share), [0, 2 / 3, 1]);
});

Deno.test("picture() names each line with its figure", () => {
  const lines = [{ name: "router", color: "#000", judged: judged([2, 0, 1], [1, 1, 1]) }];
  const svg = picture([{ title: "BENCH", lines }]);
  assertStringIncludes(svg, "router 0.750");
  assertStringIncludes(svg, "BENCH");
});
