/** What a search over generations asks for beyond what is indexed. */
import type { Generation, GenerationTraits } from "../store/mod.ts";
import { type GenerationQuery, invalid } from "./input.ts";
import { parseAmount } from "./money.ts";

/** Null: nothing of the kind is asked for. */
export function traitsOf(query: GenerationQuery): GenerationTraits | null {
  const traits: GenerationTraits = {
    provider: query.provider,
    format: query.format,
    status: query.status,
    errorCode: query.error_code,
    team: query.team,
    tag: query.tag === undefined ? undefined : tagOf(query.tag),
    minCost: query.min_cost === undefined ? undefined : amountOf(query.min_cost),
    minLatency: query.min_latency === undefined ? undefined : millisecondsOf(query.min_latency),
    findings: flagOf("findings", query.findings),
    searched: flagOf("searched", query.searched),
  };
  return Object.values(traits).some((value) => value !== undefined) ? traits : null;
}

function tagOf(text: string): { name: string; value: string | null } {
  const at = text.indexOf("=");
  return at < 0 ? { name: text, value: null } : { name: text.slice(0, at), value: text.slice(at + 1) };
}

function amountOf(text: string): bigint {
  const amount = parseAmount(text);
  if (amount !== null && amount >= 0n) return amount;
  throw invalid(
    "min_cost",
    `expected a decimal amount of at least 0, got ${JSON.stringify(text.slice(0, 100))}`,
  );
}

function millisecondsOf(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw invalid(
    "min_latency",
    `expected a whole number of milliseconds, got ${JSON.stringify(text.slice(0, 100))}`,
  );
}

/** Only `true` is asked for. */
function flagOf(field: string, text: string | undefined): true | undefined {
  if (text === undefined || text === "false") return undefined;
  if (text === "true") return true;
  throw invalid(field, `expected true or false, got ${JSON.stringify(text.slice(0, 100))}`);
}

/** Whether a generation in memory is what is asked for. */
export function hasTraits(g: Generation, traits: GenerationTraits): boolean {
  const is = <T>(wanted: T | undefined, found: T) => wanted === undefined || wanted === found;
  const { tag, minCost, minLatency } = traits;
  const value = tag === undefined ? undefined : g.tags?.[tag.name];
  return is(traits.provider, g.provider) && is(traits.format, g.format) && is(traits.status, g.status) &&
    is(traits.errorCode, g.errorCode) && is(traits.team, g.team) &&
    (tag === undefined || (value !== undefined && (tag.value === null || tag.value === value))) &&
    (minCost === undefined || g.cost >= minCost) &&
    (minLatency === undefined || g.latencyMs >= minLatency) &&
    (traits.findings === undefined || (g.dlp?.findings ?? 0) > 0) &&
    (traits.searched === undefined || g.searches > 0);
}
