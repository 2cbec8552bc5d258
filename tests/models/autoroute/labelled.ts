/** The labelled prompts that the shipped weights were trained on. */

import { features } from "../../../src/models/autoroute/features.ts";
import type { Example } from "../../../src/models/autoroute/training/fit.ts";
import { readSharedLines } from "../../support/shared.ts";

interface Row {
  bench: string;
  domain: string;
  prompt: string;
  weak: unknown;
  strong: unknown;
}

export async function labelled(): Promise<Example[]> {
  const rows = await readSharedLines<Row>("routing/dev.jsonl.gz");
  return rows.map(({ bench, domain, prompt, weak, strong }) => ({
    bench,
    domain,
    weak: Number(weak),
    strong: Number(strong),
    features: features(prompt),
  }));
}
