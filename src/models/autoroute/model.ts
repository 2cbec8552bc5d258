/**
 * The fitted difficulty model: scoring of features, and its file format. Two predictors of P(strong model
 * right) − P(weak model right):
 *
 * - for every prompt, four linear heads over the words (expected gain, weak right, strong right, mean gain of
 *   the subject), read together with the dense features by small regression trees;
 * - for word problems also a short linear form over a few dense features, because there are too few such
 *   prompts to fit the trees.
 *
 * Scores are comparable only within one kind of prompt; `quantiles` of each kind convert them to a rank.
 */

import { FEATURE_NAMES, type Features, type Kind } from "./features.ts";

/** In the order of `Words.heads`. */
export const HEADS = ["gain", "weak", "strong", "subject"] as const;
/** Weight of the trees in the score; the rest is the linear gain head, which smooths their steps. */
const TREES_SHARE = 0.7;
/** Weight of the short linear form in the score of a word problem. */
const SUM_SHARE = 0.75;

/**
 * Linear heads over word hashes; the value of a gram is (1 + ln count) · idf, with rows normalized to length
 * one.
 */
export interface Words {
  /** Ascending. */
  hashes: Uint32Array;
  /** In steps of 1/20. */
  idf: Uint8Array;
  /** `HEADS.length` weights per gram, in steps of `scale[head]`. */
  weights: Int8Array;
  scale: Float32Array;
  bias: Float32Array;
}

/** Binary trees in one array each: node n tests `feature[n]` <= `threshold[n]`; a negative child is leaf ~child. */
export interface Trees {
  base: number;
  roots: Uint16Array;
  feature: Uint8Array;
  threshold: Float32Array;
  left: Int16Array;
  right: Int16Array;
  leaf: Float32Array;
}

export interface Sums {
  bias: number;
  terms: { feature: string; mean: number; deviation: number; weight: number }[];
}

export interface DifficultyModel {
  words: Words;
  trees: Trees;
  sums: Sums;
  /** Scores at evenly spaced ranks of typical prompts, ascending. */
  quantiles: Record<Kind, number[]>;
}

export const IDF_STEP = 1 / 20;

/** Expected gain; comparable only within one kind. */
export function score(model: DifficultyModel, index: HashIndex, prompt: Features): number {
  const row = new Float64Array(prompt.dense.length + HEADS.length);
  row.set(prompt.dense);
  const heads = headsOf(model.words, index, prompt);
  row.set(heads, prompt.dense.length);
  const all = TREES_SHARE * sumOfTrees(model.trees, row) + (1 - TREES_SHARE) * heads[0];
  if (prompt.kind !== "sum") return all;
  return SUM_SHARE * sumScore(model.sums, prompt.dense) + (1 - SUM_SHARE) * all;
}

/** Share of typical prompts of this kind with a lower score. */
export function rank(quantiles: readonly number[], value: number): number {
  let low = 0, high = quantiles.length - 1;
  if (!(value > quantiles[low])) return 0;
  if (value >= quantiles[high]) return 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (quantiles[middle] <= value) low = middle;
    else high = middle;
  }
  const part = (value - quantiles[low]) / (quantiles[high] - quantiles[low]);
  return (low + part) / (quantiles.length - 1);
}

/** Positions of hashes in `Words.hashes`: open addressing, −1 for none. */
export interface HashIndex {
  slots: Int32Array;
  mask: number;
}

/** A hash index of words: open addressing in a table whose size is a power of two. */
export function hashIndexOf(hashes: Uint32Array): HashIndex {
  let size = 2;
  while (size < hashes.length * 3) size *= 2;
  const slots = new Int32Array(size).fill(-1);
  for (let i = 0; i < hashes.length; i++) {
    let slot = hashes[i] & (size - 1);
    while (slots[slot] !== -1) slot = (slot + 1) & (size - 1);
    slots[slot] = i;
  }
  return { slots, mask: size - 1 };
}

/** Position of a word in the vocabulary; -1: not in it. */
export function positionOf(words: Words, index: HashIndex, hash: number): number {
  let slot = hash & index.mask;
  for (; index.slots[slot] !== -1; slot = (slot + 1) & index.mask) {
    if (words.hashes[index.slots[slot]] === hash) return index.slots[slot];
  }
  return -1;
}

/** The TF-IDF weight of a word that occurs `count` times. */
export function gramValue(words: Words, at: number, count: number): number {
  return (1 + Math.log(count)) * words.idf[at] * IDF_STEP;
}

function headsOf(words: Words, index: HashIndex, prompt: Features): Float64Array {
  const n = HEADS.length;
  const sums = new Float64Array(n);
  let square = 0;
  for (let i = 0; i < prompt.grams.length; i++) {
    const at = positionOf(words, index, prompt.grams[i]);
    if (at === -1) continue;
    const value = gramValue(words, at, prompt.counts[i]);
    square += value * value;
    for (let h = 0; h < n; h++) sums[h] += value * words.weights[at * n + h];
  }
  const length = Math.sqrt(square) || 1;
  for (let h = 0; h < n; h++) sums[h] = words.bias[h] + sums[h] * words.scale[h] / length;
  return sums;
}

/** The prediction of boosted trees for one row. */
export function sumOfTrees(trees: Trees, row: Float64Array): number {
  let sum = trees.base;
  for (const root of trees.roots) {
    let node: number = root;
    while (node >= 0) {
      node = row[trees.feature[node]] <= trees.threshold[node] ? trees.left[node] : trees.right[node];
    }
    sum += trees.leaf[~node];
  }
  return sum;
}

/** Values are clipped so that a single unusual feature cannot decide alone. */
export function standardized(value: number, mean: number, deviation: number): number {
  return Math.max(-3, Math.min(3, (value - mean) / deviation));
}

function sumScore(sums: Sums, dense: Float64Array): number {
  let sum = sums.bias;
  for (const { feature, mean, deviation, weight } of sums.terms) {
    sum += weight * standardized(dense[FEATURE_NAMES.indexOf(feature)], mean, deviation);
  }
  return sum;
}

/** The format of `weights.json`: arrays as base64 of their little-endian bytes. */
export interface PackedModel {
  features: readonly string[];
  words: Record<keyof Words, string>;
  trees: Record<Exclude<keyof Trees, "base">, string> & { base: number };
  sums: Sums;
  quantiles: Record<Kind, number[]>;
}

/** Unpacks weights. Throws if they were trained on other features. */
export function unpack({ features, words, trees, sums, quantiles }: PackedModel): DifficultyModel {
  if (features.join() !== FEATURE_NAMES.join()) {
    throw new Error(
      "Cannot read router weights: they were trained on other features, run `deno task train-router`",
    );
  }
  return {
    words: {
      hashes: new Uint32Array(decode(words.hashes)),
      idf: new Uint8Array(decode(words.idf)),
      weights: new Int8Array(decode(words.weights)),
      scale: new Float32Array(decode(words.scale)),
      bias: new Float32Array(decode(words.bias)),
    },
    trees: {
      base: trees.base,
      roots: new Uint16Array(decode(trees.roots)),
      feature: new Uint8Array(decode(trees.feature)),
      threshold: new Float32Array(decode(trees.threshold)),
      left: new Int16Array(decode(trees.left)),
      right: new Int16Array(decode(trees.right)),
      leaf: new Float32Array(decode(trees.leaf)),
    },
    sums,
    quantiles,
  };
}

function decode(base64: string): ArrayBuffer {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes.buffer;
}
