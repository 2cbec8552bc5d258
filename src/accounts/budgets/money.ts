/**
 * Exact integer money, and the cost of token counts at decimal prices.
 *
 * The unit is the picodollar, 10⁻¹² of the currency in which prices are written. The embedded store has
 * 64-bit integers, so amounts range to ±9,223,372 dollars; amounts in the configuration are limited to less.
 * Prices have a resolution of 10⁻¹⁸ per token: a sum is computed in that unit and rounded once at the end,
 * half up.
 *
 * Every token is priced once. Of input, tokens read from or written to a cache have the cache's prices; of
 * the rest, audio and image tokens have their own price, if there is one; the remainder has `prompt`. Of
 * output, reasoning tokens if they have their own price, then audio and image; the remainder has
 * `completion`. Tokens of a kind without a price of its own cost as much as the kind they are part of;
 * one-hour cache writes without a price cost as much as other cache writes.
 *
 * | price                                                  | tokens                                         |
 * | ------------------------------------------------------ | ---------------------------------------------- |
 * | `prompt`, `completion`                                 | input and output not covered by another row    |
 * | `input_cache_read`                                     | cached                                         |
 * | `input_cache_write`, `input_cache_write_1h`            | cacheWrite, and its part with a TTL of an hour |
 * | `audio`, `image`                                       | audioInput, imageInput, as far as not cached   |
 * | `internal_reasoning`, `audio_output`, `image_output`   | the same parts of output                       |
 * | `request`                                              | requests to the provider; price per request    |
 * | `web_search`                                           | searches; price per search                     |
 * | those of {@link FEE_KINDS}                             | uses of a provider's tools; price per use      |
 */
import { sha256Hex } from "../../exchange/hashes.ts";
import { FEE_KINDS, type FeeKind, type Fees } from "../../exchange/fees.ts";
import { type PriceChoice, type Prices, saysModel, versionOfModel } from "../../exchange/prices.ts";
import type { Usage } from "../../exchange/usage.ts";
import type { PriceVersion } from "../../store/mod.ts";

export type { Prices } from "../../exchange/prices.ts";

const UNIT_DIGITS = 12;
const PRICE_DIGITS = 18;
const UNIT = 10n ** 12n;
const PER_UNIT = 10n ** 6n;

/** The largest amount that may be configured, so far below 2⁶³ that sums of a few do not overflow. */
export const MAX_AMOUNT = 9_000_000n * UNIT;

/** The largest total of credits of an account, limited by 64 bits. */
export const MOST_CREDITS = 9_200_000n * UNIT;

/** Parses a decimal string as an integer with `digits` decimals; null if it is invalid or has more decimals. */
function scaled(text: string, digits: number): bigint | null {
  const match = /^(-?)(\d{1,15})(?:\.(\d+))?$/.exec(text);
  if (match === null) return null;
  const fraction = (match[3] ?? "").replace(/0+$/, "");
  if (fraction.length > digits) return null;
  const value = BigInt(match[2] + fraction.padEnd(digits, "0"));
  return match[1] === "-" ? -value : value;
}

/** Parses `"25.00"` to picodollars. Null: not a decimal of at most 12 places within ±9,000,000. */
export function parseAmount(text: string): bigint | null {
  const value = scaled(text, UNIT_DIGITS);
  return value === null || value > MAX_AMOUNT || value < -MAX_AMOUNT ? null : value;
}

/** Picodollars as a decimal string with at least two places: `"25.00"`, `"0.000125"`. */
export function formatAmount(amount: bigint): string {
  const sign = amount < 0n ? "-" : "";
  const digits = (amount < 0n ? -amount : amount).toString().padStart(UNIT_DIGITS + 1, "0");
  const whole = digits.slice(0, -UNIT_DIGITS);
  const fraction = digits.slice(-UNIT_DIGITS).replace(/0+$/, "").padEnd(2, "0");
  return `${sign}${whole}.${fraction}`;
}

/**
 * Prices in units of 10⁻¹⁸. Null: the kind has no price of its own, and costs as much as the kind it is part
 * of.
 */
export interface PriceTable {
  /** A hash of the prices. */
  version: string;
  prompt: bigint;
  cacheRead: bigint;
  cacheWrite: bigint;
  cacheWrite1h: bigint;
  audio: bigint | null;
  image: bigint | null;
  completion: bigint;
  reasoning: bigint | null;
  audioOutput: bigint | null;
  imageOutput: bigint | null;
  request: bigint | null;
  search: bigint;
  /** Prices of uses of a provider's tools; null: none has a price. */
  fees: Readonly<Partial<Record<FeeKind, bigint>>> | null;
  /** The highest price of a token, by kind of input. */
  most: HighestPrices;
}

interface HighestPrices {
  /** Of text, and of images and audio, if nothing is written to a cache for an hour. */
  text: bigint;
  media: bigint;
  /** The same, if something may be. */
  keptText: bigint;
  keptMedia: bigint;
  output: bigint;
}

/** Cached per price object: that of a catalog entry exists as long as the catalog. */
const tables = new WeakMap<Prices, PriceTable>();

/** An invalid decimal counts as absent: the configuration is validated elsewhere. */
export function priceTable(prices: Prices): PriceTable {
  let table = tables.get(prices);
  if (table === undefined) {
    table = readPrices(prices);
    tables.set(prices, table);
  }
  return table;
}

function readPrices(prices: Prices): PriceTable {
  const price = (name: string): bigint | null => {
    const text = prices[name];
    const value = text === undefined ? null : scaled(text, PRICE_DIGITS);
    return value === null || value < 0n ? null : value;
  };
  const prompt = price("prompt") ?? 0n;
  const cacheWrite = price("input_cache_write") ?? prompt;
  const cacheRead = price("input_cache_read") ?? prompt;
  const cacheWrite1h = price("input_cache_write_1h") ?? cacheWrite;
  const completion = price("completion") ?? 0n;
  const [audio, image, reasoning] = [price("audio"), price("image"), price("internal_reasoning")];
  const [audioOutput, imageOutput] = [price("audio_output"), price("image_output")];
  const text = highest(prompt, cacheRead, cacheWrite);
  const keptText = highest(text, cacheWrite1h);
  return {
    version: versionOf(prices),
    prompt,
    cacheRead,
    cacheWrite,
    cacheWrite1h,
    audio,
    image,
    completion,
    reasoning,
    audioOutput,
    imageOutput,
    request: price("request"),
    search: price("web_search") ?? 0n,
    fees: readFees(price),
    most: {
      text,
      media: highest(text, audio, image),
      keptText,
      keptMedia: highest(keptText, audio, image),
      output: highest(completion, reasoning, audioOutput, imageOutput),
    },
  };
}

function readFees(price: (name: string) => bigint | null): PriceTable["fees"] {
  let fees: Partial<Record<FeeKind, bigint>> | null = null;
  for (const kind of FEE_KINDS) {
    const each = price(kind);
    if (each !== null) (fees ??= {})[kind] = each;
  }
  return fees;
}

/** All prices that this process has seen, by version. */
const versions = new Map<string, Record<string, string>>();

function versionOf(prices: Prices): string {
  const named = Object.entries(prices).filter(([, price]) => price !== undefined).sort() as [
    string,
    string,
  ][];
  const version = sha256Hex(JSON.stringify(named)).slice(0, 16);
  versions.set(version, Object.fromEntries(named));
  return version;
}

/** Versions that are unique without a model: hashes of prices, and prices of searches. All others are of a model. */
const UNIQUE = /^(?:[0-9a-f]{16}$|search )/;

/** The name under which the prices of a version are stored for a record of this model. */
export function keptVersion(version: string, model: string): string {
  return UNIQUE.test(version) || saysModel(version) ? version : versionOfModel(version, model);
}

/** Cache: the model for which a price object was last remembered, since every call asks. */
const remembered = new WeakMap<Prices, string>();

/** Remembers the prices at which calls of the model are billed. */
export function rememberPrices({ version, prices }: PriceChoice, model: string): void {
  if (remembered.get(prices) === model) return;
  remembered.set(prices, model);
  const kept = keptVersion(version, model);
  if ((kept === version && !saysModel(version)) || versions.has(kept)) return;
  const named = Object.entries(prices).filter((entry): entry is [string, string] => entry[1] !== undefined);
  versions.set(kept, Object.fromEntries(named));
}

/** The version for the price of a search, for records whose other prices have none. */
export function searchVersion(price: string): string {
  const version = `search ${price}`;
  if (!versions.has(version)) versions.set(version, { web_search: price });
  return version;
}

/** Adds prices from the journal of another process. */
export function learnPrices({ version, prices }: PriceVersion): void {
  if (!versions.has(version)) versions.set(version, { ...prices });
}

/** Undefined: the version was created by another process. */
export function pricesOfVersion(version: string): Readonly<Record<string, string>> | undefined {
  return versions.get(version);
}

/** The cost of the counts of one request, in picodollars. Usage null: only the searches. */
export function costOf(
  usage: Readonly<Usage> | null,
  searches: number,
  table: PriceTable,
  requests: number = 1,
): bigint {
  let sum = searches > 0 ? BigInt(searches) * table.search : 0n;
  if (usage !== null) sum += callCost(usage, requests, table);
  return round(sum);
}

/** The total cost of several calls, each at its own prices, and of searches at the table's price. */
export function costOfAll(
  calls: readonly { usage: Readonly<Usage>; prices: Prices; requests?: number; fees?: Fees }[],
  searches: number,
  table: PriceTable,
): bigint {
  let sum = searches > 0 ? BigInt(searches) * table.search : 0n;
  for (const { usage, prices, requests = 1, fees } of calls) {
    const table = priceTable(prices);
    sum += callCost(usage, requests, table) + feesCost(fees, table);
  }
  return round(sum);
}

/** How much more input read from a cache would have cost without it, in picodollars. */
export function savedByCache(usage: Readonly<Usage>, table: PriceTable): bigint {
  if (usage.cached === 0) return 0n;
  const fine = BigInt(usage.cached) * (table.prompt - table.cacheRead);
  return fine < 0n ? -round(-fine) : round(fine);
}

function callCost(usage: Readonly<Usage>, requests: number, table: PriceTable): bigint {
  return inputCost(usage, table) + outputCost(usage, table) + times(requests, table.request);
}

function feesCost(fees: Fees | undefined, table: PriceTable): bigint {
  let sum = 0n;
  if (fees !== undefined && table.fees !== null) {
    for (const kind of FEE_KINDS) sum += times(fees[kind] ?? 0, table.fees[kind] ?? null);
  }
  return sum;
}

function inputCost(usage: Readonly<Usage>, table: PriceTable): bigint {
  const cached = Math.min(usage.cached, usage.input);
  const written = Math.min(usage.cacheWrite, usage.input - cached);
  const kept = Math.min(usage.cacheWrite1h, written);
  let rest = usage.input - cached - written;
  const audio = table.audio === null ? 0 : Math.min(usage.audioInput, rest);
  rest -= audio;
  const image = table.image === null ? 0 : Math.min(usage.imageInput, rest);
  rest -= image;
  return times(rest, table.prompt) + times(cached, table.cacheRead) +
    times(written - kept, table.cacheWrite) +
    times(kept, table.cacheWrite1h) + times(audio, table.audio) + times(image, table.image);
}

function outputCost(usage: Readonly<Usage>, table: PriceTable): bigint {
  let rest = usage.output;
  const reasoning = table.reasoning === null ? 0 : Math.min(usage.reasoning, rest);
  rest -= reasoning;
  const audio = table.audioOutput === null ? 0 : Math.min(usage.audioOutput, rest);
  rest -= audio;
  const image = table.imageOutput === null ? 0 : Math.min(usage.imageOutput, rest);
  rest -= image;
  return times(rest, table.completion) + times(reasoning, table.reasoning) + times(audio, table.audioOutput) +
    times(image, table.imageOutput);
}

function times(tokens: number, price: bigint | null): bigint {
  return tokens === 0 || price === null ? 0n : BigInt(tokens) * price;
}

function round(fine: bigint): bigint {
  return (fine + PER_UNIT / 2n) / PER_UNIT;
}

/** The maximum usage of a call. */
export interface Estimate {
  /** Text tokens. */
  input: number;
  /** Tokens of images, audio and other input whose kind only the provider can determine. */
  media?: number;
  /** If tools of the provider may read the prompt repeatedly: a lower value with which the call may run. */
  leastMedia?: number;
  /** For an estimate with a lower value: the maximum that the call may still use. */
  mostMedia?: number;
  output: number;
  /** If the request does not limit its output: a lower output that may be granted if not enough is left. */
  leastOutput?: number;
  searches: number;
  /** Uses of the provider's tools that have a fee. Absent: none. */
  fees?: Fees;
  /** Requests to the provider. Absent: none. */
  requests?: number;
  /** False: nothing is written to a cache for an hour. */
  hourCache?: boolean;
  /** Tokens that count towards rates until the call has ended; absent: all. */
  usual?: number;
}

/** Estimates to try in order: the maximum, then halves of what may be lower, down to the minimum. */
export function stepsOf(most: Estimate): Estimate[] {
  const { media = 0, leastMedia = media, output, leastOutput = output } = most;
  const steps = [most];
  for (let half = 0.5;; half /= 2) {
    const less = {
      ...most,
      media: Math.max(leastMedia, Math.floor(media * half)),
      output: Math.max(leastOutput, Math.floor(output * half)),
    };
    const last = steps[steps.length - 1];
    if (less.media >= (last.media ?? 0) && less.output >= last.output) return steps;
    steps.push(less.media < media ? { ...less, mostMedia: media } : less);
  }
}

/** The maximum cost of an estimate: tokens of unknown kind at the highest price that they may have. */
export function costAtMost(estimate: Estimate, table: PriceTable): bigint {
  const { most, request, search } = table;
  const kept = estimate.hourCache !== false;
  return round(
    times(Math.ceil(estimate.input), kept ? most.keptText : most.text) +
      times(Math.ceil(estimate.media ?? 0), kept ? most.keptMedia : most.media) +
      times(Math.ceil(estimate.output), most.output) +
      times(Math.ceil(estimate.searches), search) + times(estimate.requests ?? 0, request) +
      feesCost(estimate.fees, table),
  );
}

function highest(...prices: (bigint | null)[]): bigint {
  let most = 0n;
  for (const price of prices) if (price !== null && price > most) most = price;
  return most;
}

/** Whether any kind of output has a price above zero. */
export function hasOutputPrice(prices: Prices): boolean {
  return costAtMost({ input: 0, output: 1_000_000, searches: 0 }, priceTable(prices)) > 0n;
}
