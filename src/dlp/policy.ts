/**
 * What one request is checked for: the rules of its key's policy and of its own `plugins.dlp`, and the mode of each finding.
 *
 * A rule is an entity type, a stop word or a pattern. The request can only add rules. A rule that both declare has the stricter mode, a
 * rule of the policy alone keeps the policy's mode, and the request's allowlist applies only to its own rules. Each of the two sets has
 * its own detector, because the sensitivity of a detector depends on the number of its types, and rules of a request must not reduce
 * what the policy finds.
 */
import type { Detector } from "./scan.ts";
import { foldValue } from "./exact_words.ts";
import type { StopWord } from "./stop_word.ts";
import type { StopWordFinder } from "./stop_words.ts";

export type Mode = "alert" | "mask" | "block";
/** Mode for findings in an answer. `off`: answers are not screened. */
export type AnswerMode = "off" | Mode;
export type ReportScope = "all" | "last_message" | "latest_user_message";

export interface Pattern {
  name: string;
  /** RE2 syntax. */
  pattern: string;
}

/** Rules of a policy or of a request. */
export interface Rules {
  mode: Mode;
  answers: AnswerMode;
  types: ReadonlySet<string>;
  stopWords: readonly StopWord[];
  patterns: readonly Pattern[];
  /** Values that are not findings of these rules. */
  allowed: readonly string[];
}

/** Defaults for all policies; a request can only be stricter. */
export interface Defaults {
  unscannable: "pass" | "block";
  restore: boolean;
}

/** `plugins.dlp` of a request: its own rules, and which findings are returned. */
export interface RequestOptions extends Defaults {
  rules: Omit<Rules, "mode" | "answers"> & { mode?: Mode; answers?: AnswerMode };
  scope: ReportScope;
  injected: ReadonlySet<string>;
}

/** A rule of the combined set, and who declared it. */
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

/** The rule that caused a finding. */
export type RuleSource =
  | { kind: "type"; type: string }
  | { kind: "stop_word"; index: number }
  | { kind: "regex"; index: number };

const STRICTNESS: Readonly<Record<AnswerMode, number>> = { off: -1, alert: 0, mask: 1, block: 2 };

/** The stricter of two modes: `block`, `mask`, `alert`, `off`. */
export function stricter<T extends AnswerMode>(a: T, b: T): T {
  return STRICTNESS[a] >= STRICTNESS[b] ? a : b;
}

/** The mode of a finding; null: an allowlist excludes it. */
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
