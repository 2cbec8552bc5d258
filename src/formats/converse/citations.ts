/**
 * `citations`, both ways. They point at a web page, at a search result or into one of the request's documents.
 *
 * Citations of web pages do not go back: the search that found them is not carried from one request to the next.
 */
import { array, isObject, type Loose, number, object, string } from "../../exchange/json.ts";
import type { Citation, SourcePlace } from "../../exchange/citation.ts";

/** Undefined: invalid. */
export function decodeCitation(raw: unknown): Citation | undefined {
  if (!isObject(raw)) return undefined;
  const location = object(raw.location);
  const title = string(raw.title);
  const quote = array(raw.sourceContent).map((piece) => string(object(piece).text) ?? "").join("");
  const words = { ...(title !== undefined && { title }), ...(quote !== "" && { quote }) };
  const source = string(raw.source);
  const { searchResultLocation } = location;
  const url = string(object(location.web).url) ??
    (searchResultLocation !== undefined || /^https?:/.test(source ?? "") ? source : undefined);
  if (url !== undefined) {
    const found = placeOf("block", searchResultLocation);
    const result = number(object(searchResultLocation).searchResultIndex);
    const place = found && result !== undefined ? { ...found, result } : undefined;
    return { kind: "url", url, ...words, ...(place && { place }) };
  }
  for (const [name, unit] of UNITS) {
    const inside = location[name];
    if (!isObject(inside)) continue;
    const document = number(inside.documentIndex);
    const place = placeOf(unit, inside);
    return {
      kind: "document",
      ...(document !== undefined && { document }),
      ...words,
      ...(place && { place }),
    };
  }
  return { kind: "document", ...words };
}

const UNITS = [["documentChar", "character"], ["documentPage", "page"], ["documentChunk", "block"]] as const;

function placeOf(unit: SourcePlace["unit"], location: unknown): SourcePlace | undefined {
  const { start, end } = object(location);
  const [from, to] = [number(start), number(end)];
  return from === undefined || to === undefined ? undefined : { unit, start: from, end: to };
}

/** Undefined: it does not go back. */
export function encodeCitation({ kind, url, title, quote, document, place }: Citation): Loose | undefined {
  if (!place) return undefined;
  const { unit, start, end, result } = place;
  const words = { ...(title && { title }), ...(quote && { sourceContent: [{ text: quote }] }) };
  if (kind === "url") {
    if (result === undefined) return undefined;
    const location = { searchResultLocation: { searchResultIndex: result, start, end } };
    return { ...words, ...(url && { source: url }), location };
  }
  const name = UNITS.find(([, of]) => of === unit)?.[0];
  if (name === undefined || document === undefined) return undefined;
  return { ...words, location: { [name]: { documentIndex: document, start, end } } };
}
