/** The configuration section `search`: the engine for web search. */
import { choice, fields, headerValue, price, seconds, urlOrNone, whole } from "../schema/fields.ts";
import { ENGINE_NAMES } from "./engines/needs.ts";

const [FIRST_ENGINE, ...OTHER_ENGINES] = ENGINE_NAMES;

export const SEARCH = fields({
  engine: choice(FIRST_ENGINE, ...OTHER_ENGINES, "none").prefault("none")
    .describe("Search engine. `none`: every search fails, and the model is told that nothing was found."),
  base_url: urlOrNone().prefault("")
    .describe(
      "Base URL of the engine. Empty: the public API of `brave`, `tavily`, `exa` or `serper`; required for `searxng` and `mediawiki`.",
    ),
  api_key: headerValue().prefault("").describe(
    "API key of the engine; required for `brave`, `tavily`, `exa` and `serper`.",
  ),
  results: whole(1, 20).prefault(5).describe("Maximum number of results of one search that the model gets."),
  timeout_seconds: seconds(0.01).prefault(10)
    .describe(
      "Timeout of a search with its retry, in seconds. Then the search has failed and costs nothing.",
    ),
  price: price().prefault("0.005").describe("Price of one search, as a decimal string."),
});
