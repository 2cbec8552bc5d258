/** Exa's "Search" API. */
import { array } from "../../exchange/json.ts";
import { hostsOf, wholeHostsOf } from "../hosts.ts";
import { countryOf, hit, listed, type SearchEngine } from "./engine.ts";

/** Length of the text of each page, in characters. */
const TEXT_CHARS = 4000;
/** The engine refuses longer lists. The results are filtered by the complete lists. */
const MOST_HOSTS = 1200;

export const exa: SearchEngine = {
  name: "exa",
  async search(query, options, { baseUrl, apiKey, results }, ask) {
    const included = hostsOf(options.allowedDomains);
    const excluded = wholeHostsOf(options.blockedDomains);
    const country = countryOf(options);
    const request = {
      url: `${baseUrl || "https://api.exa.ai"}/search`,
      headers: { "content-type": "application/json", "x-api-key": apiKey },
      body: JSON.stringify({
        query,
        numResults: results,
        contents: { text: { maxCharacters: TEXT_CHARS } },
        ...(included.length > 0 && { includeDomains: included.slice(0, MOST_HOSTS) }),
        ...(excluded.length > 0 && { excludeDomains: excluded.slice(0, MOST_HOSTS) }),
        ...(country !== undefined && { userLocation: country }),
      }),
    };
    const body = await ask(request);
    return listed(body.results).map((r) =>
      hit(r.url, r.title, ...(r.text === undefined ? array(r.highlights) : [r.text]))
    );
  },
};
