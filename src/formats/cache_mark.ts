/**
 * `cache_control`, a prompt cache breakpoint: `{type: "ephemeral", ttl?: "5m" | "1h"}`. Defined by the
 * messages format; providers and callers of other formats use the same field.
 */
import { isObject, type Loose, string } from "../exchange/json.ts";
import type { CacheMark, Extra } from "../exchange/prompt.ts";

/** Undefined: no breakpoint. */
export function decodeCacheMark(value: unknown): CacheMark | undefined {
  if (!isObject(value)) return undefined;
  const ttl = string(value.ttl);
  return ttl === undefined ? {} : { ttl };
}

/**
 * The breakpoint of a part in either form. OpenAI's `prompt_cache_breakpoint` has a minimum TTL of half an
 * hour, half a day, or none; one hour is the nearest TTL of other APIs.
 */
export function decodePartMark(part: Loose): CacheMark | undefined {
  const mark = decodeCacheMark(part.cache_control);
  if (mark || !isObject(part.prompt_cache_breakpoint)) return mark;
  return { ...(string(part.prompt_cache_breakpoint.ttl) !== undefined && { ttl: "1h" }), breakpoint: true };
}

/** OpenAI's form of the breakpoint, as sent by the caller. */
export function breakpointOf(extra: Extra | undefined): Loose | undefined {
  const mark = extra?.fields.prompt_cache_breakpoint;
  return isObject(mark) ? { prompt_cache_breakpoint: mark } : undefined;
}

/** The fields for a breakpoint; none without one. */
export function encodeCacheMark(mark: CacheMark | undefined): Loose {
  if (!mark) return {};
  return { cache_control: { type: "ephemeral", ...(mark.ttl !== undefined && { ttl: mark.ttl }) } };
}
