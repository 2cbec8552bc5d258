/** Data-loss prevention as a configuration sets it up: its policies, ready to be used. */
import { type Check, type Defaults, merge, type Rules } from "../dlp/policy.ts";
import { openRe2, type Re2 } from "../dlp/re2.ts";
import { type PolicyConfig, readPolicy } from "../dlp/request.ts";

export interface Dlp {
  enabled: boolean;
  /** Rules of the policies, and the check that each makes alone. */
  policies: ReadonlyMap<string, { rules: Rules; check: Check }>;
  defaults: Defaults;
  re2: Re2;
}

export interface DlpConfig {
  dlp: { enabled: boolean; on_unscannable: "pass" | "block"; restore: boolean };
  dlp_policies: Readonly<Record<string, PolicyConfig>>;
}

/** Assumes a configuration in which {@link policyMistakes} finds none: a name that there is not is not looked for. */
export function openDlp({ dlp, dlp_policies }: DlpConfig, re2: Re2): Dlp {
  const defaults: Defaults = { unscannable: dlp.on_unscannable, restore: dlp.restore };
  const policies = new Map(
    Object.entries(dlp_policies).map(([name, policy]) => {
      const { rules } = readPolicy(policy);
      return [name, { rules, check: merge(rules, null, defaults) }];
    }),
  );
  return { enabled: dlp.enabled, policies, defaults, re2 };
}

/** What is wrong with policies that only the vocabulary and RE2 can tell. */
export async function policyMistakes(config: DlpConfig): Promise<{ path: string; message: string }[]> {
  const mistakes: { path: string; message: string }[] = [];
  const re2 = openRe2({ limitMs: 10_000 });
  try {
    for (const [name, policy] of Object.entries(config.dlp_policies)) {
      const path = `dlp_policies.${name}`;
      for (const type of readPolicy(policy).unknown) {
        const i = policy.entity_types!.indexOf(type);
        const message = `expected the name of an entity type or a group of them, got ${JSON.stringify(type)}`;
        mistakes.push({ path: `${path}.entity_types[${i}]`, message });
      }
      for (const [i, { pattern }] of policy.regexes.entries()) {
        const outcome = await re2.find(pattern, []);
        if (outcome.kind === "found") continue;
        const why = outcome.kind === "refused" ? outcome.why : "it takes too long to be read";
        mistakes.push({ path: `${path}.regexes[${i}].pattern`, message: `expected an RE2 pattern: ${why}` });
      }
    }
  } finally {
    re2.close();
  }
  return mistakes;
}
