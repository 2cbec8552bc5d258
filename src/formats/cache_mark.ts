/**
 * `cache_control`, the mark of a prompt-cache breakpoint: `{type: "ephemeral", ttl?: "5m" | "1h"}`. The messages format
 * defines it; providers of the other formats' APIs and their callers use the same field.
 */
import { isObject, type Loose, string } from "../exchange/json.ts";
import type { CacheMark } from "../exchange/prompt.ts";

/** Undefined: there is no mark. */
export function decodeCacheMark(value: unknown): CacheMark | undefined {
  if (!isObject(value)) return undefined;
  const ttl = string(value.ttl);
  return ttl === undefined ? {} : { ttl };
}

/** The fields that carry a mark; none without one. */
export function encodeCacheMark(mark: CacheMark | undefined): Loose {
  if (!mark) return {};
  return { cache_control: { type: "ephemeral", ...(mark.ttl !== undefined && { ttl: mark.ttl }) } };
}
