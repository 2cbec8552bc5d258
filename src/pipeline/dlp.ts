/** Data-loss prevention as a configuration sets it up. */
import type { DlpConfig, PolicyRules } from "../dlp/config.ts";
import type { Re2 } from "../dlp/re2.ts";
import type { EntityModel } from "../dlp/model/mod.ts";
import type { Documents } from "../documents/mod.ts";

export interface Dlp {
  dlp: DlpConfig;
  /** Their patterns are some that RE2 takes, and their entity types exist. */
  dlpPolicies: Readonly<Record<string, PolicyRules>>;
  re2: Re2;
  documents: Documents;
  /** Null: none is configured. */
  model: EntityModel | null;
  /** What the configuration holds of them; no answer may hold one. */
  secrets: readonly string[];
}
