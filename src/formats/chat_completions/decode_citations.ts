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

/** A part of `content` that is a source: Mistral's `reference` to sources by number, and `tool_reference` to a page. */
export function readReference(state: AnswerState, choice: OpenChoice, part: Loose, out: Part[]): void {
  const url = string(part.url);
  if (part.type === "tool_reference" && url) {
    if (choice.cited.has(url)) return;
    choice.cited.add(url);
    cite(state, choice, { kind: "url", url, title: string(part.title) ?? "" }, out);
  } else if (part.type === "reference") {
    for (const id of array(part.reference_ids)) {
      const number = typeof id === "string" || typeof id === "number" ? String(id) : "";
      const key = `number ${number}`;
      if (number === "" || choice.cited.has(key)) continue;
      choice.cited.add(key);
      cite(state, choice, { kind: "number", number }, out);
    }
  }
}

/**
 * Cohere's `citations` of a message: a range of the text, and its sources. Those without a page are only in the
 * field itself, which callers of this format get as it is.
 *
 * @param text of the message, if it is complete
 */
export function readSpans(
  state: AnswerState,
  choice: OpenChoice,
  citations: unknown,
  text: string,
  out: Part[],
): void {
  const list = isObject(citations) ? [citations] : array(citations).filter(isObject);
  for (const { start, end, sources } of list) {
    const [from, to] = [integer(start), integer(end)];
    for (const source of array(sources).map(object)) {
      const { url, title, snippet, text: words } = {
        ...object(source.tool_output),
        ...object(source.document),
      };
      const key = `${from} ${to} ${url}`;
      if (typeof url !== "string" || url === "" || choice.cited.has(key)) continue;
      choice.cited.add(key).add(url);
      const quote = string(snippet) || string(words);
      cite(state, choice, {
        kind: "url",
        url,
        title: string(title) ?? "",
        ...(quote && { quote }),
        ...(from !== undefined && to !== undefined && to > from &&
          { start: unitsOf(text, from), end: unitsOf(text, to) }),
      }, out);
    }
  }
}

/** The UTF-16 units of so many characters of a text; the same number if it is not known that there are fewer characters. */
function unitsOf(text: string, characters: number): number {
  let units = 0;
  for (let i = 0; i < characters && units < text.length; i++) {
    units += text.codePointAt(units)! > 0xffff ? 2 : 1;
  }
  return Math.max(units, characters);
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
