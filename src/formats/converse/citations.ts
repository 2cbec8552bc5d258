/** `citations` of an answer, which point at a web page, at a search result or into one of the request's documents. */
import { array, isObject, number, object, string } from "../../exchange/json.ts";
import type { Citation } from "../../exchange/prompt.ts";

/** Undefined: it is none. */
export function decodeCitation(raw: unknown): Citation | undefined {
  if (!isObject(raw)) return undefined;
  const location = object(raw.location);
  const title = string(raw.title);
  const quote = array(raw.sourceContent).map((piece) => string(object(piece).text) ?? "").join("");
  const words = { ...(title !== undefined && { title }), ...(quote !== "" && { quote }) };
  const source = string(raw.source);
  const url = string(object(location.web).url) ??
    (location.searchResultLocation !== undefined || /^https?:/.test(source ?? "") ? source : undefined);
  if (url !== undefined) return { kind: "url", url, ...words };
  const place = [location.documentChar, location.documentPage, location.documentChunk].find(isObject);
  const document = number(place?.documentIndex);
  return { kind: "document", ...(document !== undefined && { document }), ...words };
}
