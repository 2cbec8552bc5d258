/** What administrators see of one generation beside its record: its steps, the prices it was billed at, what screening found. */
import type { Generation, Store } from "../../store/mod.ts";
import { keptVersion } from "../budgets/money.ts";
import { stepsView, type StepView } from "./steps_view.ts";
import { auditView, type GenerationView, generationView } from "./views.ts";

export interface GenerationDetails extends GenerationView {
  steps: StepView[];
  /** Of each version that `price_version` names, as far as it is known. */
  prices: { version: string; prices: Readonly<Record<string, string>> }[];
  /** Entries of the audit log about it: types, places and counts, never text. */
  findings: object[];
}

/** An entry of the audit log is written as the generation is screened; clocks of nodes may differ by so much. */
const SKEW_MS = 60_000;
/** Of a key that is very busy, entries beyond these are not looked through. */
const MOST_ENTRIES = 500;

/** A generation with its steps and, from the store, the prices that it was billed at and what screening found. */
export async function generationDetails(
  g: Generation,
  store: Pick<Store, "pricesOf" | "listAudit">,
): Promise<GenerationDetails> {
  const kept = new Map(
    (g.priceVersion?.split(", ") ?? []).map((named) => [keptVersion(named, g.model), named]),
  );
  const [prices, entries] = await Promise.all([
    store.pricesOf([...kept.keys()]),
    g.dlp === null || g.dlp.findings === 0 ? [] : store.listAudit({
      kind: "dlp",
      keyId: g.keyId,
      from: g.created - SKEW_MS,
      to: g.created + g.latencyMs + SKEW_MS,
    }, { after: null, limit: MOST_ENTRIES }),
  ]);
  return {
    ...generationView(g),
    steps: stepsView(g),
    prices: prices.map(({ version, prices }) => ({ version: kept.get(version)!, prices })),
    findings: entries.map(auditView).filter((entry) => entry.generation === g.id),
  };
}
