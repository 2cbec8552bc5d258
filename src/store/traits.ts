/**
 * Search criteria for generations beyond the indexed columns. Each is defined once, as a SQL condition and as
 * a test of a record in memory.
 */
import { conditionsIn } from "./conditions.ts";
import type { Generation } from "./records.ts";
import type { Value } from "./rows.ts";

type Look<T> = (g: Generation) => T;

/** Column, and the same field of a record in memory. */
const TEXTS = {
  provider: ["provider", (g) => g.provider],
  format: ["format", (g) => g.format],
  status: ["status", (g) => g.status],
  errorCode: ["error_code", (g) => g.errorCode],
  team: ["team", (g) => g.team],
  requestedModel: ["requested_model", (g) => g.requestedModel],
  priceVersion: ["price_version", (g) => g.priceVersion],
  dlpMode: ["dlp_mode", (g) => g.dlp?.mode ?? null],
} satisfies Record<string, [column: string, of: Look<string | null>]>;

const NUMBERS = {
  /** Picodollars. */
  cost: ["cost", (g) => g.cost],
  latencyMs: ["latency_ms", (g) => g.latencyMs],
  ttftMs: ["ttft_ms", (g) => g.ttftMs],
  inputTokens: ["input", (g) => g.usage?.input ?? null],
  outputTokens: ["output", (g) => g.usage?.output ?? null],
} satisfies Record<string, [column: string, of: Look<number | bigint | null>]>;

const FLAGS = {
  /** DLP screening had findings. */
  findings: ["dlp_findings > 0", (g) => (g.dlp?.findings ?? 0) > 0],
  searched: ["searches > 0", (g) => g.searches > 0],
  streamed: ["stream = 1", (g) => g.stream],
  whole: ["stream = 0", (g) => !g.stream],
  clientGone: ["client_gone = 1", (g) => g.clientGone],
  cached: ["cached > 0", (g) => (g.usage?.cached ?? 0) > 0],
  reasoned: ["reasoning > 0", (g) => (g.usage?.reasoning ?? 0) > 0],
  /** Audio, images or video in the request or the answer. */
  media: [
    "audio_input + image_input + video_input + audio_output + image_output > 0",
    ({ usage: u }) =>
      u !== null && u.audioInput + u.imageInput + u.videoInput + u.audioOutput + u.imageOutput > 0,
  ],
  calledTools: ["tool_calls > 0", (g) => (g.toolCalls ?? 0) > 0],
  repaired: ["repaired > 0", (g) => (g.repaired ?? 0) > 0],
  estimated: ["measured = 0", (g) => g.estimated],
  /** The caller's own credential was used. */
  ownCredential: ["list_cost IS NOT NULL", (g) => g.listCost !== null],
} satisfies Record<string, [condition: string, holds: Look<boolean>]>;

type Numbers = Partial<Record<keyof typeof NUMBERS, number | bigint>>;
export type GenerationFlag = keyof typeof FLAGS;

export interface GenerationTraits
  extends Partial<Record<keyof typeof TEXTS, string>>, Partial<Record<GenerationFlag, true>> {
  /** Lower and upper bounds, inclusive. */
  least?: Numbers;
  most?: Numbers;
  /** Value null: the tag with any value. */
  tag?: { name: string; value: string | null };
}

const keysOf = <T extends object>(table: T) => Object.keys(table) as (keyof T & string)[];

export function addTraits(traits: GenerationTraits, where: string[], params: Value[]): void {
  const add = conditionsIn(where, params);
  for (const name of keysOf(TEXTS)) add(`${TEXTS[name][0]} =`, traits[name]);
  for (const name of keysOf(NUMBERS)) {
    add(`${NUMBERS[name][0]} >=`, traits.least?.[name]);
    add(`${NUMBERS[name][0]} <=`, traits.most?.[name]);
  }
  for (const name of keysOf(FLAGS)) if (traits[name]) where.push(FLAGS[name][0]);
  if (traits.tag === undefined) return;
  // Tags are stored as a JSON object of strings, so a name or a pair can be matched as text.
  const { name, value } = traits.tag;
  const text = value === null
    ? `${JSON.stringify(name)}:`
    : `${JSON.stringify(name)}:${JSON.stringify(value)}`;
  // Not LIKE, which ignores case in SQLite.
  where.push(`replace(tags, $${params.push(text)}, '') <> tags`);
}

/** Whether a generation in memory meets the criteria. */
export function hasTraits(g: Generation, traits: GenerationTraits): boolean {
  const { tag, least = {}, most = {} } = traits;
  const value = tag === undefined ? undefined : g.tags?.[tag.name];
  return keysOf(TEXTS).every((name) => traits[name] === undefined || TEXTS[name][1](g) === traits[name]) &&
    keysOf(NUMBERS).every((name) => isWithin(NUMBERS[name][1](g), least[name], most[name])) &&
    keysOf(FLAGS).every((name) => !traits[name] || FLAGS[name][1](g)) &&
    (tag === undefined || (value !== undefined && (tag.value === null || tag.value === value)));
}

function isWithin(found: number | bigint | null, least?: number | bigint, most?: number | bigint): boolean {
  if (least === undefined && most === undefined) return true;
  return found !== null && (least === undefined || found >= least) && (most === undefined || found <= most);
}
