/**
 * The search engines: how each is asked, and where its answer keeps the hits. Shapes are those of the engines' public
 * documentation: SearXNG "Search API", Brave "Web Search API", Tavily "Search", MediaWiki "API:Search".
 *
 * Hosts that a caller wants or does not want go to the engine where it has a field or an operator for them, so that its
 * few hits are not spent on others; whatever comes back is filtered all the same. Brave alone takes a place.
 */
import { array, type Loose, object, string } from "../exchange/json.ts";
import type { SearchWish } from "../exchange/prompt.ts";
import { hostOf } from "./hosts.ts";

export type EngineName = "searxng" | "brave" | "tavily" | "mediawiki";

export interface EngineSettings {
  /** Empty: the engine's public address, where it has one. No slash at its end. */
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
  request(query: string, wish: SearchWish, settings: EngineSettings): Request;
  /** Throws when the answer says that nothing was searched. */
  hits(body: Loose, settings: EngineSettings): RawHit[];
}

export const ENGINES: Readonly<Record<EngineName, Engine>> = {
  searxng: {
    request: (query, wish, { baseUrl, apiKey }) =>
      get(
        `${baseUrl}/search`,
        { q: withOperators(query, wish), format: "json" },
        apiKey ? { authorization: `Bearer ${apiKey}` } : {},
      ),
    hits: (body) => {
      const results = listed(body.results);
      // All engines behind it are blocked or down.
      if (results.length === 0 && array(body.unresponsive_engines).length > 0) throw new Error("no engine");
      return results.map((r) => hit(r.url, r.title, r.content));
    },
  },
  brave: {
    request: (query, wish, { baseUrl, apiKey, results }) => {
      const { country, region, city, timezone } = wish.location ?? {};
      return get(
        `${baseUrl || "https://api.search.brave.com/res/v1"}/web/search`,
        { q: withOperators(query, wish), count: String(results) },
        {
          "x-subscription-token": apiKey,
          ...placed("x-loc-country", country),
          ...placed("x-loc-state-name", region),
          ...placed("x-loc-city", city),
          ...placed("x-loc-timezone", timezone),
        },
      );
    },
    hits: (body) =>
      array(object(body.web).results).map(object).map((r) =>
        hit(r.url, r.title, r.description, ...array(r.extra_snippets))
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
          ...(wish.allowedDomains && { include_domains: wish.allowedDomains.map(hostOf) }),
          ...(wish.blockedDomains && { exclude_domains: wish.blockedDomains.map(hostOf) }),
        }),
      }),
    hits: (body) => listed(body.results).map((r) => hit(r.url, r.title, r.content)),
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
      return listed(object(body.query).search).map((r) =>
        hit(`${site}/wiki/${encodeURIComponent(String(r.title).replaceAll(" ", "_"))}`, r.title, r.snippet)
      );
    },
  },
};

/** The list that every good answer has, also one without hits. */
function listed(value: unknown): Loose[] {
  if (!Array.isArray(value)) throw new Error("no list of results");
  return value.map(object);
}

function hit(url: unknown, title: unknown, ...texts: unknown[]): RawHit {
  const words = texts.map(string).filter((t) => t !== undefined && t !== "");
  return { url: string(url) ?? "", title: string(title) ?? "", text: words.join(" ") };
}

/** Most hosts that go into a query: engines cut long ones. */
const MOST_HOSTS = 8;

function withOperators(query: string, { allowedDomains, blockedDomains }: SearchWish): string {
  const sites = (domains: readonly string[] | undefined) =>
    (domains ?? []).slice(0, MOST_HOSTS).map((domain) => `site:${hostOf(domain)}`);
  const wanted = sites(allowedDomains);
  const operators = sites(blockedDomains).map((site) => `-${site}`);
  if (wanted.length > 0) operators.unshift(wanted.length === 1 ? wanted[0] : `(${wanted.join(" OR ")})`);
  return [query, ...operators].join(" ");
}

/** A header of a place; none for words that cannot stand in a header. */
function placed(name: string, value: string | undefined): Record<string, string> {
  return value !== undefined && /^[ -~]{1,100}$/.test(value) ? { [name]: value } : {};
}

function get(url: string, query: Record<string, string>, headers: Record<string, string>): Request {
  return new Request(`${url}?${new URLSearchParams(query)}`, {
    // Wikimedia refuses clients that do not say who they are.
    headers: { accept: "application/json", "user-agent": "sluice (language-model gateway)", ...headers },
  });
}
