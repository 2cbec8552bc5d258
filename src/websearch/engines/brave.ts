/** Brave's "Web Search API". It is the only engine that gets the user's region, city and time zone. */
import { array, object } from "../../exchange/json.ts";
import { get, hit, objects, type QueryBounds, type SearchEngine, withOperators } from "./engine.ts";

/** The engine refuses longer queries, including their operators. */
const BOUNDS: QueryBounds = { chars: 400, words: 50 };
/** The engine returns at most five. */
const MOST_SNIPPETS = 10;

export const brave: SearchEngine = {
  name: "brave",
  async search(query, options, { baseUrl, apiKey, results }, ask) {
    const { country, region, city, timezone } = options.location ?? {};
    const request = get(
      `${baseUrl || "https://api.search.brave.com/res/v1"}/web/search`,
      { q: withOperators(query, options, BOUNDS), count: String(results) },
      {
        "x-subscription-token": apiKey,
        ...placed("x-loc-country", country),
        ...placed("x-loc-state-name", region),
        ...placed("x-loc-city", city),
        ...placed("x-loc-timezone", timezone),
      },
    );
    const body = await ask(request);
    return objects(object(body.web).results).map((r) =>
      hit(r.url, r.title, r.description, ...array(r.extra_snippets).slice(0, MOST_SNIPPETS))
    );
  },
};

/** A location header; none if the value contains characters that are not allowed in headers. */
function placed(name: string, value: string | undefined): Record<string, string> {
  return value !== undefined && /^[ -~]{1,100}$/.test(value) ? { [name]: value } : {};
}
