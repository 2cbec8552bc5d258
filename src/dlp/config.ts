/** The sections `dlp` and `dlp_policies` of the configuration. */
import {
  choice,
  fields,
  flag,
  label,
  listOf,
  matching,
  named,
  nonBlank,
  stringField,
  type Value,
} from "../schema/fields.ts";
import type { Rules } from "./policy.ts";
import { openRe2 } from "./re2.ts";

const ENTITY = "the name of an entity type or a group of them";

/**
 * The configured rules of a policy. Names of entity types are resolved later, since that requires the
 * recognizers.
 */
export interface PolicyRules extends Omit<Rules, "types"> {
  /** Undefined: the default set. */
  entityTypes: readonly string[] | undefined;
  /** Requests and answers under this policy are stored in the payload log. */
  payloads?: boolean;
}

const STOP_WORD = fields({
  value: nonBlank(4096, "some text").describe("Text to look for, in whatever case."),
  match: choice("exact", "fuzzy").prefault("exact").describe(
    "`fuzzy` finds the text with slips of the pen as well.",
  ),
});

const ALLOWED = fields({
  value: nonBlank(4096, "some text").describe("Value that is no finding, in whatever case."),
  match: choice("exact").prefault("exact").describe("How the value is compared; `exact` is the only way."),
});

const REGEX = fields({
  name: nonBlank(100, "a name").describe("Name that findings of the pattern have."),
  pattern: matching(/^[^]{1,512}$/, "an RE2 pattern of 1 to 512 characters").describe(
    "Pattern in RE2 syntax.",
  ),
});

export const DLP = fields({
  enabled: flag().prefault(true)
    .describe(
      "Whether prompts are screened. If not, requests with `plugins.dlp` are refused with 503 `dlp_unavailable`, and policies of keys and teams are not applied.",
    ),
  on_unscannable: choice("pass", "block").prefault("pass")
    .describe(
      "What a policy in mode `block` does with an image, a PDF or anything else that has no text to scan.",
    ),
  model: nonBlank(4096, "the path of a file").optional()
    .describe(
      "ONNX file of a model that finds names, addresses and organisations, with `config.json` and `vocab.txt` beside it.",
    ),
  restore: flag().prefault(false)
    .describe("Whether originals are put back where an answer repeats the placeholders of a masked request."),
});

const POLICY = fields({
  mode: choice("alert", "mask", "block")
    .describe(
      "What a finding leads to: a report, a placeholder in its place, or a refusal of the request.",
    ),
  answers: choice("off", "alert", "mask", "block").prefault("off")
    .describe(
      "What a finding in an answer leads to: nothing is looked for (`off`), a report, a placeholder in its place, or the ending of a content filter.",
    ),
  entity_types: listOf(
    stringField(ENTITY),
    "entity types",
  ).optional().describe(
    "Types of data to look for, or groups of them. Left out: the default set. Empty: none.",
  ),
  stop_words: listOf(STOP_WORD, "stop words").prefault([]).describe(
    "Texts that are findings by themselves.",
  ),
  allowlist: listOf(ALLOWED, "allowed values").prefault([])
    .describe("Values that are no findings, whatever type they are of. Stop words stay findings."),
  regexes: listOf(REGEX, "patterns").prefault([]).describe("Patterns of which every match is a finding."),
  payloads: flag().prefault(false).describe(
    "Whether requests under the policy and their answers are kept in the payload log, as they are after masking.",
  ),
}).transform(({ mode, answers, entityTypes, stopWords, regexes, allowlist, payloads }): PolicyRules => ({
  mode,
  answers,
  entityTypes,
  stopWords,
  patterns: regexes,
  allowed: allowlist.map(({ value }) => value),
  payloads,
}));

export const DLP_POLICIES = named(label(), POLICY);

export type DlpConfig = Value<typeof DLP>;

export interface EntityTroubles {
  /** For each given name, the error if it is not an entity type; null: valid. */
  troubles: (string | null)[];
  /** All names of entity types and groups. */
  known: readonly string[];
}

export async function entityTroubles(names: readonly unknown[]): Promise<EntityTroubles> {
  if (names.length === 0) return { troubles: [], known: [] };
  // Loads all recognizers, which a start without policies does not need.
  const { ALL_ENTITY_NAMES, resolveEntityTypes } = await import("./entities.ts");
  const troubles = names.map((name) =>
    typeof name !== "string" || resolveEntityTypes([name]).unknown.length === 0 ? null : ENTITY
  );
  return { troubles, known: ALL_ENTITY_NAMES };
}

/** For each pattern, why RE2 rejects it; null: valid. */
export async function patternTroubles(patterns: readonly string[]): Promise<(string | null)[]> {
  if (patterns.length === 0) return [];
  const re2 = openRe2({ limitMs: 10_000 });
  try {
    const troubles: (string | null)[] = [];
    for (const pattern of patterns) {
      const outcome = await re2.find(pattern, []);
      if (outcome.kind === "found") troubles.push(null);
      else troubles.push(outcome.kind === "refused" ? outcome.why : "it takes too long to be read");
    }
    return troubles;
  } finally {
    re2.close();
  }
}

/** Why a path does not refer to a model; null: it does, or no path is given. */
export async function modelTrouble(path: string | undefined): Promise<string | null> {
  if (path === undefined) return null;
  if (Deno.build.standalone) return "no model, because the runtime for models is not part of the binary";
  const folder = path.replace(/[^/\\]*$/, "");
  for (const file of [path, `${folder}config.json`, `${folder}vocab.txt`]) {
    try {
      if ((await Deno.stat(file)).isFile) continue;
    } catch {
      // An unreadable file is treated like a missing one.
    }
    return `an ONNX file with config.json and vocab.txt beside it, but ${file} cannot be read`;
  }
  return null;
}
