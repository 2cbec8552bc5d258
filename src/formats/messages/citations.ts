/**
 * Citations of the messages format, both ways.
 *
 * The format has five kinds. Four point into what the request held (`char_location`, `page_location`,
 * `content_block_location`, `search_result_location`), one at a page that a search found (`web_search_result_location`).
 * Their positions are positions in the source, so they stay in `extra`: the vocabulary's are positions in the answer.
 */
import { isObject, type Loose, number, string } from "../../exchange/json.ts";
import { type Citation, extraOf } from "../../exchange/prompt.ts";

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
  const quote = citation.quote ?? "";
  if (citation.kind === "url") {
    return {
      type: "web_search_result_location",
      url: citation.url ?? "",
      title: citation.title ?? null,
      // Opaque to all but the provider that searched, and required by the clients' types.
      encrypted_index: "",
      cited_text: quote,
    };
  }
  return {
    type: "char_location",
    cited_text: quote,
    document_index: citation.document ?? 0,
    document_title: citation.title ?? null,
    file_id: null,
    start_char_index: 0,
    end_char_index: quote.length,
  };
}

/**
 * Citations that may go back to a provider: its own, but for those of searches. The blocks that these point at never reach
 * it, because search results are not carried from one request to the next.
 */
export function replayedCitations(citations: readonly Citation[] | undefined): Loose[] {
  const own = (citations ?? []).map((c) => extraOf(c.extra, "messages"));
  return own.filter((c): c is Loose => c !== undefined && c.type !== "web_search_result_location");
}
