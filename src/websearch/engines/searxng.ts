/** SearXNG, a metasearch engine on a server of one's own ("Search API" of its documentation). */
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
    // All engines behind it are blocked or down.
    if (results.length === 0 && array(body.unresponsive_engines).length > 0) throw new Error("no engine");
    return results.map((r) => hit(r.url, r.title, r.content));
  },
};
