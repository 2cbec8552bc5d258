/** DLP settings of a configuration. */
import type { DlpConfig, PolicyRules } from "../dlp/config.ts";
import type { Re2 } from "../dlp/re2.ts";
import type { EntityModel } from "../dlp/model/mod.ts";
import type { Documents } from "../documents/mod.ts";

export interface Dlp {
  dlp: DlpConfig;
  /** Their patterns have been compiled by RE2, and their entity types exist. */
  dlpPolicies: Readonly<Record<string, PolicyRules>>;
  re2: Re2;
  documents: Documents;
  /** Null: not configured. */
  model: EntityModel | null;
  /** Secrets in the configuration, which no answer may contain. */
  secrets: readonly string[];
}
