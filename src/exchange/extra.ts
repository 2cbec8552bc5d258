/** What only one format understands. */
import type { FormatName } from "./format_name.ts";
import type { Loose } from "./json.ts";

/** Wire fields without a word in the vocabulary, and the format that knows them. */
export interface Extra {
  format: FormatName;
  fields: Loose;
}
