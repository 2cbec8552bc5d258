/** SearXNG, a metasearch engine that operators run themselves ("Search API" in its documentation). */
import { array } from "../../exchange/json.ts";
import { get, hit, listed, type SearchEngine, withOperators } from "./engine.ts";

export const searxng: SearchEngine = {
  name: "searxng",
  async search(query, options, { baseUrl, apiKey }, ask) {
    const headers: Record<string, string> = apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };
    const body = await ask(
      get(`${baseUrl}/search`, { q: withOperators(query, options), format: "json" }, headers),
    );
    const results = listed(body.results);
    // All engines that it uses are blocked or unavailable.
    if (results.length === 0 && array(body.unresponsive_engines).length > 0) throw new Error("no engine");
    return results.map((r) => hit(r.url, r.title, r.content));
  },
};
