/**
 * Token counts of the messages format, decoded and encoded.
 *
 * | wire                                            | canonical                                   |
 * |-------------------------------------------------|---------------------------------------------|
 * | `input_tokens`: uncached input only             | `input` - `cached` - `cacheWrite`           |
 * | `cache_read_input_tokens`                       | `cached`                                    |
 * | `cache_creation_input_tokens`                   | `cacheWrite`                                |
 * | `cache_creation.ephemeral_5m_input_tokens`      | `cacheWrite` - `cacheWrite1h`               |
 * | `cache_creation.ephemeral_1h_input_tokens`      | `cacheWrite1h`                              |
 * | `output_tokens`: thinking included              | `output`                                    |
 * | `output_tokens_details.thinking_tokens`         | `reasoning`                                 |
 * | `server_tool_use.web_search_requests`           | `searches` of the part, outside the counts  |
 * | `iterations` that {@link isApart}               | part of all of the above                    |
 *
 * The totals exclude what the provider used outside of the conversation itself: for compaction, for advisor
 * models, and output of models that declined within the answer before one of `fallbacks` gave it. All of this
 * is billed, so it is counted; a model that declined before any output is not billed. Callers of this format
 * get the totals as reported by the provider, since they use them to determine how full the context is, and
 * `iterations` beside them.
 *
 * In a stream the counts in `message_start` are preliminary; those in `message_delta` are totals, and replace
 * them field by field. A field that is absent or null there keeps its earlier value, and so does the input if
 * all of it is zero there.
 *
 * How the provider served the call (`service_tier`, `inference_geo`, `speed`, `iterations`,
 * `fallback_credit`) is returned to callers of this format. Their types require the first three; null means
 * not reported.
 */
import { array, isObject, type Loose, object, rest, string } from "../../exchange/json.ts";
import type { UsagePart, UsedModels } from "../../exchange/part.ts";
import { type Extra, extraOf } from "../../exchange/prompt.ts";
import {
  addUsage,
  count,
  isCounted,
  misreports,
  NO_USAGE,
  normalizeUsage,
  subtractUsage,
  type Usage,
} from "../../exchange/usage.ts";
import { MESSAGE_FIELDS } from "./finish.ts";

const SERVICE = ["service_tier", "inference_geo", "speed", "iterations", "fallback_credit"] as const;

/** Field of the service's `extra` with other fields of the message, such as diagnostics about the request. */
const REQUEST = "request";

/**
 * Data about how the call was served; undefined: none.
 *
 * @param message the start of the answer, which also contains data about the request
 */
export function decodeService(raw: Loose, message: Loose = {}): Extra | undefined {
  const fields = present(raw, SERVICE);
  const said = rest(message, MESSAGE_FIELDS) ?? {};
  for (const name of Object.keys(said)) if (said[name] === null) delete said[name];
  if (Object.keys(said).length > 0) fields[REQUEST] = said;
  return Object.keys(fields).length > 0 ? { format: "messages", fields } : undefined;
}

function present(from: Loose, names: readonly string[]): Loose {
  const fields: Loose = {};
  for (const name of names) if (from[name] !== undefined && from[name] !== null) fields[name] = from[name];
  return fields;
}

/** Other fields of the message. Clients' types require the first, which is about the request. */
export function saidOfRequest(extra: Extra | undefined): Loose {
  return { diagnostics: null, ...object(extraOf(extra, "messages")?.[REQUEST]) };
}

/** Values of `inference_geo` without a price of their own. */
const ANYWHERE: ReadonlySet<unknown> = new Set(["", "global", "not_available"]);

/**
 * The service tier used for billing. Fast mode has a separate price, and so has inference in one region only (`us`); both together are
 * `fast_us`.
 */
export function serviceOf({ speed, service_tier, inference_geo }: Loose): string | undefined {
  const region = typeof inference_geo === "string" && !ANYWHERE.has(inference_geo)
    ? inference_geo
    : undefined;
  if (speed === "fast") return region === undefined ? speed : `${speed}_${region}`;
  const tier = string(service_tier);
  const isUsual = tier === undefined || tier === "standard";
  return isUsual && region !== undefined ? region : tier;
}

function encodeService(extra: Extra | undefined): Loose {
  const { [REQUEST]: _, ...said } = extraOf(extra, "messages") ?? {};
  return { service_tier: null, inference_geo: null, speed: null, ...said };
}

const INPUT = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"] as const;
const INPUT_FIELDS: ReadonlySet<string> = new Set([...INPUT, "cache_creation"]);

/**
 * Overwrites the fields of the later report. No prompt has zero tokens: servers that count the input only at
 * the start report zeros at the end.
 */
export function mergeUsage(into: Loose, later: unknown): void {
  if (!isObject(later)) return;
  const countsInput = INPUT.some((field) => count(later[field]) > 0);
  for (const key of Object.keys(later)) {
    if (later[key] === null || later[key] === undefined) continue;
    if (countsInput || into[key] === undefined || !INPUT_FIELDS.has(key)) into[key] = later[key];
  }
}

export const TOTALS = [
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
] as const;

/** Types of iterations that the totals exclude. */
const APART: ReadonlySet<unknown> = new Set(["compaction", "advisor_message"]);

/** The model of `fallbacks` that gave the answer; undefined: none. */
function servedIn(iterations: readonly Loose[]): string | undefined {
  return string(iterations.findLast(({ type }) => type === "fallback_message")?.model);
}

/** @param served result of {@link servedIn} */
function isApart(iteration: Loose, served: string | undefined): boolean {
  const { type, model, output_tokens } = iteration;
  if (APART.has(type)) return true;
  return served !== undefined && type === "message" && typeof model === "string" && model !== served &&
    count(output_tokens) > 0;
}

/** Usage outside of the conversation. */
function apartOf(reported: unknown): Usage {
  const iterations = array(reported).map(object);
  const served = servedIn(iterations);
  return iterations.filter((one) => isApart(one, served)).map(countsOf).reduce<Usage>(addUsage, NO_USAGE);
}

/** Undefined: no iteration of another model. */
export function decodeModels({ iterations: reported }: Loose): UsedModels | undefined {
  if (!Array.isArray(reported)) return undefined;
  const iterations = reported.map(object);
  const served = servedIn(iterations);
  const beside = iterations.flatMap((one) => {
    const model = string(one.model);
    return model !== undefined && isApart(one, served) ? [{ model, usage: countsOf(one) }] : [];
  });
  return served === undefined && beside.length === 0
    ? undefined
    : { ...(served !== undefined && { served }), beside };
}

/** Null: not reported. */
export function decodeUsage(raw: Loose): Usage | null {
  if (!isCounted(raw.input_tokens) && !isCounted(raw.output_tokens)) return null;
  return addUsage(countsOf(raw), apartOf(raw.iterations));
}

function countsOf(raw: Loose): Usage {
  const created = object(raw.cache_creation);
  const cacheWrite1h = count(created.ephemeral_1h_input_tokens);
  // The total grows during a stream while the breakdown keeps the value of message_start: the total counts.
  const cacheWrite = isCounted(raw.cache_creation_input_tokens)
    ? count(raw.cache_creation_input_tokens)
    : count(created.ephemeral_5m_input_tokens) + cacheWrite1h;
  const cached = count(raw.cache_read_input_tokens);
  return normalizeUsage({
    input: count(raw.input_tokens) + cached + cacheWrite,
    cached,
    cacheWrite,
    cacheWrite1h: Math.min(cacheWrite1h, cacheWrite),
    output: count(raw.output_tokens),
    reasoning: count(object(raw.output_tokens_details).thinking_tokens),
  });
}

/** The usage part of a provider's report; null: it has no counts. */
export function decodeReport(raw: Loose): UsagePart | null {
  const usage = decodeUsage(raw);
  if (usage === null) return null;
  const searches = decodeSearches(raw);
  const extra = decodeService(raw);
  const service = serviceOf(raw);
  const models = decodeModels(raw);
  return {
    type: "usage",
    usage,
    ...(misreports(raw, TOTALS) && { estimated: true }),
    ...(searches !== undefined && { searches }),
    ...(service !== undefined && { service }),
    ...(extra && { extra }),
    ...(models && { models }),
  };
}

/** Number of executed web searches; undefined: none. */
export function decodeSearches(raw: Loose): number | undefined {
  return count(object(raw.server_tool_use).web_search_requests) || undefined;
}

/** Clients read the counters of every answer, so an answer without a report has zeros. */
export function encodeUsage(usage: Usage | null, searches: number | undefined, extra?: Extra): Loose {
  const u = subtractUsage(usage ?? NO_USAGE, apartOf(extraOf(extra, "messages")?.iterations));
  return {
    input_tokens: u.input - u.cached - u.cacheWrite,
    cache_creation_input_tokens: u.cacheWrite,
    cache_read_input_tokens: u.cached,
    cache_creation: {
      ephemeral_5m_input_tokens: u.cacheWrite - u.cacheWrite1h,
      ephemeral_1h_input_tokens: u.cacheWrite1h,
    },
    output_tokens: u.output,
    output_tokens_details: { thinking_tokens: u.reasoning },
    server_tool_use: searches !== undefined && searches > 0
      ? { web_search_requests: searches, web_fetch_requests: 0 }
      : null,
    ...encodeService(extra),
  };
}

/** The counters of `message_start`. */
export function noUsageYet(extra?: Extra): Loose {
  return {
    input_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    // The final event may replace totals, but clients do not let it replace this breakdown: zeros here would
    // remain.
    cache_creation: null,
    output_tokens: 0,
    output_tokens_details: null,
    server_tool_use: null,
    ...encodeService(extra),
  };
}
