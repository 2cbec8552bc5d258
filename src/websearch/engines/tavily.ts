/** Tavily's "Search" API. */
import { hostOf } from "../hosts.ts";
import { hit, listed, type SearchEngine } from "./engine.ts";

/** The engine refuses longer lists. The results are filtered by the complete lists. */
const MOST_INCLUDED = 300;
const MOST_EXCLUDED = 150;

export const tavily: SearchEngine = {
  name: "tavily",
  async search(query, options, { baseUrl, apiKey, results }, ask) {
    const request = {
      url: `${baseUrl || "https://api.tavily.com"}/search`,
      headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({
        query,
        max_results: results,
        ...(options.contextSize === "high" && { search_depth: "advanced" }),
        ...(options.allowedDomains &&
          { include_domains: options.allowedDomains.slice(0, MOST_INCLUDED).map(hostOf) }),
        ...(options.blockedDomains &&
          { exclude_domains: options.blockedDomains.slice(0, MOST_EXCLUDED).map(hostOf) }),
      }),
    };
    const body = await ask(request);
    return listed(body.results).map((r) => hit(r.url, r.title, r.content));
  },
};
