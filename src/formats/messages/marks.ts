/** State shared by the decoders of a request: errors, cache breakpoints, and fields without an equivalent. */
import type { Mistake } from "../../exchange/failure.ts";
import { isObject, type Loose, rest } from "../../exchange/json.ts";
import type { CacheMark, Effort, Extra, SearchOptions } from "../../exchange/prompt.ts";
import type { Unseal } from "../../exchange/proof.ts";
import { decodeCacheMark } from "../cache_mark.ts";
import type { ToolChange } from "../history_tools.ts";

export interface DecodeState {
  unseal: Unseal;
  mistakes: Mistake[];
  /** Tools declared or removed by blocks of the messages. */
  changes: ToolChange[];
  /** The search, if such a block declares it. */
  search?: SearchOptions;
  /** Blocks of searches were removed. */
  searched?: boolean;
  /** `output_config.effort` of the last system message that has one. */
  effort?: Effort;
}

const MARK_FIELDS = new Set(["type", "ttl"]);

/** The cache breakpoint, and fields without an equivalent. */
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
