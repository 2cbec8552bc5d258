/**
 * Fits a model on labelled prompts. The trees read the linear heads, so during training the heads of each
 * prompt come from a fit without it (cross-fitting); otherwise the trees would trust the words far too much
 * on new prompts.
 */

import { boost, type BoostOptions, random } from "./boost.ts";
import { FEATURE_NAMES, type Features } from "../features.ts";
import {
  type DifficultyModel,
  gramValue,
  hashIndexOf,
  HEADS,
  IDF_STEP,
  positionOf,
  standardized,
  type Sums,
  type Words,
} from "../model.ts";
import { dotRow, type RegressionLine, ridge, type SparseRow } from "./ridge.ts";

export interface Example {
  bench: string;
  domain: string;
  weak: number;
  strong: number;
  features: Features;
}

/** Minimum number of prompts that contain a word or pair: a rarer one would identify prompts, not their kind. */
const FEWEST_PROMPTS = 8;
const WORDS_ALPHA = 12;
const INNER_FOLDS = 5;
/** Shrinkage of a subject's mean gain: the weight of the overall mean, in prompts. */
const SUBJECT_PRIOR = 20;
const TREES: BoostOptions = {
  runs: 3,
  trees: 150,
  rate: 0.03,
  leaves: 8,
  rows: 60,
  lambda: 20,
  rowShare: 0.7,
  columnShare: 0.4,
};
/**
 * Features for the score of a word problem; few, because there are few such prompts. Length, people, parts
 * and comparisons indicate chains of steps at which the weak model fails; amounts in cents are where the
 * strong one fails as well.
 */
const SUM_FEATURES = [
  "questionWords",
  "sentences",
  "commas",
  "distinctWords",
  "wordsPerNumber",
  "capitals",
  "names",
  "fraction",
  "slashFraction",
  "left",
  "than",
  "order",
  "decimals",
  "roundCents",
];
const SUM_ALPHA = 1000;

/**
 * Fits the difficulty model.
 *
 * @param log receives progress messages
 */
export function fit(
  examples: readonly Example[],
  log: (line: string) => void,
): Omit<DifficultyModel, "quantiles"> {
  const targets = targetsOf(examples);
  const blank = vocabulary(examples);
  const hashIndex = hashIndexOf(blank.hashes);
  const rows = examples.map(({ features }) => sparse(blank, hashIndex, features));
  const solve = (of: readonly number[]): RegressionLine[] =>
    targets.map((y) => ridge(of.map((i) => rows[i]), of.map((i) => y[i]), blank.hashes.length, WORDS_ALPHA));

  const everything = examples.map((_, i) => i);
  const fold = folds(examples.length, INNER_FOLDS, 7);
  const unseenHeads = new Array<number[]>(examples.length);
  for (let f = 0; f < INNER_FOLDS; f++) {
    const lines = solve(everything.filter((i) => fold[i] !== f));
    for (const i of everything) {
      if (fold[i] === f) unseenHeads[i] = lines.map(({ weights, bias }) => bias + dotRow(rows[i], weights));
    }
    log(`words: part ${f + 1} of ${INNER_FOLDS}`);
  }
  const words = quantized(blank, solve(everything));
  log(`words: ${words.hashes.length} words and pairs`);

  const table = examples.map(({ features }, i) => Float64Array.from([...features.dense, ...unseenHeads[i]]));
  const trees = boost(table, targets[0], {
    ...TREES,
    progress: (run, tree, error) => log(`trees: run ${run}, tree ${tree}, error ${error.toFixed(5)}`),
  });
  return { words, trees, sums: fitSums(examples) };
}

/** A fold number for each of n places, evenly distributed, shuffled by seed. */
export function folds(n: number, count: number, seed: number): number[] {
  const next = random(seed);
  const order = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  const fold = new Array<number>(n);
  order.forEach((at, i) => fold[at] = i % count);
  return fold;
}

/** In the order of `HEADS`. */
function targetsOf(examples: readonly Example[]): number[][] {
  const gain = examples.map((e) => e.strong - e.weak);
  const mean = gain.reduce((sum, g) => sum + g, 0) / gain.length;
  const subjects = new Map<string, { sum: number; count: number }>();
  examples.forEach(({ domain }, i) => {
    const subject = subjects.get(domain) ?? { sum: 0, count: 0 };
    subjects.set(domain, { sum: subject.sum + gain[i], count: subject.count + 1 });
  });
  const subject = examples.map(({ domain }) => {
    const { sum, count } = subjects.get(domain)!;
    return (sum + SUBJECT_PRIOR * mean) / (count + SUBJECT_PRIOR);
  });
  return [gain, examples.map((e) => e.weak), examples.map((e) => e.strong), subject];
}

function vocabulary(examples: readonly Example[]): Words {
  const prompts = new Map<number, number>();
  for (const { features } of examples) {
    for (const gram of features.grams) prompts.set(gram, (prompts.get(gram) ?? 0) + 1);
  }
  const hashes = Uint32Array.from([...prompts].filter(([, n]) => n >= FEWEST_PROMPTS).map(([gram]) => gram))
    .sort();
  const idf = Uint8Array.from(hashes, (gram) => {
    const value = Math.log((1 + examples.length) / (1 + prompts.get(gram)!)) + 1;
    return Math.round(value / IDF_STEP);
  });
  const n = HEADS.length;
  return {
    hashes,
    idf,
    weights: new Int8Array(hashes.length * n),
    scale: new Float32Array(n),
    bias: new Float32Array(n),
  };
}

function sparse(
  words: Words,
  hashIndex: ReturnType<typeof hashIndexOf>,
  { grams, counts }: Features,
): SparseRow {
  const index: number[] = [];
  const value: number[] = [];
  grams.forEach((gram, i) => {
    const at = positionOf(words, hashIndex, gram);
    if (at === -1) return;
    index.push(at);
    value.push(gramValue(words, at, counts[i]));
  });
  const length = Math.hypot(...value) || 1;
  return { index: Uint32Array.from(index), value: Float64Array.from(value, (v) => v / length) };
}

function quantized(words: Words, lines: readonly RegressionLine[]): Words {
  const n = HEADS.length;
  const weights = new Int8Array(words.hashes.length * n);
  const scale = new Float32Array(n);
  lines.forEach((line, h) => {
    const largest = line.weights.reduce((most, w) => Math.max(most, Math.abs(w)), 1e-12);
    scale[h] = largest / 127;
    line.weights.forEach((w, at) => weights[at * n + h] = Math.round(w / scale[h]));
  });
  return { ...words, weights, scale, bias: Float32Array.from(lines, (line) => line.bias) };
}

function fitSums(examples: readonly Example[]): Sums {
  const sums = examples.filter(({ features }) => features.kind === "sum");
  if (sums.length === 0) return { bias: 0, terms: [] };
  const columns = SUM_FEATURES.map((feature) => {
    const at = FEATURE_NAMES.indexOf(feature);
    const values = sums.map((e) => e.features.dense[at]);
    const mean = values.reduce((sum, v) => sum + v, 0) / values.length;
    const deviation = Math.sqrt(values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / values.length) || 1;
    return { feature, mean, deviation, values: values.map((v) => standardized(v, mean, deviation)) };
  });
  const index = Uint32Array.from(columns, (_, c) => c);
  const rows = sums.map((_, i) => ({ index, value: Float64Array.from(columns, (c) => c.values[i]) }));
  const line = ridge(rows, sums.map((e) => e.strong - e.weak), columns.length, SUM_ALPHA);
  return {
    bias: line.bias,
    terms: columns.map(({ feature, mean, deviation }, c) => ({
      feature,
      mean,
      deviation,
      weight: line.weights[c],
    })),
  };
}
