import { assert, assertEquals } from "@std/assert";
import { apgr } from "../../../../src/models/autoroute/training/curve.ts";
import { features } from "../../../../src/models/autoroute/features.ts";
import { type Example, fit, folds } from "../../../../src/models/autoroute/training/fit.ts";
import { type DifficultyModel, hashIndexOf, score } from "../../../../src/models/autoroute/model.ts";
import { pack } from "../../../../src/models/autoroute/training/pack.ts";
import { sharedTest } from "../../../support/shared.ts";
import { labelled } from "../labelled.ts";

function complete(parts: Omit<DifficultyModel, "quantiles">): DifficultyModel {
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
  const places = hashIndexOf(model.words.hashes);
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

Deno.test("folds() fills evenly and depends only on the seed", () => {
  const fold = folds(103, 5, 3);
  assertEquals([0, 1, 2, 3, 4].map((f) => fold.filter((x) => x === f).length), [21, 21, 21, 20, 20]);
  assertEquals(fold, folds(103, 5, 3));
  assert(folds(103, 5, 4).some((f, i) => f !== fold[i]));
});

sharedTest("routing/dev.jsonl.gz", "a fit on half the labelled prompts routes the other half", async () => {
  const all = await labelled();
  const half = folds(all.length, 2, 11);
  const model = complete(fit(all.filter((_, i) => half[i] === 0), () => {}));
  const places = hashIndexOf(model.words.hashes);
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
