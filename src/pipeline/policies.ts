/** The policies of a configuration, ready to be used. */
import type { OwnSecrets } from "../dlp/answer_rules.ts";
import { DEFAULT_TYPES, resolveEntityTypes } from "../dlp/entities.ts";
import { answerCheck, merge } from "../dlp/merge.ts";
import type { Check, Defaults, Rules } from "../dlp/policy.ts";
import { stopWordFinder } from "../dlp/stop_words.ts";
import type { Dlp } from "./dlp.ts";

export interface Policies {
  /** Rules of the policies, and the checks that each makes alone. */
  byName: ReadonlyMap<string, { rules: Rules; check: Check; answers: Check | null }>;
  defaults: Defaults;
  /** Secrets that the gateway was given: no answer may hold one. */
  secrets: Omit<OwnSecrets, "isKey">;
}

/** A shorter one is a word that may well occur. */
const SHORTEST_SECRET = 8;
const MADE = new WeakMap<Dlp, Policies>();

/** Made once for each configuration. */
export function policiesOf(dlp: Dlp): Policies {
  let made = MADE.get(dlp);
  if (!made) MADE.set(dlp, made = make(dlp));
  return made;
}

function make({ dlp, dlpPolicies, secrets }: Dlp): Policies {
  const defaults: Defaults = { unscannable: dlp.onUnscannable, restore: dlp.restore };
  const byName = new Map(
    Object.entries(dlpPolicies).map(([name, { entityTypes, ...others }]) => {
      // The default set stays one object: whoever compares sets need not look into it.
      const types = entityTypes === undefined ? DEFAULT_TYPES : resolveEntityTypes(entityTypes).types;
      const rules = { ...others, types };
      return [name, {
        rules,
        check: merge(rules, null, defaults),
        answers: answerCheck(rules, null, defaults),
      }];
    }),
  );
  const words = [...new Set(secrets)].filter((value) => value.length >= SHORTEST_SECRET)
    .map((value) => ({ value, match: "exact" as const }));
  return {
    byName,
    defaults,
    secrets: {
      values: words.map(({ value }) => value),
      finder: words.length > 0 ? stopWordFinder(words) : null,
    },
  };
}
