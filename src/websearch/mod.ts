/**
 * Web search for the pipeline: a query in, hits out. A failed search does not throw; it returns an empty
 * result that is not billed, because a request must not fail because of its search.
 */
import type { SearchOutcome, WebSearch, WebSearchOptions, WebSearchSettings } from "./web_search.ts";

export type { Hit, SearchOutcome, WebSearch, WebSearchSettings } from "./web_search.ts";

/** Without an engine, every search fails with `none`. */
export function openWebSearch(settings: WebSearchSettings, options: WebSearchOptions): WebSearch {
  const { engine } = settings;
  if (engine === "none") return { engine, search: () => Promise.resolve(failed("none")) };
  // Imported only if the configuration names an engine.
  const opened = import("./ask_engine.ts").then(({ openEngine }) => openEngine(settings, options));
  opened.catch(() => options.log?.(`web search: ${engine}: it cannot be loaded`));
  return {
    engine,
    async search(query, searchOptions) {
      let search: WebSearch;
      try {
        search = await opened;
      } catch {
        return failed("unloaded");
      }
      return await search.search(query, searchOptions);
    },
  };
}

function failed(why: string): SearchOutcome {
  return { hits: [], failed: true, why };
}
