/**
 * `cache_control`, the mark of a prompt-cache breakpoint: `{type: "ephemeral", ttl?: "5m" | "1h"}`. The messages format
 * defines it; providers of the other formats' APIs and their callers use the same field.
 */
import { isObject, type Loose, string } from "../exchange/json.ts";
import type { CacheMark, Extra } from "../exchange/prompt.ts";

/** Undefined: there is no mark. */
export function decodeCacheMark(value: unknown): CacheMark | undefined {
  if (!isObject(value)) return undefined;
  const ttl = string(value.ttl);
  return ttl === undefined ? {} : { ttl };
}

/**
 * The mark of a part, in either of its forms. OpenAI's `prompt_cache_breakpoint` names a least lifetime of half an hour or
 * half a day, or none; the hour is the nearest that others have.
 */
export function decodePartMark(part: Loose): CacheMark | undefined {
  const mark = decodeCacheMark(part.cache_control);
  if (mark || !isObject(part.prompt_cache_breakpoint)) return mark;
  return { ...(string(part.prompt_cache_breakpoint.ttl) !== undefined && { ttl: "1h" }), breakpoint: true };
}

/** OpenAI's form of the mark, as the caller wrote it. */
export function breakpointOf(extra: Extra | undefined): Loose | undefined {
  const mark = extra?.fields.prompt_cache_breakpoint;
  return isObject(mark) ? { prompt_cache_breakpoint: mark } : undefined;
}

/** The fields that carry a mark; none without one. */
export function encodeCacheMark(mark: CacheMark | undefined): Loose {
  if (!mark) return {};
  return { cache_control: { type: "ephemeral", ...(mark.ttl !== undefined && { ttl: mark.ttl }) } };
}
