/**
 * Web search as the pipeline sees it: a query in, hits out. A failure is no exception but an empty result that is not
 * billed, because a request must not fail for its search.
 *
 * An engine gets two tries within the time limit. Answers are kept for a short while per query: a conversation's next
 * turn, or a colleague, often asks the same.
 */
import { object } from "../exchange/json.ts";
import type { SearchWish } from "../exchange/prompt.ts";
import { cleanText } from "./clean.ts";
import { type EngineName, ENGINES, type EngineSettings } from "./engines.ts";

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

export interface WebSearchSettings extends EngineSettings {
  engine: EngineName | "none";
  timeoutMs: number;
}

/** Text of all hits together and of a title, in UTF-16 units: about 2,000 tokens for a search. */
const TEXT_CHARS = 8000;
const TITLE_CHARS = 200;
const LONGEST_QUERY = 400;
const TRIES = 2;
const KEPT_MS = 60_000;
const KEPT_QUERIES = 1000;

export function openWebSearch(settings: WebSearchSettings, clock: { now(): number }): WebSearch {
  const name = settings.engine;
  if (name === "none") return { search: () => Promise.resolve({ hits: [], failed: true }) };
  const engine = ENGINES[name];
  const kept = new Map<string, { hits: Hit[]; until: number }>();

  async function once(query: string, wish: SearchWish, signal: AbortSignal): Promise<Hit[]> {
    const response = await fetch(engine.request(query, wish, settings), { signal, redirect: "error" });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`status ${response.status}`);
    }
    const raw = engine.hits(object(await response.json()), settings)
      .filter((h) => isWebAddress(h.url) && fitsDomains(h.url, wish))
      .slice(0, settings.results);
    const each = Math.floor(TEXT_CHARS / Math.max(1, raw.length));
    return raw.map((h) => ({
      url: h.url,
      title: cleanText(h.title, TITLE_CHARS),
      text: cleanText(h.text, each),
    }));
  }

  return {
    async search(query, wish) {
      const asked = query.slice(0, LONGEST_QUERY);
      const key = JSON.stringify([asked, wish.allowedDomains, wish.blockedDomains, wish.contextSize]);
      const known = kept.get(key);
      if (known && known.until > clock.now()) return { hits: known.hits, failed: false };
      const signal = AbortSignal.timeout(settings.timeoutMs);
      for (let attempt = 0; attempt < TRIES && !signal.aborted; attempt++) {
        try {
          const hits = await once(asked, wish, signal);
          if (kept.size >= KEPT_QUERIES) kept.delete(kept.keys().next().value!);
          kept.set(key, { hits, until: clock.now() + KEPT_MS });
          return { hits, failed: false };
        } catch {
          // The next try, or an empty result: what the engine said helps nobody here.
        }
      }
      return { hits: [], failed: true };
    },
  };
}

function isWebAddress(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url);
}

function fitsDomains(url: string, wish: SearchWish): boolean {
  const { hostname } = new URL(url);
  const within = (domains: readonly string[]) =>
    domains.some((d) => {
      const domain = d.toLowerCase().replace(/^https?:\/\//, "").replace(/\/.*$/, "").replace(/^\*\./, "");
      return hostname === domain || hostname.endsWith(`.${domain}`);
    });
  if (wish.allowedDomains && wish.allowedDomains.length > 0 && !within(wish.allowedDomains)) return false;
  return !(wish.blockedDomains && within(wish.blockedDomains));
}
