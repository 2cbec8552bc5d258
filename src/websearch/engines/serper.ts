/** Serper's API of Google's search results. */
import { countryOf, hit, listed, type QueryBounds, type SearchEngine, withOperators } from "./engine.ts";

/** Google ignores further words, and with them the operators at the end of a query. */
const BOUNDS: QueryBounds = { chars: 2000, words: 32 };

export const serper: SearchEngine = {
  name: "serper",
  async search(query, options, { baseUrl, apiKey, results }, ask) {
    const country = countryOf(options);
    const request = {
      url: `${baseUrl || "https://google.serper.dev"}/search`,
      headers: { "content-type": "application/json", "x-api-key": apiKey },
      body: JSON.stringify({
        q: withOperators(query, options, BOUNDS),
        num: results,
        ...(country !== undefined && { gl: country.toLowerCase() }),
      }),
    };
    const body = await ask(request);
    return listed(body.organic).map((r) => hit(r.link, r.title, r.snippet));
  },
};
