/**
 * Citations of the messages format, decoded and encoded.
 *
 * The format has five kinds. Four refer to content of the request (`char_location`, `page_location`,
 * `content_block_location`, `search_result_location`), one to a page found by a search
 * (`web_search_result_location`). Their positions refer to the source, so they are kept in `extra`: those of
 * the vocabulary refer to the answer.
 */
import { isObject, type Loose, number, string } from "../../exchange/json.ts";
import type { Citation, SourcePlace } from "../../exchange/citation.ts";
import { extraOf } from "../../exchange/prompt.ts";

/** Undefined: unknown kind. */
export function decodeCitation(raw: unknown): Citation | undefined {
  if (!isObject(raw)) return undefined;
  const extra = { format: "messages" as const, fields: raw };
  const title = string(raw.title) ?? string(raw.document_title);
  const quote = string(raw.cited_text);
  const place = placeOf(raw);
  const words = {
    ...(title !== undefined && { title }),
    ...(quote !== undefined && { quote }),
    ...(place && { place }),
    extra,
  };
  if (raw.type === "web_search_result_location") return { kind: "url", url: string(raw.url), ...words };
  if (raw.type === "search_result_location") return { kind: "url", url: string(raw.source), ...words };
  const document = number(raw.document_index);
  return { kind: "document", ...(document !== undefined && { document }), ...words };
}

const UNITS: ReadonlyMap<unknown, readonly [SourcePlace["unit"], string]> = new Map([
  ["char_location", ["character", "char_index"]],
  ["page_location", ["page", "page_number"]],
  ["content_block_location", ["block", "block_index"]],
  ["search_result_location", ["block", "block_index"]],
]);

function placeOf(raw: Loose): SourcePlace | undefined {
  const [unit, name] = UNITS.get(raw.type) ?? [];
  const start = number(raw[`start_${name}`]);
  const end = number(raw[`end_${name}`]);
  if (unit === undefined || start === undefined || end === undefined) return undefined;
  const result = number(raw.search_result_index);
  return { unit, start, end, ...(result !== undefined && { result }) };
}

/** The citations of known kinds. */
export function decodeCitations(raw: unknown): Citation[] {
  if (!Array.isArray(raw)) return [];
  return raw.map(decodeCitation).filter((c) => c !== undefined);
}

/**
 * An encoded citation; unchanged if it came from this format. Undefined: it cites a stored file, or a document that is
 * not known. The format requires the index of a document in the request.
 */
export function encodeCitation(citation: Citation): Loose | undefined {
  const own = extraOf(citation.extra, "messages");
  // Clients' types require `file_id`, which older answers do not contain.
  if (own) return citation.kind === "document" ? { file_id: null, ...own } : own;
  const { url, title = null, quote = "", document, place } = citation;
  const kind = citation.kind === "file" && url !== undefined && PAGE.test(url) ? "url" : citation.kind;
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
      // Opaque to everyone but the provider that searched, and required by clients' types.
      encrypted_index: "",
      cited_text: quote,
    };
  }
  if (kind !== "document" || document === undefined) return undefined;
  return {
    ...encodePlace(place ?? { unit: "character", start: 0, end: quote.length }),
    cited_text: quote,
    document_index: document,
    document_title: title,
    file_id: null,
  };
}

const PAGE = /^https?:/i;

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
 * Citations that may be returned to a provider: its own, except those of searches. The blocks to which these
 * refer are not sent, because search results are not kept between requests.
 */
export function replayedCitations(citations: readonly Citation[] | undefined): Loose[] {
  const own = (citations ?? []).map((c) => extraOf(c.extra, "messages"));
  return own.filter((c): c is Loose => c !== undefined && c.type !== "web_search_result_location");
}
