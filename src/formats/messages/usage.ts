/**
 * Token counts of the messages format, both ways.
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
 * The totals leave out what the provider used beside the conversation itself: to compact it, to ask another model for
 * advice, and what models wrote that declined in the middle of the answer, before one of `fallbacks` gave it. All of that is
 * billed, so it is counted; a model that declined before it wrote anything is not billed. Callers of this format get the totals as the provider reports them, since
 * they read from these how full the context is, and `iterations` beside them.
 *
 * In a stream the counts of `message_start` are a first guess; those of `message_delta` are totals, and replace them field
 * by field. A field that is absent or null there keeps its earlier value.
 *
 * How the provider served the call (`service_tier`, `inference_geo`, `speed`, `iterations`, `fallback_credit`) is given back
 * to callers of this format. Their types want the first three always; null stands for what was not said.
 */
import { array, isNumber, isObject, type Loose, object, string } from "../../exchange/json.ts";
import type { UsedModels } from "../../exchange/part.ts";
import { type Extra, extraOf } from "../../exchange/prompt.ts";
import {
  addUsage,
  count,
  NO_USAGE,
  normalizeUsage,
  subtractUsage,
  type Usage,
} from "../../exchange/usage.ts";

const SERVICE = ["service_tier", "inference_geo", "speed", "iterations", "fallback_credit"] as const;

/** What a message says of its request, for who asked for it; null: nothing. */
const SAID_OF_REQUEST = ["diagnostics", "input_transformations"] as const;

/** Field of the service's `extra` that holds what is said of the request. */
const REQUEST = "request";

/**
 * What is said of the service; undefined when nothing is.
 *
 * @param message the opening of the answer, which also says something of the request
 */
export function decodeService(raw: Loose, message: Loose = {}): Extra | undefined {
  const fields = present(raw, SERVICE);
  const said = present(message, SAID_OF_REQUEST);
  if (Object.keys(said).length > 0) fields[REQUEST] = said;
  return Object.keys(fields).length > 0 ? { format: "messages", fields } : undefined;
}

function present(from: Loose, names: readonly string[]): Loose {
  const fields: Loose = {};
  for (const name of names) if (from[name] !== undefined && from[name] !== null) fields[name] = from[name];
  return fields;
}

/** Fields of a message that say something of its request. Clients' types want the first always. */
export function saidOfRequest(extra: Extra | undefined): Loose {
  return { diagnostics: null, ...object(extraOf(extra, "messages")?.[REQUEST]) };
}

/** The tier that the call is billed in. Fast mode, where it was given, has a price of its own. */
export function serviceOf(raw: Loose): string | undefined {
  return raw.speed === "fast" ? "fast" : string(raw.service_tier);
}

function encodeService(extra: Extra | undefined): Loose {
  const { [REQUEST]: _, ...said } = extraOf(extra, "messages") ?? {};
  return { service_tier: null, inference_geo: null, speed: null, ...said };
}

/** Overwrites what the later report says. */
export function mergeUsage(into: Loose, later: unknown): void {
  if (!isObject(later)) return;
  for (const key of Object.keys(later)) {
    if (later[key] !== null && later[key] !== undefined) into[key] = later[key];
  }
}

export const TOTALS = [
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
] as const;

/** Types of iterations whose tokens the totals leave out. */
const APART: ReadonlySet<unknown> = new Set(["compaction", "advisor_message"]);

/** Of iterations: the model of `fallbacks` that gave the answer; undefined: none did. */
function servedIn(iterations: readonly Loose[]): string | undefined {
  return string(iterations.findLast(({ type }) => type === "fallback_message")?.model);
}

/** @param served as {@link servedIn} has it */
function isApart(iteration: Loose, served: string | undefined): boolean {
  const { type, model, output_tokens } = iteration;
  if (APART.has(type)) return true;
  return served !== undefined && type === "message" && typeof model === "string" && model !== served &&
    count(output_tokens) > 0;
}

/** What the provider used beside the conversation. */
function apartOf(reported: unknown): Usage {
  const iterations = array(reported).map(object);
  const served = servedIn(iterations);
  return iterations.filter((one) => isApart(one, served)).map(countsOf).reduce<Usage>(addUsage, NO_USAGE);
}

/** Undefined: no iteration tells of another model. */
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

/** Null: the provider reported nothing. */
export function decodeUsage(raw: Loose): Usage | null {
  if (!isNumber(raw.input_tokens) && !isNumber(raw.output_tokens)) return null;
  return addUsage(countsOf(raw), apartOf(raw.iterations));
}

function countsOf(raw: Loose): Usage {
  const created = object(raw.cache_creation);
  const cacheWrite1h = count(created.ephemeral_1h_input_tokens);
  // The total grows during a stream while the breakdown keeps the value of message_start: the total counts.
  const cacheWrite = isNumber(raw.cache_creation_input_tokens)
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

/** Executed web searches; undefined when there were none. */
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
    // The final event may replace totals, and clients do not let it replace this breakdown: zeros here would stay.
    cache_creation: null,
    output_tokens: 0,
    output_tokens_details: null,
    server_tool_use: null,
    ...encodeService(extra),
  };
}
