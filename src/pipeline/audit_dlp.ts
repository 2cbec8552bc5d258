/** What the audit log and the metrics are told of findings: types, names of rules, places and counts, never text. */
import type { Key } from "../accounts/mod.ts";
import type { Kit } from "./kit.ts";

/** One finding, as far as it may be told. */
export interface ToldFinding {
  category: string;
  type: string;
  location: string;
}

export interface ToldFindings {
  /** The generation's id; a request that was refused has one too. */
  id: string;
  key: Key;
  of: "request" | "answer";
  mode: string;
  action: "refused" | "masked" | "alerted";
  found: readonly ToldFinding[];
  /** Places that could not be looked at. */
  unscanned?: number;
}

const MOST_PLACES = 50;

/** Tells the audit log and the metrics what was found: types, rules and places, and never a value. */
export function tellFindings(
  { id, key, of, mode, action, found, unscanned = 0 }: ToldFindings,
  { accounts, metrics }: Pick<Kit, "accounts" | "metrics">,
): void {
  // Callers name patterns: `toString` is a name like any other.
  const counts = (): Record<string, number> => Object.create(null);
  const [types, rules, places] = [counts(), counts(), counts()];
  for (const { category, type, location } of found) {
    // A pattern has the name that its author gave it, and there is no end of those.
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
