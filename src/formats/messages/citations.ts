/**
 * Citations of the messages format, both ways.
 *
 * The format has five kinds. Four point into what the request held (`char_location`, `page_location`,
 * `content_block_location`, `search_result_location`), one at a page that a search found (`web_search_result_location`).
 * Their positions are positions in the source, so they stay in `extra`: the vocabulary's are positions in the answer.
 */
import { isObject, type Loose, number, string } from "../../exchange/json.ts";
import type { Citation, SourcePlace } from "../../exchange/citation.ts";
import { extraOf } from "../../exchange/prompt.ts";

/** Undefined: it is none that is known. */
export function decodeCitation(raw: unknown): Citation | undefined {
  if (!isObject(raw)) return undefined;
  const extra = { format: "messages" as const, fields: raw };
  const title = string(raw.title) ?? string(raw.document_title);
  const quote = string(raw.cited_text);
  const words = { ...(title !== undefined && { title }), ...(quote !== undefined && { quote }), extra };
  if (raw.type === "web_search_result_location") return { kind: "url", url: string(raw.url), ...words };
  if (raw.type === "search_result_location") return { kind: "url", url: string(raw.source), ...words };
  const document = number(raw.document_index);
  return { kind: "document", ...(document !== undefined && { document }), ...words };
}

/** Those that are known. */
export function decodeCitations(raw: unknown): Citation[] {
  if (!Array.isArray(raw)) return [];
  return raw.map(decodeCitation).filter((c) => c !== undefined);
}

/** A citation on the wire, as it came where it came in this format. */
export function encodeCitation(citation: Citation): Loose {
  const own = extraOf(citation.extra, "messages");
  // Clients' types want to hear of the file, which older answers do not name.
  if (own) return citation.kind === "document" ? { file_id: null, ...own } : own;
  const { kind, url, title = null, quote = "", document = 0, place } = citation;
  if (kind === "url" && place?.result !== undefined) {
    return {
      type: "search_result_location",
      source: url ?? "",
      title,
      cited_text: quote,
      search_result_index: place.result,
      start_block_index: place.start,
      end_block_index: place.end,
    };
  }
  if (kind === "url") {
    return {
      type: "web_search_result_location",
      url: url ?? "",
      title,
      // Opaque to all but the provider that searched, and required by the clients' types.
      encrypted_index: "",
      cited_text: quote,
    };
  }
  return {
    ...encodePlace(place ?? { unit: "character", start: 0, end: quote.length }),
    cited_text: quote,
    document_index: document,
    document_title: title,
    file_id: null,
  };
}

function encodePlace({ unit, start, end }: SourcePlace): Loose {
  switch (unit) {
    case "character":
      return { type: "char_location", start_char_index: start, end_char_index: end };
    case "page":
      return { type: "page_location", start_page_number: start, end_page_number: end };
    case "block":
      return { type: "content_block_location", start_block_index: start, end_block_index: end };
  }
}

/**
 * Citations that may go back to a provider: its own, but for those of searches. The blocks that these point at never reach
 * it, because search results are not carried from one request to the next.
 */
export function replayedCitations(citations: readonly Citation[] | undefined): Loose[] {
  const own = (citations ?? []).map((c) => extraOf(c.extra, "messages"));
  return own.filter((c): c is Loose => c !== undefined && c.type !== "web_search_result_location");
}
