/** The search engines by the names in needs.ts. */
import { brave } from "./brave.ts";
import type { SearchEngine } from "./engine.ts";
import { exa } from "./exa.ts";
import { mediawiki } from "./mediawiki.ts";
import { ENGINE_NAMES, type EngineName } from "./needs.ts";
import { searxng } from "./searxng.ts";
import { serper } from "./serper.ts";
import { tavily } from "./tavily.ts";

export const SEARCH_ENGINES: Readonly<Record<EngineName, SearchEngine>> = {
  searxng,
  brave,
  tavily,
  exa,
  serper,
  mediawiki,
};

/** Throws for an unknown name, which the check of the configuration prevents. */
export function engineNamed(name: string): SearchEngine {
  if (!Object.hasOwn(SEARCH_ENGINES, name)) {
    throw new Error(`no search engine has the name ${name}; there are ${ENGINE_NAMES.join(", ")}`);
  }
  return SEARCH_ENGINES[name as EngineName];
}
