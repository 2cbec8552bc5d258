/** Format-specific data. */
import type { FormatName } from "./format_name.ts";
import type { Loose } from "./json.ts";

/** Fields of a wire format that have no equivalent in the common vocabulary, with their format. */
export interface Extra {
  format: FormatName;
  fields: Loose;
}
