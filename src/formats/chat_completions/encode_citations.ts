/** Encodes citations as `annotations` of a message. */
import { type Loose, object } from "../../exchange/json.ts";
import type { Citation } from "../../exchange/citation.ts";
import { extraOf } from "../../exchange/prompt.ts";

/**
 * An encoded citation.
 *
 * @param start start of the cited text in the answer; `end` is exclusive
 */
export function annotationOf(url: string, title: string, start: number, end: number): Loose {
  return { type: "url_citation", url_citation: { url, title, start_index: start, end_index: end } };
}

/** Documents of the request are not representable in this API. A source of the whole answer has the indices 0. */
export function citationOf(citation: Citation, base: number): Loose | undefined {
  if (citation.url === undefined) return undefined;
  const { start, end } = citation;
  const placed = start !== undefined && end !== undefined;
  const title = citation.title ?? "";
  const annotation = annotationOf(citation.url, title, placed ? base + start : 0, placed ? base + end : 0);
  const own = extraOf(citation.extra, "chat_completions");
  return own ? { ...annotation, url_citation: { ...own, ...object(annotation.url_citation) } } : annotation;
}
