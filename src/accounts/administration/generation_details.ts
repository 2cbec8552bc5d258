/** Details of a generation for administrators: processing steps, prices, and DLP findings. */
import type { Generation, Store } from "../../store/mod.ts";
import { keptVersion } from "../budgets/money.ts";
import { stepsView, type StepView } from "./steps_view.ts";
import { auditView, type GenerationView, generationView } from "./views.ts";

export interface GenerationDetails extends GenerationView {
  steps: StepView[];
  /** For each version in `price_version`, as far as known. */
  prices: { version: string; prices: Readonly<Record<string, string>> }[];
  /** Related audit log entries: types, locations and counts, never text. */
  findings: object[];
}

/**
 * Tolerance between the time of an audit entry, written during screening, and the record: clocks of nodes may
 * differ.
 */
const SKEW_MS = 60_000;
/** Maximum number of audit entries of the key that are searched. */
const MOST_ENTRIES = 500;

/** A generation with its steps and, from the store, prices and DLP findings. */
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
