/** Data-loss prevention as a configuration sets it up: its policies, ready to be used. */
import type { OwnSecrets } from "../dlp/answer_rules.ts";
import { answerCheck, type Check, type Defaults, merge, type Rules } from "../dlp/policy.ts";
import type { DlpConfig } from "../dlp/config.ts";
import type { Re2 } from "../dlp/re2.ts";
import { stopWordFinder } from "../dlp/stop_words.ts";

export interface Dlp {
  enabled: boolean;
  /** Rules of the policies, and the check that each makes alone. */
  policies: ReadonlyMap<string, { rules: Rules; check: Check; answers: Check | null }>;
  defaults: Defaults;
  re2: Re2;
  /** Secrets that the gateway was given: no answer may hold one. */
  secrets: Omit<OwnSecrets, "isKey">;
}

export interface DlpSettings {
  dlp: DlpConfig;
  /** Their patterns are some that RE2 takes. */
  dlpPolicies: Readonly<Record<string, Rules>>;
}

/** A shorter one is a word that may well occur. */
const SHORTEST_SECRET = 8;

/** @param secrets what the configuration holds of them */
export function openDlp(
  { dlp, dlpPolicies }: DlpSettings,
  re2: Re2,
  secrets: readonly string[],
): Dlp {
  const defaults: Defaults = { unscannable: dlp.onUnscannable, restore: dlp.restore };
  const policies = new Map(
    Object.entries(dlpPolicies).map((
      [name, rules],
    ) => [name, {
      rules,
      check: merge(rules, null, defaults),
      answers: answerCheck(rules, null, defaults),
    }]),
  );
  const words = [...new Set(secrets)].filter((value) => value.length >= SHORTEST_SECRET)
    .map((value) => ({ value, match: "exact" as const }));
  return {
    enabled: dlp.enabled,
    policies,
    defaults,
    re2,
    secrets: {
      values: words.map(({ value }) => value),
      finder: words.length > 0 ? stopWordFinder(words) : null,
    },
  };
}
