/** Tavily's "Search" API. */
import { hostsOf, wholeHostsOf } from "../hosts.ts";
import { hit, listed, type SearchEngine } from "./engine.ts";

/** The engine refuses longer lists. The results are filtered by the complete lists. */
const MOST_INCLUDED = 300;
const MOST_EXCLUDED = 150;

export const tavily: SearchEngine = {
  name: "tavily",
  async search(query, options, { baseUrl, apiKey, results }, ask) {
    const included = hostsOf(options.allowedDomains);
    const excluded = wholeHostsOf(options.blockedDomains);
    const request = {
      url: `${baseUrl || "https://api.tavily.com"}/search`,
      headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({
        query,
        max_results: results,
        ...(options.contextSize === "high" && { search_depth: "advanced" }),
        ...(included.length > 0 && { include_domains: included.slice(0, MOST_INCLUDED) }),
        ...(excluded.length > 0 && { exclude_domains: excluded.slice(0, MOST_EXCLUDED) }),
      }),
    };
    const body = await ask(request);
    return listed(body.results).map((r) => hit(r.url, r.title, r.content));
  },
};
