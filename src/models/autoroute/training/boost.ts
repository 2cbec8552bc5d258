/**
 * Gradient-boosted regression trees with squared error: columns divided into at most 64 bins by quantile,
 * trees grown leaf by leaf from the best split, each on a random part of rows and columns. Several runs with
 * different seeds are averaged into one list of trees.
 */

import type { Trees } from "../model.ts";

const BINS = 64;

export interface BoostOptions {
  runs: number;
  trees: number;
  rate: number;
  leaves: number;
  /** Minimum number of rows per leaf. */
  rows: number;
  /** Added to a leaf's row count, which shrinks its value. */
  lambda: number;
  rowShare: number;
  columnShare: number;
  /** Called after every twentieth tree with the training error. */
  progress?: (run: number, tree: number, error: number) => void;
}

/** mulberry32: the same seed gives the same numbers on every machine. */
export function random(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * Fits gradient-boosted trees to `y`; deterministic.
 *
 * @param rows all of the same length
 */
export function boost(rows: readonly Float64Array[], y: readonly number[], options: BoostOptions): Trees {
  const columns = rows[0].length;
  const cuts = Array.from({ length: columns }, (_, c) => cutsOf(rows.map((row) => row[c])));
  const binned = cuts.map((cut, c) => Uint8Array.from(rows, (row) => binOf(cut, row[c])));
  const base = y.reduce((sum, v) => sum + v, 0) / y.length;
  const out = new TreeList();

  for (let run = 0; run < options.runs; run++) {
    const next = random(run + 1);
    const residual = Float64Array.from(y, (v) => v - base);
    for (let tree = 0; tree < options.trees; tree++) {
      const chosenRows: number[] = [];
      for (let i = 0; i < rows.length; i++) if (next() < options.rowShare) chosenRows.push(i);
      const chosenColumns: number[] = [];
      for (let c = 0; c < columns; c++) if (next() < options.columnShare) chosenColumns.push(c);
      const grown = grow(binned, residual, chosenRows, chosenColumns, options);
      for (let i = 0; i < rows.length; i++) residual[i] -= options.rate * valueAt(grown, binned, i);
      out.add(grown, cuts, options.rate / options.runs);
      if ((tree + 1) % 20 === 0) {
        options.progress?.(run + 1, tree + 1, residual.reduce((sum, r) => sum + r * r, 0) / rows.length);
      }
    }
  }
  return out.finish(base);
}

/** Upper bounds of all bins but the last, ascending and rounded to the precision that is shipped. */
function cutsOf(values: number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  const cuts: number[] = [];
  for (let b = 1; b < BINS; b++) {
    const at = Math.floor(b * sorted.length / BINS);
    if (at === 0 || sorted[at - 1] === sorted[sorted.length - 1]) continue;
    let above = at;
    while (above < sorted.length && sorted[above] === sorted[at - 1]) above++;
    const cut = Math.fround((sorted[at - 1] + sorted[above]) / 2);
    if (cuts.length === 0 || cut > cuts[cuts.length - 1]) cuts.push(cut);
  }
  return cuts;
}

function binOf(cuts: number[], value: number): number {
  let low = 0, high = cuts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value <= cuts[middle]) high = middle;
    else low = middle + 1;
  }
  return low;
}

type Node = { column: number; bin: number; left: Node; right: Node } | { value: number };
interface Leaf {
  rows: number[];
  split: Split | null;
  put: (node: Node) => void;
}
interface Split {
  gain: number;
  column: number;
  bin: number;
}

function grow(
  binned: Uint8Array[],
  residual: Float64Array,
  rows: number[],
  columns: number[],
  options: BoostOptions,
): Node {
  let root: Node = { value: 0 };
  const leaves: Leaf[] = [
    { rows, split: bestSplit(binned, residual, rows, columns, options), put: (node) => root = node },
  ];
  while (leaves.length < options.leaves) {
    let best: Leaf | null = null;
    for (const leaf of leaves) {
      if (leaf.split !== null && leaf.split.gain > (best?.split?.gain ?? 0)) best = leaf;
    }
    if (best === null || best.split === null) break;
    const { column, bin } = best.split;
    const node = { column, bin, left: { value: 0 } as Node, right: { value: 0 } as Node };
    best.put(node);
    leaves.splice(leaves.indexOf(best), 1);
    for (const side of ["left", "right"] as const) {
      const part = best.rows.filter((i) => (binned[column][i] <= bin) === (side === "left"));
      const split = bestSplit(binned, residual, part, columns, options);
      leaves.push({ rows: part, split, put: (child) => node[side] = child });
    }
  }
  for (const leaf of leaves) {
    let sum = 0;
    for (const i of leaf.rows) sum += residual[i];
    leaf.put({ value: sum / (leaf.rows.length + options.lambda) });
  }
  return root;
}

function bestSplit(
  binned: Uint8Array[],
  residual: Float64Array,
  rows: number[],
  columns: number[],
  options: BoostOptions,
): Split | null {
  if (rows.length < 2 * options.rows) return null;
  let total = 0;
  for (const i of rows) total += residual[i];
  const worth = (sum: number, count: number) => sum * sum / (count + options.lambda);
  const parent = worth(total, rows.length);
  let best: Split | null = null;
  const sums = new Float64Array(BINS);
  const counts = new Int32Array(BINS);
  for (const column of columns) {
    sums.fill(0);
    counts.fill(0);
    const bins = binned[column];
    for (const i of rows) {
      sums[bins[i]] += residual[i];
      counts[bins[i]]++;
    }
    let sum = 0, count = 0;
    for (let bin = 0; bin < BINS - 1; bin++) {
      sum += sums[bin];
      count += counts[bin];
      if (counts[bin] === 0 || count < options.rows) continue;
      if (rows.length - count < options.rows) break;
      const gain = worth(sum, count) + worth(total - sum, rows.length - count) - parent;
      if (gain > 1e-9 && gain > (best?.gain ?? 0)) best = { gain, column, bin };
    }
  }
  return best;
}

function valueAt(node: Node, binned: Uint8Array[], i: number): number {
  while ("left" in node) node = binned[node.column][i] <= node.bin ? node.left : node.right;
  return node.value;
}

class TreeList {
  #roots: number[] = [];
  #feature: number[] = [];
  #threshold: number[] = [];
  #left: number[] = [];
  #right: number[] = [];
  #leaf: number[] = [];

  /** A tree without a split is omitted: its value is almost zero. */
  add(tree: Node, cuts: number[][], factor: number): void {
    const place = (node: Node): number => {
      if (!("left" in node)) return ~(this.#leaf.push(node.value * factor) - 1);
      const at = this.#feature.push(node.column) - 1;
      this.#threshold.push(cuts[node.column][node.bin]);
      this.#left.push(0);
      this.#right.push(0);
      this.#left[at] = place(node.left);
      this.#right[at] = place(node.right);
      return at;
    };
    if ("left" in tree) this.#roots.push(place(tree));
  }

  finish(base: number): Trees {
    return {
      base,
      roots: Uint16Array.from(this.#roots),
      feature: Uint8Array.from(this.#feature),
      threshold: Float32Array.from(this.#threshold),
      left: Int16Array.from(this.#left),
      right: Int16Array.from(this.#right),
      leaf: Float32Array.from(this.#leaf),
    };
  }
}
