/** Tavily's "Search". */
import { hostOf } from "../hosts.ts";
import { hit, listed, type SearchEngine } from "./engine.ts";

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
        ...(options.allowedDomains && { include_domains: options.allowedDomains.map(hostOf) }),
        ...(options.blockedDomains && { exclude_domains: options.blockedDomains.map(hostOf) }),
      }),
    };
    const body = await ask(request);
    return listed(body.results).map((r) => hit(r.url, r.title, r.content));
  },
};
