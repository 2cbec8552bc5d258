/** Data-loss prevention as a configuration sets it up: its policies, ready to be used. */
import { type Check, type Defaults, merge, type Rules } from "../dlp/policy.ts";
import type { DlpConfig } from "../dlp/config.ts";
import type { Re2 } from "../dlp/re2.ts";

export interface Dlp {
  enabled: boolean;
  /** Rules of the policies, and the check that each makes alone. */
  policies: ReadonlyMap<string, { rules: Rules; check: Check }>;
  defaults: Defaults;
  re2: Re2;
}

export interface DlpSettings {
  dlp: DlpConfig;
  /** Their patterns are some that RE2 takes. */
  dlpPolicies: Readonly<Record<string, Rules>>;
}

export function openDlp({ dlp, dlpPolicies }: DlpSettings, re2: Re2): Dlp {
  const defaults: Defaults = { unscannable: dlp.onUnscannable, restore: dlp.restore };
  const policies = new Map(
    Object.entries(dlpPolicies).map((
      [name, rules],
    ) => [name, { rules, check: merge(rules, null, defaults) }]),
  );
  return { enabled: dlp.enabled, policies, defaults, re2 };
}
