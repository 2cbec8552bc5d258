/** Combines the rules of a policy and of a request into one check. */
import { DEFAULT_TYPES } from "./entities.ts";
import { foldValue } from "./exact_words.ts";
import {
  type AnswerMode,
  type Check,
  type Defaults,
  type Owned,
  type RequestOptions,
  type Rules,
  type Side,
  stricter,
} from "./policy.ts";
import { type Detector, detector } from "./scan.ts";
import { stopWordFinder } from "./stop_words.ts";

/** The check of a request: from its key's policy, its own `plugins.dlp`, or both. */
export function merge(
  policy: Omit<Rules, "answers"> | null,
  requestOptions: RequestOptions | null,
  defaults: Defaults,
): Check {
  // A request without a mode has the policy's; without a policy, the strictest.
  const request = requestOptions
    ? { ...requestOptions.rules, mode: requestOptions.rules.mode ?? policy?.mode ?? "block" as const }
    : null;
  const stopWords = union(policy?.stopWords, request?.stopWords, (w) => `${w.match} ${foldValue(w.value)}`);
  const blocking = new Set((request?.stopWords ?? []).map((word) => foldValue(word.value)));
  const detectors = [policy, request].filter((side) => side !== null).map((side) => side.types)
    .filter((types, i, all) => types.size > 0 && (i === 0 || !sameSet(types, all[0])))
    .map(detectorOf);
  return {
    mode: request ? (policy ? stricter(policy.mode, request.mode) : request.mode) : policy?.mode ?? "alert",
    detectors,
    stopWords,
    finder: stopWords.length > 0 ? stopWordFinder(stopWords.map((owned) => owned.rule)) : null,
    patterns: union(policy?.patterns, request?.patterns, (p) => `${p.name} ${p.pattern}`),
    scope: requestOptions?.scope ?? "all",
    asked: requestOptions !== null,
    injected: policy ? new Set() : requestOptions?.injected ?? new Set(),
    unscannable: defaults.unscannable === "block" || requestOptions?.unscannable === "block"
      ? "block"
      : "pass",
    restore: defaults.restore || (requestOptions?.restore ?? false),
    policy: policy && sideOf(policy, new Set()),
    request: request && sideOf(request, blocking),
  };
}

/** The check of the answer, with a single mode for all rules; null: not screened. */
export function answerCheck(
  policy: Rules | null,
  requestOptions: RequestOptions | null,
  defaults: Defaults,
): Check | null {
  const mode = stricter<AnswerMode>(policy?.answers ?? "off", requestOptions?.rules.answers ?? "off");
  if (mode === "off") return null;
  return merge(
    policy && { ...policy, mode },
    requestOptions && { ...requestOptions, rules: { ...requestOptions.rules, mode } },
    defaults,
  );
}

/** Within a request, a stop word takes precedence over an allowlist entry with the same value. */
function sideOf(rules: Omit<Rules, "answers">, blocking: ReadonlySet<string>): Side {
  const allowed = rules.allowed.map(foldValue).filter((value) => !blocking.has(value));
  return { mode: rules.mode, types: rules.types, allowed: new Set(allowed) };
}

function union<T>(
  policy: readonly T[] | undefined,
  request: readonly T[] | undefined,
  identity: (rule: T) => string,
): Owned<T>[] {
  if (!policy?.length && !request?.length) return [];
  const all = new Map<string, Owned<T>>();
  for (const rule of policy ?? []) all.set(identity(rule), { rule, byPolicy: true, byRequest: false });
  for (const rule of request ?? []) {
    const known = all.get(identity(rule));
    if (known) known.byRequest = true;
    else all.set(identity(rule), { rule, byPolicy: false, byRequest: true });
  }
  return [...all.values()];
}

function sameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a === b || (a.size === b.size && a.isSubsetOf(b));
}

let usual: Detector | undefined;

/** Looking up the detector of a set requires sorting it, so the most frequent set is handled separately. */
function detectorOf(types: ReadonlySet<string>): Detector {
  return types === DEFAULT_TYPES ? usual ??= detector(DEFAULT_TYPES) : detector(types);
}
