/** The compiled policies of a configuration. */
import type { OwnSecrets } from "../../dlp/answer_rules.ts";
import { DEFAULT_TYPES, resolveEntityTypes } from "../../dlp/entities.ts";
import { answerCheck, merge } from "../../dlp/merge.ts";
import type { Check, Defaults, RequestOptions, Rules } from "../../dlp/policy.ts";
import { stricter } from "../../dlp/policy.ts";
import { stopWordFinder } from "../../dlp/stop_words.ts";
import type { Key } from "../../accounts/mod.ts";
import type { Dlp } from "../dlp.ts";

/** Rules of a policy, and its check if no other rules apply. */
interface Policy {
  rules: Rules;
  check: Check;
  answers: Check | null;
}

export interface Policies {
  byName: ReadonlyMap<string, Policy>;
  defaults: Defaults;
  /** Secrets of the gateway, which no answer may contain. */
  secrets: Omit<OwnSecrets, "isKey">;
}

/** Shorter secrets are ignored, since they may occur as ordinary words. */
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
    Object.entries(dlpPolicies).map(([name, { entityTypes, payloads: _, ...others }]) => {
      // The default set is always the same object, so that sets can be compared by reference.
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

/** Names of the policies that apply to a key: its own, and its team's. */
export function policyNames({ dlpPolicy, team }: Key): string[] {
  return [...new Set([dlpPolicy, team?.dlpPolicy ?? null])].filter((name) => name !== null);
}

/**
 * The checks of two policies that apply together: the rules of both in the stricter mode. A value is allowed only if both allow it. Each
 * set of types has its own detector, so it finds as much as alone.
 */
export function checksOfBoth(
  a: Policy,
  b: Policy,
  requestOptions: RequestOptions | null,
  { defaults }: Policies,
): Pick<Policy, "check" | "answers"> {
  const rules: Rules = {
    mode: stricter(a.rules.mode, b.rules.mode),
    answers: stricter(a.rules.answers, b.rules.answers),
    types: a.rules.types.union(b.rules.types),
    stopWords: [...a.rules.stopWords, ...b.rules.stopWords],
    patterns: [...a.rules.patterns, ...b.rules.patterns],
    allowed: a.rules.allowed.filter((value) => b.rules.allowed.includes(value)),
  };
  const apart = (check: Check): Check => ({
    ...check,
    detectors: [a, b].flatMap((policy) => policy.check.detectors)
      .concat(requestOptions === null ? [] : merge(null, requestOptions, defaults).detectors),
  });
  const answers = answerCheck(rules, requestOptions, defaults);
  return { check: apart(merge(rules, requestOptions, defaults)), answers: answers && apart(answers) };
}
