/** Findings as written to the audit log and the metrics: types, names of rules, locations and counts, never text. */
import type { Key } from "../../accounts/mod.ts";
import type { Kit } from "../kit.ts";

/** One finding, without its value. */
export interface ReportedFinding {
  category: string;
  type: string;
  location: string;
}

export interface ReportedFindings {
  /** The id of the generation; refused requests have one too. */
  id: string;
  key: Key;
  of: "request" | "answer";
  mode: string;
  action: "refused" | "masked" | "alerted";
  found: readonly ReportedFinding[];
  /** Number of locations that could not be scanned. */
  unscanned?: number;
}

const MOST_PLACES = 50;

/** Writes findings to the audit log and the metrics: types, rules and locations, never a value. */
export function reportFindings(
  { id, key, of, mode, action, found, unscanned = 0 }: ReportedFindings,
  { accounts, metrics }: Pick<Kit, "accounts" | "metrics">,
): void {
  // Callers choose the names of patterns, which may be names of object properties such as `toString`.
  const counts = (): Record<string, number> => Object.create(null);
  const [types, rules, places] = [counts(), counts(), counts()];
  for (const { category, type, location } of found) {
    // Names of patterns are arbitrary, so they are not used as a metric label.
    const named = category === "regex" ? "REGEX" : type;
    types[named] = (types[named] ?? 0) + 1;
    if (category === "regex") rules[type] = (rules[type] ?? 0) + 1;
    if (location in places || Object.keys(places).length < MOST_PLACES) {
      places[location] = (places[location] ?? 0) + 1;
    }
  }
  for (const [type, count] of Object.entries(types)) metrics.found(type, mode, of, count);
  metrics.screened(of, action);
  accounts.audit({
    kind: "dlp",
    key,
    data: {
      generation: id,
      policy: key.dlpPolicy ?? key.team?.dlpPolicy ?? null,
      of,
      mode,
      action,
      findings: found.length,
      types,
      rules,
      places,
      ...(unscanned > 0 && { unscanned }),
    },
  });
}
