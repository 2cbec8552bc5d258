/**
 * The search engines and the fields that each requires. The allowed values of `search.engine`, and their
 * checks, are derived from this list.
 */
type Need = "base_url" | "api_key";

/** Fields that an engine cannot be used without. */
export const ENGINE_NEEDS = {
  searxng: ["base_url"],
  brave: ["api_key"],
  tavily: ["api_key"],
  exa: ["api_key"],
  serper: ["api_key"],
  mediawiki: ["base_url"],
} as const satisfies Record<string, readonly Need[]>;

export type EngineName = keyof typeof ENGINE_NEEDS;

/** The names in the order of the list. */
export const ENGINE_NAMES: readonly string[] = Object.keys(ENGINE_NEEDS);

/** Undefined: unknown engine. */
export function needsOf(name: unknown): readonly Need[] | undefined {
  return Object.hasOwn(ENGINE_NEEDS, String(name)) ? ENGINE_NEEDS[name as EngineName] : undefined;
}
