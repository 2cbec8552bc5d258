/** A wiki that runs MediaWiki, such as Wikipedia ("API:Search" of its documentation). */
import { object } from "../../exchange/json.ts";
import { get, hit, listed, type SearchEngine } from "./engine.ts";

export const mediawiki: SearchEngine = {
  name: "mediawiki",
  async search(query, _wish, { baseUrl, results }, ask) {
    const request = get(
      baseUrl.endsWith("api.php") ? baseUrl : `${baseUrl}/w/api.php`,
      { action: "query", list: "search", srsearch: query, srlimit: String(results), format: "json" },
      {},
    );
    const body = await ask(request);
    const site = baseUrl.replace(/\/(?:w\/)?api\.php$/, "");
    return listed(object(body.query).search).map((r) =>
      hit(`${site}/wiki/${encodeURIComponent(String(r.title).replaceAll(" ", "_"))}`, r.title, r.snippet)
    );
  },
};
