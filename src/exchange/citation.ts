/** What an answer says of where its words are from. */
import type { Extra } from "./extra.ts";

/** A place in a source, from its first unit to the one behind its last. */
export interface SourcePlace {
  unit: "character" | "page" | "block";
  start: number;
  end: number;
  /** Position of the search result among the request's, from 0, where the source is one. */
  result?: number;
}

/** A source that an answer names. Indices are UTF-16 units of the text block they belong to. */
export interface Citation {
  /** `url`: a web page. `document`: one of the request's documents. `file`: a stored file. */
  kind: "url" | "document" | "file";
  url?: string;
  title?: string;
  /** The words cited, from the source. */
  quote?: string;
  start?: number;
  end?: number;
  /** Position among the request's documents, from 0. */
  document?: number;
  /** Where the cited words are in a source that came with the request. */
  place?: SourcePlace;
  /** The wire's own object, for the same format. */
  extra?: Extra;
}
