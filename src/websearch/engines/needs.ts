/** The search engines there are, and what the configuration must give for each. Its choice of `search.engine`, and its check, follow this list. */
type Need = "base_url" | "api_key";

/** Without `base_url` an engine cannot be asked; without `api_key` it refuses. */
export const ENGINE_NEEDS = {
  searxng: ["base_url"],
  brave: ["api_key"],
  tavily: ["api_key"],
  mediawiki: ["base_url"],
} as const satisfies Record<string, readonly Need[]>;

export type EngineName = keyof typeof ENGINE_NEEDS;

/** Names in the order of the list. */
export const ENGINE_NAMES: readonly string[] = Object.keys(ENGINE_NEEDS);

/** Undefined: there is no such engine. */
export function needsOf(name: unknown): readonly Need[] | undefined {
  return Object.hasOwn(ENGINE_NEEDS, String(name)) ? ENGINE_NEEDS[name as EngineName] : undefined;
}
