/**
 * What is looked for in one request: the rules of its key's policy and those it declares itself, and which mode a
 * finding falls under.
 *
 * A rule is an entity type, a stop word or a pattern. The request can only add: a rule that both declare has the
 * stricter mode, a rule of the policy alone keeps the administrator's, and the request's allowlist reaches the rules
 * that are its own. The two sets are scanned each with a detector of its own, because how much a detector takes for a
 * finding depends on how few types it looks for, and an addition must not cost the policy one.
 */
import type { Detector } from "./scan.ts";
import { foldValue } from "./exact_words.ts";
import type { StopWord } from "./stop_word.ts";
import type { StopWordFinder } from "./stop_words.ts";

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
export interface Owned<T> {
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

export interface Side {
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

/** The stricter of two modes: `block`, `mask`, `alert`, `off`. */
export function stricter<T extends AnswerMode>(a: T, b: T): T {
  return STRICTNESS[a] >= STRICTNESS[b] ? a : b;
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
