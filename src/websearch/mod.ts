/** Web search as the pipeline sees it: a query in, hits out, and a failure is no exception but an empty result. */
import type { SearchWish } from "../exchange/prompt.ts";

export interface Hit {
  url: string;
  title: string;
  /** Plain text, cleaned and trimmed. */
  text: string;
}

export interface Found {
  hits: Hit[];
  /** The engine could not be asked, or did not answer: nothing is billed. */
  failed: boolean;
}

export interface WebSearch {
  search(query: string, wish: SearchWish): Promise<Found>;
}

/** What there is without an engine: every search fails. */
export const NO_SEARCH: WebSearch = { search: () => Promise.resolve({ hits: [], failed: true }) };
