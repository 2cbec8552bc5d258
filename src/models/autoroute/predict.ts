/**
 * The difficulty of a prompt, and the choice between models by difficulty and wanted quality. Pure and
 * synchronous: a fitted model (see `training/`), no network, no second model.
 */

import { FEATURE_NAMES, type Features, features } from "./features.ts";
import { type DifficultyModel, hashIndexOf, type PackedModel, rank, score, unpack } from "./model.ts";
import weights from "./weights.json" with { type: "json" };

export interface Difficulty {
  /** Expected gain of a strong model over a weak one, as the share of typical prompts with a lower gain: 0..1. */
  gain: number;
  /** Description of the prompt in a few tokens without spaces: "sum,quantities:4,words:52". */
  reason: string;
}

export interface RoutingCandidate {
  id: string;
  /** In any unit that is the same for all candidates. */
  price: number;
  /** In any unit that is the same for all candidates; if any lacks it, the order of prices is used for all. */
  strength?: number;
}

const model: DifficultyModel = unpack(weights as PackedModel);
const places = hashIndexOf(model.words.hashes);

/** `text`: the system prompt and the last user turns. */
export function difficulty(text: string): Difficulty {
  const prompt = features(text);
  const gain = rank(model.quantiles[prompt.kind], score(model, places, prompt));
  return { gain: prompt.kind === "open" ? Math.max(gain, workload(prompt)) : gain, reason: describe(prompt) };
}

/**
 * The candidate with the highest `odds · strength − price`, both scaled to 0..1 over the candidates. `odds`
 * is one where gain equals 1 − quality, so of two candidates the stronger one answers the share `quality` of
 * typical traffic; a third candidate between them is chosen if it has more strength for its price than
 * either. Quality 0 always means the cheapest and 1 the strongest.
 */
export function chooseByQuality(
  candidates: readonly RoutingCandidate[],
  { gain, reason }: Difficulty,
  quality: number,
): { id: string; reason: string } {
  if (candidates.length === 0) throw new Error("Cannot choose a model: expected at least 1 candidate, got 0");
  const ordered = ranked(candidates);
  const said = `${reason},gain:${gain.toFixed(2)},quality:${quality}`;
  if (!(quality > 0)) return { id: ordered[0].id, reason: said };
  if (quality >= 1) {
    const strongest = ordered.reduce((best, next) => next.strength > best.strength ? next : best);
    return { id: strongest.id, reason: said };
  }
  // Ranks of exactly 0 and 1 are the ends of the training data, not certainty.
  const likely = Math.min(0.999, Math.max(0.001, gain));
  const odds = likely * quality / ((1 - likely) * (1 - quality));
  const price = scaled(ordered.map((c) => c.price));
  const strength = scaled(ordered.map((c) => c.strength));
  let best = 0;
  for (let i = 1; i < ordered.length; i++) {
    if (odds * strength[i] - price[i] > odds * strength[best] - price[best]) best = i;
  }
  return { id: ordered[best].id, reason: said };
}

/** Cheapest first; with equal prices the stronger first. */
function ranked(candidates: readonly RoutingCandidate[]): Required<RoutingCandidate>[] {
  const byPrice = candidates.toSorted((a, b) => a.price - b.price || (b.strength ?? 0) - (a.strength ?? 0));
  const allKnown = byPrice.every((c) => c.strength !== undefined);
  return byPrice.map((c, i) => ({ ...c, strength: allKnown ? c.strength! : i }));
}

function scaled(values: number[]): number[] {
  const low = Math.min(...values);
  const range = Math.max(...values) - low;
  return values.map((v) => range > 0 ? (v - low) / range : 0);
}

/**
 * The labelled prompts are questions with one right answer; they say nothing about writing, code or proofs.
 * So an open prompt ranks at least as high as the amount of such work it asks for: a rule, not a fit.
 */
function workload({ dense }: Features): number {
  const words = Math.expm1(dense[WORDS]);
  const tasks = Math.expm1(dense[TASK]);
  const formal = Math.expm1(dense[FORMAL]);
  return 1 - Math.exp(-(0.4 * tasks + 0.7 * formal + 0.25 * dense[SYMBOLS] + words / 200));
}

const TOLD = ["quantities", "law", "medicine", "ought", "formal", "task", "symbols", "negation"].map((
  name,
) => ({
  name,
  at: FEATURE_NAMES.indexOf(name),
}));
const [WORDS, TASK, FORMAL, SYMBOLS] = ["questionWords", "task", "formal", "symbols"].map((name) =>
  FEATURE_NAMES.indexOf(name)
);

/** The kind, the two most frequent traits of the question, and its length. */
function describe({ kind, dense }: Features): string {
  const traits = TOLD.map(({ name, at }) => ({ name, count: Math.round(Math.expm1(dense[at])) }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count)
    .slice(0, 2)
    .map(({ name, count }) => `${name}:${count}`);
  return [kind, ...traits, `words:${Math.round(Math.expm1(dense[WORDS]))}`].join(",");
}
