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
  value: nonBlank(4096, "some text").describe("Text to find, ignoring case."),
  match: choice("exact", "fuzzy").prefault("exact").describe(
    "`exact` finds only this text, `fuzzy` also variants with typing errors.",
  ),
});

const ALLOWED = fields({
  value: nonBlank(4096, "some text").describe("Value that is not a finding, ignoring case."),
  match: choice("exact").prefault("exact").describe(
    "How the value is compared; `exact` is the only possibility.",
  ),
});

const REGEX = fields({
  name: nonBlank(100, "a name").describe("Name of the pattern, used as the type of its findings."),
  pattern: matching(/^[^]{1,512}$/, "an RE2 pattern of 1 to 512 characters").describe(
    "Regular expression in RE2 syntax.",
  ),
});

export const DLP = fields({
  enabled: flag().prefault(true)
    .describe(
      "Whether requests and answers are screened. With `false`, requests with `plugins.dlp` are refused with 503 `dlp_unavailable`, and the policies of keys and teams are not applied.",
    ),
  on_unscannable: choice("pass", "block").prefault("pass")
    .describe(
      "What a policy in mode `block` does with content that contains no text to scan, such as an image: accept or refuse the request.",
    ),
  model: nonBlank(4096, "the path of a file").optional()
    .describe(
      "Path of the ONNX file of a model that finds names of persons, addresses and organisations. `config.json` and `vocab.txt` must be in the same folder. Not set: no model is used.",
    ),
  restore: flag().prefault(false)
    .describe(
      "Whether the placeholders of a masked request are replaced by the original values in the answer.",
    ),
});

const POLICY = fields({
  mode: choice("alert", "mask", "block")
    .describe(
      "What happens if something is found in a request: `alert` reports it, `mask` replaces it by a placeholder, `block` refuses the request.",
    ),
  answers: choice("off", "alert", "mask", "block").prefault("off")
    .describe(
      "What happens if something is found in an answer. `off`: answers are not screened. `alert` reports it, `mask` replaces it by a placeholder, `block` ends the answer as a content filter does.",
    ),
  entity_types: listOf(
    stringField(ENTITY),
    "entity types",
  ).optional().describe("Entity types or groups of types to find. Not set: the default types. Empty: none."),
  stop_words: listOf(STOP_WORD, "stop words").prefault([]).describe("Texts that are always findings."),
  allowlist: listOf(ALLOWED, "allowed values").prefault([])
    .describe("Values that are not findings, whatever their type. Stop words remain findings."),
  regexes: listOf(REGEX, "patterns").prefault([]).describe("Patterns; every match is a finding."),
  payloads: flag().prefault(false).describe(
    "Whether requests under this policy, and their answers, are written to the payload log, as they are after masking.",
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
