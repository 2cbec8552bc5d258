/**
 * The definition of a recognizer: one object with the entity type, its names and category, the positions in a
 * text at which its search starts, and sample texts for both findings and non-findings.
 *
 * To add one, write the object and add it to the list in list.ts. The accepted names, the groups, the default
 * set and the tables of the walk are derived from it, and its samples are run as tests.
 */

import type { ScannedView } from "./scanned_view.ts";

/** The category of findings in reports. */
export type Category = "pii" | "financial" | "national_id" | "secret";

/** A group name represents all members and is accepted in place of a type. */
export const GROUPS = {
  CONTACT: { category: "pii", byDefault: false, aliases: [] },
  NETWORK: { category: "pii", byDefault: false, aliases: [] },
  FINANCIAL: { category: "financial", byDefault: true, aliases: [] },
  NATIONAL_ID: { category: "national_id", byDefault: true, aliases: ["NATIONAL_IDS", "GOVERNMENT_ID"] },
  SECRET: { category: "secret", byDefault: true, aliases: ["SECRETS", "CREDENTIALS"] },
  PERSON_DATA: { category: "pii", byDefault: false, aliases: [] },
} as const satisfies Record<
  string,
  {
    category: Category;
    /** Whether its types are in the default set. */
    byDefault: boolean;
    /** Names of the group in other products. */
    aliases: readonly string[];
  }
>;

export type EntityGroup = keyof typeof GROUPS;

export interface Recognizer {
  /** Presidio's name if there is one: upper snake case, with the country first. */
  readonly type: string;
  readonly group: EntityGroup;
  /** Other names of the type, as used by Presidio, Google, Amazon, Microsoft and common tools. */
  readonly aliases?: readonly string[];
  /** The type is in the default set although its group is not. */
  readonly byDefault?: true;
  /** Where the walk starts a scan. One that several recognizers share runs once and reports all their types. */
  readonly triggers?: readonly Trigger[];
  /** The written forms of its numbers: the walk converts digits and separators to masks and looks these up. */
  readonly numbers?: readonly NumberForms[];
  /** Tokens of issuers, see tokens.ts: prefixes, a space, the pattern of the rest. */
  readonly tokens?: readonly string[];
  readonly samples: Samples;
}

/** Sample texts for the test of the recognizer, run with only its type requested. Both kinds are required. */
export interface Samples {
  /** Expected findings are between « and ». */
  readonly found: readonly string[];
  /** Texts without findings. */
  readonly clean: readonly string[];
}

/**
 * Where a scan starts.
 *
 * - `sign`: at each of the given characters.
 * - `run`: at each run of letters, digits, `_` and `-` that meets the conditions.
 * - `part`: at each part between the `_` and `-` of a run that contains a digit.
 * - `view`: once for the whole text, after all others.
 */
export type Trigger = SignTrigger | RunTrigger | ViewTrigger;

export interface SignTrigger {
  readonly on: "sign";
  readonly signs: string;
  /** Returns where it may be started again; nothing: anywhere. */
  scan(view: ScannedView, at: number): number | void;
}

export interface RunTrigger {
  readonly on: "run" | "part";
  /** Bounds for the length of the run, in units. */
  readonly shortest?: number;
  readonly longest?: number;
  readonly lengths?: readonly number[];
  /** Letters that it may start with, ignoring case. */
  readonly begins?: string;
  /** Allowed classes (character_class.ts) of its first unit. */
  readonly first?: number;
  /** A class that it must contain, and classes that it must not. */
  readonly holds?: number;
  readonly lacks?: number;
  /** The character that must follow. */
  readonly followedBy?: string;
  /** Returns where it may be started again; nothing: anywhere. `classes` is the union of the run's classes. */
  scan(view: ScannedView, start: number, end: number, classes: number): number | void;
}

export interface ViewTrigger {
  readonly on: "view";
  scan(view: ScannedView): void;
}

/** Forms of a number that are evaluated alike. */
export interface NumberForms {
  /**
   * Masks: `9` a digit, `A` a letter, the rest literal. `9{3}` repeats, `~` is a space, hyphen or dot, and
   * `=0.4` at the end is the form's confidence if nothing names the number.
   */
  readonly forms: readonly string[];
  /** Compact lengths and pattern of numbers whose letters may be at any position. */
  readonly free?: { lengths: readonly number[]; shape: RegExp };
  /** Country letters that may precede the number. */
  readonly prefix?: string;
  /** Receives the number without separators and prefix, in upper case. */
  readonly check?: (compact: string) => boolean;
  /** Words that name it. */
  readonly label: RegExp;
  /** Numbers that are published as examples, which are not reported where a word says that they are. */
  readonly examples?: { isOne: (compact: string) => boolean; said: RegExp };
  /** Confidence without a name nearby; below 0.5 it is reported only with one, or alone in its field. */
  readonly plain: number;
  /** Confidence with a name nearby. */
  readonly labelled?: number;
  /** Confidence as the only content of a field; 0 for numbers without a check. */
  readonly alone?: number;
  /** Confidence if named although the check fails, for numbers whose examples are usually invented. */
  readonly loose?: number;
  /** Lower-case letters are accepted like upper-case ones. */
  readonly anyCase?: boolean;
}
