/** Sources that a provider's answer names: annotations of a message, and Perplexity's lists beside the choices. */
import { array, integer, isObject, type Loose, object, string } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import type { Citation } from "../../exchange/citation.ts";
import { type AnswerState, type OpenChoice, openText } from "./decode_state.ts";

/** Adds annotations as citations, each once. */
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
    choice.cited.add(url);
    cite(state, choice, {
      kind: "url",
      url,
      title: string(nested.title) ?? "",
      ...(quote && { quote }),
      ...(start !== undefined && end !== undefined && end > start && { start, end }),
    }, out);
  }
}

/** Adds a citation to the choice's text, which begins where there is none. */
export function cite(state: AnswerState, choice: OpenChoice, citation: Citation, out: Part[]): void {
  const { block } = choice.text ?? openText(state, choice, false, out);
  out.push({ type: "citation", block, citation });
}

/** Perplexity names its pages beside the choices: as bare addresses, and as results with titles. */
export function decodeSources(chunk: Loose): Citation[] {
  const titles = new Map<string, string>();
  for (const url of array(chunk.citations)) if (typeof url === "string" && url !== "") titles.set(url, "");
  for (const result of array(chunk.search_results)) {
    const url = string(object(result).url);
    if (url) titles.set(url, string(object(result).title) ?? "");
  }
  return [...titles].map(([url, title]) => ({ kind: "url", url, title }));
}
