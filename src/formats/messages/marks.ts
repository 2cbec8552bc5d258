/** What the readers of a request share: where mistakes are noted, cache marks, and fields without a word. */
import type { Mistake } from "../../exchange/failure.ts";
import { isObject, type Loose, rest } from "../../exchange/json.ts";
import type { CacheMark, Effort, Extra, SearchOptions } from "../../exchange/prompt.ts";
import type { Unseal } from "../../exchange/proof.ts";
import { decodeCacheMark } from "../cache_mark.ts";
import type { ToolChange } from "../history_tools.ts";

export interface DecodeState {
  unseal: Unseal;
  mistakes: Mistake[];
  /** Tools that blocks of the messages declare or take away. */
  changes: ToolChange[];
  /** The search, where such a block declares it. */
  search?: SearchOptions;
  /** Blocks of searches were left out. */
  searched?: boolean;
  /** `output_config.effort` of the last system message that has one. */
  effort?: Effort;
}

const MARK_FIELDS = new Set(["type", "ttl"]);

/** The cache mark, and the fields that the vocabulary has no word for. */
export function marks(
  block: Loose,
  fields: ReadonlySet<string>,
  source?: Loose,
): { cache?: CacheMark; extra?: Extra } {
  const mark = block.cache_control;
  let unknown = rest(block, fields);
  if (source) unknown = { ...unknown, source };
  if (!isObject(mark)) return unknown ? { extra: { format: "messages", fields: unknown } } : {};
  if (rest(mark, MARK_FIELDS)) unknown = { ...unknown, cache_control: mark };
  return {
    cache: decodeCacheMark(mark),
    ...(unknown && { extra: { format: "messages" as const, fields: unknown } }),
  };
}
