/** The policies of a configuration, ready to be used. */
import type { OwnSecrets } from "../dlp/answer_rules.ts";
import { DEFAULT_TYPES, resolveEntityTypes } from "../dlp/entities.ts";
import { answerCheck, merge } from "../dlp/merge.ts";
import type { Check, Defaults, RequestOptions, Rules } from "../dlp/policy.ts";
import { stricter } from "../dlp/policy.ts";
import { stopWordFinder } from "../dlp/stop_words.ts";
import type { Key } from "../accounts/mod.ts";
import type { Dlp } from "./dlp.ts";

/** Rules of a policy, and the checks that it makes alone. */
interface Policy {
  rules: Rules;
  check: Check;
  answers: Check | null;
}

export interface Policies {
  byName: ReadonlyMap<string, Policy>;
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
    Object.entries(dlpPolicies).map(([name, { entityTypes, payloads: _, ...others }]) => {
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

/** Of the policies that hold for a key: its own, and its team's. */
export function policyNames({ dlpPolicy, team }: Key): string[] {
  return [...new Set([dlpPolicy, team?.dlpPolicy ?? null])].filter((name) => name !== null);
}

/**
 * The checks of two policies that hold together: the rules of both under the stricter mode. An allowed value is one that
 * both allow. Each set of types keeps a detector of its own, which finds as much as it does alone.
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
