/** The section `search` of the configuration: the engine that web search asks. */
import { choice, fields, headerValue, price, seconds, urlOrNone, whole } from "../schema/fields.ts";
import { ENGINE_NAMES } from "./engines/needs.ts";

const [FIRST_ENGINE, ...OTHER_ENGINES] = ENGINE_NAMES;

export const SEARCH = fields({
  engine: choice(FIRST_ENGINE, ...OTHER_ENGINES, "none").prefault("none")
    .describe(
      "Search engine that is asked. `none`: every search fails, and the model is told that nothing was found.",
    ),
  base_url: urlOrNone().prefault("")
    .describe(
      "Address of the engine. Empty: the public one of `brave` or `tavily`; `searxng` and `mediawiki` have none.",
    ),
  api_key: headerValue().prefault("").describe(
    "Credential of the engine; `brave` and `tavily` answer no one without it.",
  ),
  results: whole(1, 20).prefault(5).describe("Most results that one search gives to the model."),
  timeout_seconds: seconds(0.01).prefault(10)
    .describe(
      "Longest time of a search in seconds, with its second try. Beyond it the search has failed and costs nothing.",
    ),
  price: price().prefault("0.005").describe("Price of one search as a decimal string."),
});
