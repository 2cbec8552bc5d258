/** A wiki that runs MediaWiki, such as Wikipedia ("API:Search" in its documentation). */
import { object } from "../../exchange/json.ts";
import { get, hit, listed, type SearchEngine } from "./engine.ts";

/** CirrusSearch, the usual search of MediaWiki, refuses longer queries. */
const LONGEST_QUERY = 300;

/** The address of a page; undefined: it has no title. */
function pageOf(site: string, title: unknown): string | undefined {
  if (typeof title !== "string" || title === "") return undefined;
  return `${site}/wiki/${encodeURIComponent(title.toWellFormed().replaceAll(" ", "_"))}`;
}

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
    return listed(object(body.query).search).map((r) => hit(pageOf(site, r.title), r.title, r.snippet));
  },
};
