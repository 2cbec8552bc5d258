/**
 * What is looked for in one request: the rules of its key's policy and those it declares itself, and which mode a
 * finding falls under.
 *
 * A rule is an entity type, a stop word or a pattern. The request can only add: a rule that both declare has the
 * stricter mode, a rule of the policy alone keeps the administrator's, and the request's allowlist reaches the rules
 * that are its own. The two sets are scanned each with a detector of its own, because how much a detector takes for a
 * finding depends on how few types it looks for, and an addition must not cost the policy one.
 */
import { DEFAULT_TYPES } from "./entities.ts";
import { type Detector, detector } from "./scan.ts";
import { foldValue } from "./exact_words.ts";
import type { StopWord } from "./stop_word.ts";
import { type StopWordFinder, stopWordFinder } from "./stop_words.ts";

export type Mode = "alert" | "mask" | "block";
/** What a finding in an answer leads to. `off`: answers are not looked at. */
export type AnswerMode = "off" | Mode;
export type ReportScope = "all" | "last_message" | "latest_user_message";

export interface Pattern {
  name: string;
  /** RE2 syntax. */
  pattern: string;
}

/** Rules that one side declares. */
export interface Rules {
  mode: Mode;
  answers: AnswerMode;
  types: ReadonlySet<string>;
  stopWords: readonly StopWord[];
  patterns: readonly Pattern[];
  /** Values that lift findings of these rules. */
  allowed: readonly string[];
}

/** Where what cannot be scanned goes, unless the request says more strictly. */
export interface Defaults {
  unscannable: "pass" | "block";
  restore: boolean;
}

/** The request's own part: rules, and what it wants to know. */
export interface Wishes extends Defaults {
  rules: Omit<Rules, "mode" | "answers"> & { mode?: Mode; answers?: AnswerMode };
  scope: ReportScope;
  injected: ReadonlySet<string>;
}

/** A rule of the union, and who declared it. */
interface Owned<T> {
  rule: T;
  byPolicy: boolean;
  byRequest: boolean;
}

export interface Check {
  /** The strictest mode in force. */
  mode: Mode;
  detectors: readonly Detector[];
  stopWords: readonly Owned<StopWord>[];
  finder: StopWordFinder | null;
  patterns: readonly Owned<Pattern>[];
  scope: ReportScope;
  /** The request asked for findings. */
  asked: boolean;
  /** Names of messages that are not scanned. */
  injected: ReadonlySet<string>;
  unscannable: "pass" | "block";
  restore: boolean;
  policy: Side | null;
  request: Side | null;
}

interface Side {
  mode: Mode;
  types: ReadonlySet<string>;
  allowed: ReadonlySet<string>;
}

/** What a finding was found by. */
export type RuleSource =
  | { kind: "type"; type: string }
  | { kind: "stop_word"; index: number }
  | { kind: "regex"; index: number };

const STRICTNESS: Readonly<Record<AnswerMode, number>> = { off: -1, alert: 0, mask: 1, block: 2 };

export function stricter<T extends AnswerMode>(a: T, b: T): T {
  return STRICTNESS[a] >= STRICTNESS[b] ? a : b;
}

/** The check of a request: by its key's policy, by its own wishes, or by both. */
export function merge(
  policy: Omit<Rules, "answers"> | null,
  wishes: Wishes | null,
  defaults: Defaults,
): Check {
  // A request that names no mode wants the policy's; without one, the safest.
  const request = wishes
    ? { ...wishes.rules, mode: wishes.rules.mode ?? policy?.mode ?? "block" as const }
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
    scope: wishes?.scope ?? "all",
    asked: wishes !== null,
    injected: policy ? new Set() : wishes?.injected ?? new Set(),
    unscannable: defaults.unscannable === "block" || wishes?.unscannable === "block" ? "block" : "pass",
    restore: defaults.restore || (wishes?.restore ?? false),
    policy: policy && sideOf(policy, new Set()),
    request: request && sideOf(request, blocking),
  };
}

/** The check of the answer, of whose rules all have one mode; null: it is not looked at. */
export function answerCheck(policy: Rules | null, wishes: Wishes | null, defaults: Defaults): Check | null {
  const mode = stricter<AnswerMode>(policy?.answers ?? "off", wishes?.rules.answers ?? "off");
  if (mode === "off") return null;
  return merge(
    policy && { ...policy, mode },
    wishes && { ...wishes, rules: { ...wishes.rules, mode } },
    defaults,
  );
}

/** The mode that a finding falls under; null: an allowlist lifts it. */
export function modeOf(check: Check, source: RuleSource, value: string): Mode | null {
  const { policy, request } = check;
  const owned = ownersOf(check, source);
  const mayLift = source.kind !== "stop_word";
  const folded = mayLift && (policy?.allowed.size || request?.allowed.size) ? foldValue(value) : undefined;
  const lifted = (side: Side) => folded !== undefined && side.allowed.has(folded);
  const held = policy && owned.byPolicy && !lifted(policy) ? policy.mode : null;
  if (held !== null) return request && owned.byRequest ? stricter(held, request.mode) : held;
  return request && owned.byRequest && !lifted(request) ? request.mode : null;
}

function ownersOf(check: Check, source: RuleSource): { byPolicy: boolean; byRequest: boolean } {
  switch (source.kind) {
    case "type":
      return {
        byPolicy: check.policy?.types.has(source.type) ?? false,
        byRequest: check.request?.types.has(source.type) ?? false,
      };
    case "stop_word":
      return check.stopWords[source.index];
    case "regex":
      return check.patterns[source.index];
  }
}

/** Inside a request a stop word beats an allowlist entry on the same value. */
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

/** Finding the detector of a set means sorting it; the default set is what most requests want. */
function detectorOf(types: ReadonlySet<string>): Detector {
  return types === DEFAULT_TYPES ? usual ??= detector(DEFAULT_TYPES) : detector(types);
}
