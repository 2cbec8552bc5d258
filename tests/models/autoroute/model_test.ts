import { assert, assertEquals, assertThrows } from "@std/assert";
import { hashIndexOf, type PackedModel, rank, score, unpack } from "../../../src/models/autoroute/model.ts";
import { pack } from "../../../src/models/autoroute/training/pack.ts";
import shipped from "../../../src/models/autoroute/weights.json" with { type: "json" };
import { sharedTest } from "../../support/shared.ts";
import { labelled } from "./labelled.ts";

Deno.test("unpack() gives the model back and refuses weights of other features", () => {
  const packed = shipped as PackedModel;
  assertEquals(JSON.stringify(pack(unpack(packed))), JSON.stringify(packed));
  assertThrows(() => unpack({ ...packed, features: ["chars"] }), Error, "trained on other features");
});

Deno.test("weights.json is small enough to be embedded", () => {
  assert(JSON.stringify(shipped).length < 300_000);
});

Deno.test("rank() is linear between quantiles and ends at 0 and 1", () => {
  const quantiles = [0, 1, 3, 3, 7];
  assertEquals([-1, 0, 0.5, 2, 5, 7, 9].map((v) => rank(quantiles, v)), [0, 0, 0.125, 0.375, 0.875, 1, 1]);
});

sharedTest(
  "routing/dev.jsonl.gz",
  "the shipped ranks spread each bench over the whole range of quality",
  async () => {
    const all = await labelled();
    const model = unpack(shipped as PackedModel);
    const places = hashIndexOf(model.words.hashes);
    for (const bench of ["mmlu", "gsm8k"]) {
      const ranks = all.filter((e) => e.bench === bench)
        .map((e) => rank(model.quantiles[e.features.kind], score(model, places, e.features)));
      for (const quality of [0.1, 0.3, 0.5, 0.7, 0.9]) {
        const share = ranks.filter((r) => r > 1 - quality).length / ranks.length;
        assert(Math.abs(share - quality) < 0.08, `${bench}, quality ${quality}: ${share}`);
      }
    }
  },
);

sharedTest("routing/dev.jsonl.gz", "the shipped words each stand in many labelled prompts", async () => {
  const all = await labelled();
  const prompts = new Map<number, number>();
  for (const e of all) for (const gram of e.features.grams) prompts.set(gram, (prompts.get(gram) ?? 0) + 1);
  for (const gram of unpack(shipped as PackedModel).words.hashes) assert((prompts.get(gram) ?? 0) >= 8);
});
