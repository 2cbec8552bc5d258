/** Citations in an answer. */
import type { Extra } from "./extra.ts";

/** A range in a source; the end is exclusive. */
export interface SourcePlace {
  unit: "character" | "page" | "block";
  start: number;
  end: number;
  /** Index, from 0, of the cited search result in the request. */
  result?: number;
}

/** A source cited by an answer. Indices are UTF-16 units of the text block. */
export interface Citation {
  /**
   * `url`: a web page. `document`: a document of the request. `file`: a stored file. `number`: a source of the
   * request, by a number that was not resolved; callers do not get it.
   */
  kind: "url" | "document" | "file" | "number";
  number?: string;
  url?: string;
  title?: string;
  /** The cited text of the source. */
  quote?: string;
  start?: number;
  end?: number;
  /** Index, from 0, of the document in the request. */
  document?: number;
  /** The cited range, in a source that is part of the request. */
  place?: SourcePlace;
  /** The original object, for the same format. */
  extra?: Extra;
}
