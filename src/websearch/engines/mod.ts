/** The search engines there are. The configuration's choice of `search.engine`, and its check, follow this list. */
import { brave } from "./brave.ts";
import type { SearchEngine } from "./engine.ts";
import { mediawiki } from "./mediawiki.ts";
import { searxng } from "./searxng.ts";
import { tavily } from "./tavily.ts";

export type { EngineSettings, SearchEngine } from "./engine.ts";

export const SEARCH_ENGINES: readonly SearchEngine[] = [searxng, brave, tavily, mediawiki];

const byName = new Map(SEARCH_ENGINES.map((engine) => [engine.name, engine]));

/** Names in the order of the list. */
export const ENGINE_NAMES: readonly string[] = [...byName.keys()];

export function engineNamed(name: string): SearchEngine {
  const engine = byName.get(name);
  if (engine === undefined) {
    throw new Error(`no search engine has the name ${name}; there are ${ENGINE_NAMES.join(", ")}`);
  }
  return engine;
}
