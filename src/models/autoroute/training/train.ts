/**
 * `deno task train-router PROMPTS [DIRECTORY]`: reads labelled prompts (JSON lines, optionally gzipped:
 * `bench`, `domain`, `prompt`, and whether the `weak` and the `strong` model answered right), evaluates with
 * cross-validation, and writes `weights.json` and `curve.svg` to DIRECTORY, by default the one that the
 * gateway reads. The output is deterministic.
 */

import { apgr, type Judged, picture } from "./curve.ts";
import { type Features, features, type Kind } from "../features.ts";
import { type Example, fit, folds } from "./fit.ts";
import { type DifficultyModel, hashIndexOf, rank, score } from "../model.ts";
import { pack } from "./pack.ts";

/** The directory from which the gateway reads its weights. */
const SERVED = `${import.meta.dirname}/..`;

const FOLDS = 5;
const REPEATS = 2;
const SUBJECT_GROUPS = 8;
const RANKS = 100;

interface LabelledPrompt extends Example {
  length: number;
  /** The same question without its answer options, as people ask it; used for the ranks of open questions. */
  bare: Features;
}

/** Per repeat and prompt, scored by a fit without that prompt. */
interface Unseen {
  full: number[];
  bare: number[];
}

if (import.meta.main) {
  const [input, directory = SERVED] = Deno.args;
  if (input === undefined) {
    console.error("usage: deno task train-router PROMPTS.jsonl[.gz] [DIRECTORY]");
    Deno.exit(2);
  }
  await train(input, directory);
}

async function train(input: string, directory: string): Promise<void> {
  const prompts = await read(input);
  console.log(`${prompts.length} prompts`);

  const repeats: Unseen[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const fold = folds(prompts.length, FOLDS, repeat + 1);
    const unseen = crossValidate(prompts, fold, `repeat ${repeat + 1}`);
    repeats.push(unseen);
    report(`new prompts, repeat ${repeat + 1}`, prompts, unseen.full);
  }
  for (let repeat = 1; repeat <= REPEATS; repeat++) {
    const name = `new subjects, repeat ${repeat}`;
    const { full } = crossValidate(prompts, subjectFolds(prompts, repeat), name);
    report(name, prompts.filter(hasSubject), full.filter((_, i) => hasSubject(prompts[i])));
  }

  const quantiles = quantilesOf(prompts, repeats);
  reportShares(prompts, repeats[0], quantiles);

  const model: DifficultyModel = { ...fit(prompts, (line) => console.log(`final: ${line}`)), quantiles };
  const weights = JSON.stringify(pack(model)) + "\n";
  await Deno.writeTextFile(`${directory}/weights.json`, weights);
  await Deno.writeTextFile(`${directory}/curve.svg`, picture(panels(prompts, repeats[0])));
  console.log(`wrote ${directory}/weights.json, ${weights.length} bytes, and curve.svg`);
}

async function read(path: string): Promise<LabelledPrompt[]> {
  let stream: ReadableStream<Uint8Array<ArrayBuffer>> = (await Deno.open(path)).readable;
  if (path.endsWith(".gz")) stream = stream.pipeThrough(new DecompressionStream("gzip"));
  const lines = (await new Response(stream).text()).split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const { bench, domain, prompt, weak, strong } = JSON.parse(line);
    return {
      bench,
      domain,
      weak: Number(weak),
      strong: Number(strong),
      length: prompt.length,
      features: features(prompt),
      bare: features(prompt.split(/\n\(?A[.)] /)[0]),
    };
  });
}

/** Whole subjects are held out together. */
function subjectFolds(prompts: readonly LabelledPrompt[], seed: number): number[] {
  const subjects = [...new Set(prompts.map((p) => p.domain))].sort();
  const fold = folds(subjects.length, SUBJECT_GROUPS, seed);
  return prompts.map((p) => fold[subjects.indexOf(p.domain)]);
}

/** A bench of a single subject has no other subject to learn from. */
function hasSubject({ bench, domain }: LabelledPrompt): boolean {
  return domain !== bench;
}

function crossValidate(prompts: readonly LabelledPrompt[], fold: readonly number[], name: string): Unseen {
  const full = new Array<number>(prompts.length);
  const bare = new Array<number>(prompts.length);
  for (const held of [...new Set(fold)].sort((a, b) => a - b)) {
    const parts = fit(prompts.filter((_, i) => fold[i] !== held), () => {});
    const model: DifficultyModel = { ...parts, quantiles: { choice: [], sum: [], open: [] } };
    const places = hashIndexOf(model.words.hashes);
    prompts.forEach((prompt, i) => {
      if (fold[i] !== held) return;
      full[i] = score(model, places, prompt.features);
      bare[i] = score(model, places, prompt.bare);
    });
    console.log(`${name}: part ${held + 1} held out`);
  }
  return { full, bare };
}

function judge(prompts: readonly LabelledPrompt[], scores: readonly number[], bench: string): Judged[] {
  return prompts.map(({ weak, strong }, i) => ({ score: scores[i], weak, strong }))
    .filter((_, i) => prompts[i].bench === bench);
}

function benches(prompts: readonly LabelledPrompt[]): string[] {
  return [...new Set(prompts.map((p) => p.bench))].sort();
}

function report(name: string, prompts: readonly LabelledPrompt[], scores: readonly number[]): void {
  const figures = benches(prompts).map((bench) =>
    `${bench} ${apgr(judge(prompts, scores, bench)).toFixed(4)}`
  );
  console.log(`APGR on ${name}: ${figures.join(", ")}`);
}

/**
 * Each kind has its own ranks, because a fixed score would send nearly all or nearly none of one kind to the
 * strong model.
 */
function quantilesOf(prompts: readonly LabelledPrompt[], repeats: readonly Unseen[]): Record<Kind, number[]> {
  const scores: Record<Kind, number[]> = { choice: [], sum: [], open: [] };
  for (const { full, bare } of repeats) {
    prompts.forEach((prompt, i) => {
      scores[prompt.features.kind].push(full[i]);
      if (prompt.bare.kind === "open" && prompt.features.kind !== "open") scores.open.push(bare[i]);
    });
  }
  const quantiles = (values: number[]) => {
    values.sort((a, b) => a - b);
    return Array.from({ length: RANKS + 1 }, (_, r) => Number(at(values, r / RANKS).toFixed(5)));
  };
  return { choice: quantiles(scores.choice), sum: quantiles(scores.sum), open: quantiles(scores.open) };
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.round(share * (sorted.length - 1))] ?? 0;
}

function reportShares(
  prompts: readonly LabelledPrompt[],
  { full }: Unseen,
  quantiles: Record<Kind, number[]>,
): void {
  for (const bench of benches(prompts)) {
    const ranks = prompts.map((p, i) => rank(quantiles[p.features.kind], full[i])).filter((_, i) =>
      prompts[i].bench === bench
    );
    const shares = Array.from({ length: 9 }, (_, k) => (k + 1) / 10).map((quality) => {
      const strong = ranks.filter((r) => r > 1 - quality).length / ranks.length;
      return `${quality}: ${(100 * strong).toFixed(0)} %`;
    });
    console.log(`${bench}, strong calls by quality: ${shares.join(", ")}`);
  }
}

function panels(prompts: readonly LabelledPrompt[], { full }: Unseen) {
  const lengths = prompts.map((p) => p.length);
  return benches(prompts).map((bench) => ({
    title: `${bench.toUpperCase()}: answers right`,
    lines: [
      { name: "length", color: "#d08a2e", judged: judge(prompts, lengths, bench) },
      { name: "svc/auto", color: "#2563b0", judged: judge(prompts, full, bench) },
    ],
  }));
}
