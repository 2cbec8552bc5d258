/** The labelled prompts that the shipped weights were trained on, where they are at hand. */

import { features } from "../../../src/models/autoroute/features.ts";
import type { Example } from "../../../src/models/autoroute/fit.ts";

const LABELLED = new URL("../../../../shared/routing/dev.jsonl.gz", import.meta.url);

/** Null where the labelled prompts are not at hand. */
export async function labelled(): Promise<Example[] | null> {
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
