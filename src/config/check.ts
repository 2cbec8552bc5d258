/**
 * The one way from a source to a configuration that the gateway can start with: `check`, `serve` and a reload all take it.
 * Beyond what load.ts sees in the text it asks the regular expression engine about patterns.
 */
import { patternTroubles } from "../dlp/config.ts";
import { type Mistake, pathText } from "../schema/mistakes.ts";
import { ConfigError } from "./config_error.ts";
import { loadConfig, type Loaded, type LoadOptions } from "./load.ts";

/** Throws {@link ConfigError} with every mistake. */
export async function checkedConfig(text: string, options: LoadOptions): Promise<Loaded> {
  const { config, warnings } = loadConfig(text, options);
  const mistakes = await patternMistakes(config);
  if (mistakes.length > 0) throw new ConfigError(options.source ?? "configuration", mistakes);
  return { config, warnings };
}

/** Patterns of policies that RE2 does not take. */
export async function patternMistakes(
  { dlpPolicies }: Pick<Loaded["config"], "dlpPolicies">,
): Promise<Mistake[]> {
  const all = Object.entries(dlpPolicies).flatMap(([name, { patterns }]) =>
    patterns.map(({ pattern }, i) => ({
      pattern,
      path: pathText(["dlp_policies", name, "regexes", i, "pattern"]),
    }))
  );
  const troubles = await patternTroubles(all.map(({ pattern }) => pattern));
  return all.flatMap(({ path }, i) =>
    troubles[i] === null ? [] : [{ path, message: `expected an RE2 pattern: ${troubles[i]}` }]
  );
}
