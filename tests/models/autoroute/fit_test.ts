import { assert, assertEquals } from "@std/assert";
import { apgr } from "../../../src/models/autoroute/curve.ts";
import { features } from "../../../src/models/autoroute/features.ts";
import { type Example, fit, folds } from "../../../src/models/autoroute/fit.ts";
import {
  type Model,
  pack,
  type PackedModel,
  placesOf,
  rank,
  score,
  unpack,
} from "../../../src/models/autoroute/model.ts";
import shipped from "../../../src/models/autoroute/weights.json" with { type: "json" };

const LABELLED = new URL("../../../../shared/routing/dev.jsonl.gz", import.meta.url);

/** Null where the labelled prompts are not at hand. */
async function examples(): Promise<Example[] | null> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = await Deno.readFile(LABELLED);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    console.log(`skipped: no labelled prompts at ${LABELLED.pathname}`);
    return null;
  }
  const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")))
    .text();
  return text.trim().split("\n").map((line) => JSON.parse(line)).map((
    { bench, domain, prompt, weak, strong },
  ) => ({
    bench,
    domain,
    weak: Number(weak),
    strong: Number(strong),
    features: features(prompt),
  }));
}

function complete(parts: Omit<Model, "quantiles">): Model {
  return { ...parts, quantiles: { choice: [0, 1], sum: [0, 1], open: [0, 1] } };
}

/** Prompts whose gain one word decides, told apart by filler words. */
function made(): Example[] {
  return Array.from({ length: 400 }, (_, i) => {
    const hard = i % 2 === 0;
    const prompt = `Is the ${hard ? "thorny" : "plain"} matter of case ${"abcdefghij"[i % 10]} settled ${
      "uvwxyz"[i % 6]
    }?`;
    return { bench: "made", domain: `d${i % 4}`, weak: hard ? 0 : 1, strong: 1, features: features(prompt) };
  });
}

Deno.test("fit() learns a word that decides, and packs to the same bytes every time", () => {
  const model = complete(fit(made(), () => {}));
  const places = placesOf(model.words.hashes);
  const thorny = score(model, places, features("Is the thorny matter settled?"));
  const plain = score(model, places, features("Is the plain matter settled?"));
  assert(thorny > plain + 0.3, `${thorny} and ${plain}`);
  assertEquals(JSON.stringify(pack(complete(fit(made(), () => {})))), JSON.stringify(pack(model)));
});

Deno.test("fit() leaves out words of few prompts", () => {
  const rare = made().map((example, i) =>
    i < 7 ? { ...example, features: features("Is the thorny matter of xylophones settled?") } : example
  );
  const known = new Set(fit(rare, () => {}).words.hashes);
  assert(known.has(features("thorny").grams[0]));
  assert(!known.has(features("xylophones").grams[0]));
});

Deno.test("unpack() gives the model back and refuses weights of other features", () => {
  const packed = shipped as PackedModel;
  assertEquals(JSON.stringify(pack(unpack(packed))), JSON.stringify(packed));
  let message = "";
  try {
    unpack({ ...packed, features: ["chars"] });
  } catch (error) {
    message = String(error);
  }
  assert(message.includes("trained on other features"), message);
});

Deno.test("weights.json is small enough to be embedded", () => {
  assert(JSON.stringify(shipped).length < 300_000);
});

Deno.test("rank() is linear between quantiles and ends at 0 and 1", () => {
  const quantiles = [0, 1, 3, 3, 7];
  assertEquals([-1, 0, 0.5, 2, 5, 7, 9].map((v) => rank(quantiles, v)), [0, 0, 0.125, 0.375, 0.875, 1, 1]);
});

Deno.test("folds() fills evenly and depends only on the seed", () => {
  const fold = folds(103, 5, 3);
  assertEquals([0, 1, 2, 3, 4].map((f) => fold.filter((x) => x === f).length), [21, 21, 21, 20, 20]);
  assertEquals(fold, folds(103, 5, 3));
  assert(folds(103, 5, 4).some((f, i) => f !== fold[i]));
});

Deno.test("a fit on half the labelled prompts routes the other half", async () => {
  const all = await examples();
  if (all === null) return;
  const half = folds(all.length, 2, 11);
  const model = complete(fit(all.filter((_, i) => half[i] === 0), () => {}));
  const places = placesOf(model.words.hashes);
  const judged = all.filter((_, i) => half[i] === 1).map((e) => ({
    ...e,
    score: score(model, places, e.features),
  }));
  const mmlu = apgr(judged.filter((e) => e.bench === "mmlu"));
  const gsm8k = apgr(judged.filter((e) => e.bench === "gsm8k"));
  assert(mmlu > 0.66, `MMLU ${mmlu}`);
  // Half of 662 prompts: one standard error is 0.04.
  assert(gsm8k > 0.56, `GSM8K ${gsm8k}`);
});

Deno.test("the shipped ranks spread each bench over the whole range of quality", async () => {
  const all = await examples();
  if (all === null) return;
  const model = unpack(shipped as PackedModel);
  const places = placesOf(model.words.hashes);
  for (const bench of ["mmlu", "gsm8k"]) {
    const ranks = all.filter((e) => e.bench === bench)
      .map((e) => rank(model.quantiles[e.features.kind], score(model, places, e.features)));
    for (const quality of [0.1, 0.3, 0.5, 0.7, 0.9]) {
      const share = ranks.filter((r) => r > 1 - quality).length / ranks.length;
      assert(Math.abs(share - quality) < 0.08, `${bench}, quality ${quality}: ${share}`);
    }
  }
});

Deno.test("the shipped words each stand in many labelled prompts", async () => {
  const all = await examples();
  if (all === null) return;
  const prompts = new Map<number, number>();
  for (const e of all) for (const gram of e.features.grams) prompts.set(gram, (prompts.get(gram) ?? 0) + 1);
  for (const gram of unpack(shipped as PackedModel).words.hashes) assert((prompts.get(gram) ?? 0) >= 8);
});
