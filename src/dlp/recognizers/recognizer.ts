/**
 * What a recognizer is: one object that says which entity type it finds, how the type is called and filed, where in a
 * text the search for it begins, and texts that show what it finds and what it leaves alone.
 *
 * To add one, write the object and put it into the list of list.ts. The names that callers use, the groups, the default
 * set and the tables that the walk runs on follow from it, and its samples are run as tests.
 */

import type { ScannedView } from "./scanned_view.ts";

/** What findings are filed under in a report. */
export type Category = "pii" | "financial" | "national_id" | "secret";

/** Group names stand for all their members and are accepted where a type is. */
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
    /** Whether its types are looked for when nobody says what to look for. */
    byDefault: boolean;
    /** Other products' names of the group. */
    aliases: readonly string[];
  }
>;

export type EntityGroup = keyof typeof GROUPS;

export interface Recognizer {
  /** Presidio's name where it has one: upper snake case, with the country in front. */
  readonly type: string;
  readonly group: EntityGroup;
  /** Other names of the type, as Presidio's variants, Google, Amazon, Microsoft and common tools spell them. */
  readonly aliases?: readonly string[];
  /** Where its group is not looked for by default, whether this type is all the same. */
  readonly byDefault?: true;
  /** Where the walk starts a scan. One that several recognizers share is started once and reports all their types. */
  readonly triggers?: readonly Trigger[];
  /** Forms in which its numbers are written: the walk turns digits and what joins them into masks, and looks these up. */
  readonly numbers?: readonly NumberForms[];
  /** Issuers' tokens, see tokens.ts: beginnings, a blank, the pattern of the rest. */
  readonly tokens?: readonly string[];
  readonly samples: Samples;
}

/** Texts for the test of a recognizer, run with its type alone wanted. Both kinds are required. */
export interface Samples {
  /** What must be found stands between « and ». */
  readonly found: readonly string[];
  /** Nothing must be found in these. */
  readonly clean: readonly string[];
}

/**
 * Where a scan starts.
 *
 * - `sign`: at each of the characters given.
 * - `run`: at each run of letters, digits, `_` and `-` that meets the conditions.
 * - `part`: at each part between the `_` and `-` of a run that holds a digit.
 * - `view`: once for the whole text, behind all others.
 */
export type Trigger = SignTrigger | RunTrigger | ViewTrigger;

export interface SignTrigger {
  readonly on: "sign";
  readonly signs: string;
  /** Answers where it may be started again; nothing: anywhere. */
  scan(view: ScannedView, at: number): number | void;
}

export interface RunTrigger {
  readonly on: "run" | "part";
  /** Lengths of the run, in units. */
  readonly shortest?: number;
  readonly longest?: number;
  readonly lengths?: readonly number[];
  /** Letters that it may begin with, in either case. */
  readonly begins?: string;
  /** Classes of characters (character_class.ts) that its first unit may have. */
  readonly first?: number;
  /** A class that it must hold, and classes that it must not. */
  readonly holds?: number;
  readonly lacks?: number;
  /** The character that must follow. */
  readonly followedBy?: string;
  /** Answers where it may be started again; nothing: anywhere. `classes` are those of the run, summed up. */
  scan(view: ScannedView, start: number, end: number, classes: number): number | void;
}

export interface ViewTrigger {
  readonly on: "view";
  scan(view: ScannedView): void;
}

/** Forms of a number that are judged alike. */
export interface NumberForms {
  /**
   * Masks: `9` a digit, `A` a letter, the rest literal. `9{3}` repeats, `~` stands for a space, a hyphen or a dot,
   * `=0.4` at the end is this form's confidence where nothing names the number.
   */
  readonly forms: readonly string[];
  /** Compact lengths and the pattern of numbers whose letters may stand anywhere. */
  readonly free?: { lengths: readonly number[]; shape: RegExp };
  /** Country letters that may stand in front. */
  readonly prefix?: string;
  /** Gets the number without separators and prefix, in upper case. */
  readonly check?: (compact: string) => boolean;
  /** Words that name it. */
  readonly label: RegExp;
  /** Confidence without a name nearby; below 0.5 it is reported only with one, or alone in its field. */
  readonly plain: number;
  /** Confidence with a name nearby. */
  readonly labelled?: number;
  /** Confidence as the only thing in a field; 0 for numbers with nothing to check. */
  readonly alone?: number;
  /** Confidence when named but the check fails, for numbers whose samples are usually made up. */
  readonly loose?: number;
  /** Small letters are as good as capitals. */
  readonly anyCase?: boolean;
}
