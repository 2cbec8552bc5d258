/** A wiki that runs MediaWiki, such as Wikipedia ("API:Search" in its documentation). */
import { object } from "../../exchange/json.ts";
import { get, hit, listed, type SearchEngine } from "./engine.ts";

/** CirrusSearch, the usual search of MediaWiki, refuses longer queries. */
const LONGEST_QUERY = 300;

export const mediawiki: SearchEngine = {
  name: "mediawiki",
  async search(query, _wish, { baseUrl, results }, ask) {
    const srsearch = query.slice(0, LONGEST_QUERY).toWellFormed();
    const request = get(
      baseUrl.endsWith("api.php") ? baseUrl : `${baseUrl}/w/api.php`,
      { action: "query", list: "search", srsearch, srlimit: String(results), format: "json" },
      {},
    );
    const body = await ask(request);
    const site = baseUrl.replace(/\/(?:w\/)?api\.php$/, "");
    return listed(object(body.query).search).map((r) =>
      hit(`${site}/wiki/${encodeURIComponent(String(r.title).replaceAll(" ", "_"))}`, r.title, r.snippet)
    );
  },
};
