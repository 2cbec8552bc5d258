/** Decodes sources in a provider's answer: annotations of a message, and Perplexity's top-level lists. */
import { array, integer, isObject, type Loose, object, rest, string } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import type { Citation } from "../../exchange/citation.ts";
import { type AnswerState, type OpenChoice, openText } from "./decode_state.ts";

const PAGE: ReadonlySet<string> = new Set(["url", "title", "start_index", "end_index"]);

/** Adds annotations as citations. OpenAI's types have no other kind, and some clients refuse one (`file` of OpenRouter). */
export function readAnnotations(
  state: AnswerState,
  choice: OpenChoice,
  annotations: readonly unknown[],
  out: Part[],
): void {
  for (const annotation of annotations) {
    const wire = object(annotation);
    if (wire.type !== "url_citation") continue;
    const nested = isObject(wire.url_citation) ? wire.url_citation : wire;
    const url = string(nested.url);
    if (!url) continue;
    const start = integer(nested.start_index);
    const end = integer(nested.end_index);
    const quote = string(nested.content);
    const own = nested === wire ? undefined : rest(nested, PAGE);
    choice.cited.add(url);
    cite(state, choice, {
      kind: "url",
      url,
      title: string(nested.title) ?? "",
      ...(quote && { quote }),
      ...(start !== undefined && end !== undefined && end > start && { start, end }),
      ...(own && { extra: { format: "chat_completions", fields: own } }),
    }, out);
  }
}

/** Adds a citation to the choice's text, which is started if necessary. */
export function cite(state: AnswerState, choice: OpenChoice, citation: Citation, out: Part[]): void {
  const { block } = choice.text ?? openText(state, choice, false, out);
  out.push({ type: "citation", block, citation });
}

/** Perplexity lists pages at the top level, as URLs, and as results with titles; Z.AI has results as `web_search`. */
export function decodeSources(chunk: Loose): Citation[] {
  const titles = new Map<string, string>();
  for (const url of array(chunk.citations)) if (typeof url === "string" && url !== "") titles.set(url, "");
  for (const result of array(chunk.search_results)) {
    const url = string(object(result).url);
    if (url) titles.set(url, string(object(result).title) ?? "");
  }
  for (const result of array(chunk.web_search)) {
    const { link, title } = object(result);
    if (typeof link === "string" && link !== "") titles.set(link, string(title) ?? "");
  }
  return [...titles].map(([url, title]) => ({ kind: "url", url, title }));
}
