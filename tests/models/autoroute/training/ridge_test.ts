import { assertAlmostEquals } from "@std/assert";
import { ridge, type SparseRow } from "../../../../src/models/autoroute/training/ridge.ts";

function row(...values: number[]): SparseRow {
  const index = values.map((_, i) => i).filter((i) => values[i] !== 0);
  return { index: Uint32Array.from(index), value: Float64Array.from(index, (i) => values[i]) };
}

Deno.test("ridge() finds the line that the rows lie on when nothing shrinks it", () => {
  const rows = [row(1, 0), row(0, 1), row(1, 1), row(2, 5), row(3, 0)];
  const line = ridge(rows, rows.map((r) => 2 * at(r, 0) - 3 * at(r, 1) + 4), 2, 1e-9);
  assertAlmostEquals(line.weights[0], 2, 1e-4);
  assertAlmostEquals(line.weights[1], -3, 1e-4);
  assertAlmostEquals(line.bias, 4, 1e-4);
});

Deno.test("ridge() shrinks weights by alpha and leaves the mean alone", () => {
  // Centred x is -1, 0, 1, so the weight is 2·slope / (2 + alpha).
  const line = ridge([row(0), row(1), row(2)], [10, 13, 16], 1, 4);
  assertAlmostEquals(line.weights[0], 2 * 3 / 6, 1e-6);
  assertAlmostEquals(line.bias + line.weights[0], 13, 1e-6);
});

function at({ index, value }: SparseRow, column: number): number {
  const place = index.indexOf(column);
  return place === -1 ? 0 : value[place];
}
