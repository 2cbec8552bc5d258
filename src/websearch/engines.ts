/**
 * The search engines: how each is asked, and where its answer keeps the hits. Shapes are those of the engines' public
 * documentation: SearXNG "Search API", Brave "Web Search API", Tavily "Search", MediaWiki "API:Search".
 */
import { array, type Loose, object, string } from "../exchange/json.ts";
import type { SearchWish } from "../exchange/prompt.ts";

export type EngineName = "searxng" | "brave" | "tavily" | "mediawiki";

export interface EngineSettings {
  /** Empty: the engine's public address, where it has one. */
  baseUrl: string;
  apiKey: string;
  /** Hits wanted. */
  results: number;
}

/** A hit as the engine words it: text may hold markup. */
export interface RawHit {
  url: string;
  title: string;
  text: string;
}

interface Engine {
  /** Domains that the engine can be told itself; others are filtered from the hits. */
  request(query: string, wish: SearchWish, settings: EngineSettings): Request;
  hits(body: Loose, settings: EngineSettings): RawHit[];
}

const hit = (url: unknown, title: unknown, ...texts: unknown[]): RawHit => ({
  url: string(url) ?? "",
  title: string(title) ?? "",
  text: texts.flat().map(string).filter((t) => t).join(" "),
});

export const ENGINES: Readonly<Record<EngineName, Engine>> = {
  searxng: {
    request: (query, _wish, { baseUrl, apiKey }) =>
      get(
        `${baseUrl}/search`,
        { q: query, format: "json" },
        apiKey ? { authorization: `Bearer ${apiKey}` } : {},
      ),
    hits: (body) => array(body.results).map(object).map((r) => hit(r.url, r.title, r.content)),
  },
  brave: {
    request: (query, _wish, { baseUrl, apiKey, results }) =>
      get(`${baseUrl || "https://api.search.brave.com/res/v1"}/web/search`, {
        q: query,
        count: String(results),
      }, {
        "x-subscription-token": apiKey,
      }),
    hits: (body) =>
      array(object(body.web).results).map(object).map((r) =>
        hit(r.url, r.title, r.description, r.extra_snippets ?? [])
      ),
  },
  tavily: {
    request: (query, wish, { baseUrl, apiKey, results }) =>
      new Request(`${baseUrl || "https://api.tavily.com"}/search`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
        body: JSON.stringify({
          query,
          max_results: results,
          ...(wish.contextSize === "high" && { search_depth: "advanced" }),
          ...(wish.allowedDomains && { include_domains: wish.allowedDomains }),
          ...(wish.blockedDomains && { exclude_domains: wish.blockedDomains }),
        }),
      }),
    hits: (body) => array(body.results).map(object).map((r) => hit(r.url, r.title, r.content)),
  },
  mediawiki: {
    request: (query, _wish, { baseUrl, results }) =>
      get(
        baseUrl.endsWith("api.php") ? baseUrl : `${baseUrl}/w/api.php`,
        { action: "query", list: "search", srsearch: query, srlimit: String(results), format: "json" },
        {},
      ),
    hits: (body, { baseUrl }) => {
      const site = baseUrl.replace(/\/(?:w\/)?api\.php$/, "");
      return array(object(body.query).search).map(object).map((r) =>
        hit(`${site}/wiki/${encodeURIComponent(String(r.title).replaceAll(" ", "_"))}`, r.title, r.snippet)
      );
    },
  },
};

function get(url: string, query: Record<string, string>, headers: Record<string, string>): Request {
  return new Request(`${url}?${new URLSearchParams(query)}`, {
    headers: { accept: "application/json", ...headers },
  });
}
