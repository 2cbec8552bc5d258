/**
 * Money as exact integers, and token counts with decimal prices to what a generation costs.
 *
 * The unit is a picodollar, 10⁻¹² of the currency that prices are written in. A figure is kept in 64 bits by the embedded
 * store, so it ranges to ±9,223,372 dollars; the amounts that an operator may write are bounded below that. Prices go down
 * to 10⁻¹⁸ a token: a sum is taken in that finer unit and rounded, half up, once at its end.
 *
 * Every token is priced once. Of input, what a cache read or wrote comes first, at the cache's prices; of the rest audio
 * and image tokens at their own price, where there is one; what remains at `prompt`. Of output, reasoning where it is
 * priced apart, then audio and image, the remainder at `completion`. A kind without a price of its own costs what the
 * whole costs it is part of; a one-hour cache write without one costs what other cache writes cost.
 *
 * | price                                                  | tokens                                         |
 * | ------------------------------------------------------ | ---------------------------------------------- |
 * | `prompt`, `completion`                                 | input and output that nothing below claims     |
 * | `input_cache_read`                                     | cached                                         |
 * | `input_cache_write`, `input_cache_write_1h`            | cacheWrite, and the part of it kept an hour    |
 * | `audio`, `image`                                       | audioInput, imageInput, as far as not cached   |
 * | `internal_reasoning`, `audio_output`, `image_output`   | the same parts of output                       |
 * | `web_search`                                           | searches; a price each                         |
 */
import { sha256Hex } from "../../exchange/hashes.ts";
import { type PriceChoice, type Prices, saysModel, versionOfModel } from "../../exchange/prices.ts";
import type { Usage } from "../../exchange/usage.ts";

export type { Prices } from "../../exchange/prices.ts";

const UNIT_DIGITS = 12;
const PRICE_DIGITS = 18;
const UNIT = 10n ** 12n;
const PER_UNIT = 10n ** 6n;

/** The largest amount an operator may write, far enough from 2⁶³ that sums of a few stay inside. */
export const MAX_AMOUNT = 9_000_000n * UNIT;

/** The most that an account may have been given in all: what 64 bits hold. */
export const MOST_CREDITS = 9_200_000n * UNIT;

/** A decimal string to an integer of `digits` decimals; null when it is not one or has more decimals than that. */
function scaled(text: string, digits: number): bigint | null {
  const match = /^(-?)(\d{1,15})(?:\.(\d+))?$/.exec(text);
  if (match === null) return null;
  const fraction = (match[3] ?? "").replace(/0+$/, "");
  if (fraction.length > digits) return null;
  const value = BigInt(match[2] + fraction.padEnd(digits, "0"));
  return match[1] === "-" ? -value : value;
}

/** `"25.00"` to picodollars. Null: not a decimal of at most 12 places within ±9,000,000. */
export function parseAmount(text: string): bigint | null {
  const value = scaled(text, UNIT_DIGITS);
  return value === null || value > MAX_AMOUNT || value < -MAX_AMOUNT ? null : value;
}

/** Picodollars to a decimal string with at least two places: `"25.00"`, `"0.000125"`. */
export function formatAmount(amount: bigint): string {
  const sign = amount < 0n ? "-" : "";
  const digits = (amount < 0n ? -amount : amount).toString().padStart(UNIT_DIGITS + 1, "0");
  const whole = digits.slice(0, -UNIT_DIGITS);
  const fraction = digits.slice(-UNIT_DIGITS).replace(/0+$/, "").padEnd(2, "0");
  return `${sign}${whole}.${fraction}`;
}

/** Prices as integers of 10⁻¹⁸. Null: the kind has no price of its own, and counts as what it is part of. */
export interface PriceTable {
  /** The same for the same prices, another for others. */
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
  search: bigint;
  /** The dearest that a token of a kind can cost. */
  most: DearestPrices;
}

interface DearestPrices {
  /** Of text, and of images and audio, of which nothing is kept in a cache for an hour. */
  text: bigint;
  media: bigint;
  /** The same where something may be. */
  keptText: bigint;
  keptMedia: bigint;
  output: bigint;
}

/** A catalog entry's prices are one object for as long as the catalog lives, so its table is worked out once. */
const tables = new WeakMap<Prices, PriceTable>();

/** A price that is not a decimal counts as absent: configuration is where it is refused. */
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
  const text = dearest(prompt, cacheRead, cacheWrite);
  const keptText = dearest(text, cacheWrite1h);
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
    search: price("web_search") ?? 0n,
    most: {
      text,
      media: dearest(text, audio, image),
      keptText,
      keptMedia: dearest(keptText, audio, image),
      output: dearest(completion, reasoning, audioOutput, imageOutput),
    },
  };
}

/** Prices by version, of all that this process has seen. */
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

/** Versions that tell the prices of one model from all others that it has had. */
const OF_MODELS = /^(?:file [0-9a-f]{8}|genai-prices )/;

/** The name under which prices are kept that a record of this model names so. */
export function keptVersion(version: string, model: string): string {
  return OF_MODELS.test(version) && !saysModel(version) ? versionOfModel(version, model) : version;
}

/** Prices with the model that they were remembered for last: every call asks. */
const remembered = new WeakMap<Prices, string>();

/** A call of the model is billed at these prices. */
export function rememberPrices({ version, prices }: PriceChoice, model: string): void {
  if (remembered.get(prices) === model) return;
  remembered.set(prices, model);
  const kept = keptVersion(version, model);
  if ((kept === version && !saysModel(version)) || versions.has(kept)) return;
  const named = Object.entries(prices).filter((entry): entry is [string, string] => entry[1] !== undefined);
  versions.set(kept, Object.fromEntries(named));
}

/** The name of the price of a search, for records whose other prices have none. */
export function searchVersion(price: string): string {
  const version = `search ${price}`;
  if (!versions.has(version)) versions.set(version, { web_search: price });
  return version;
}

/** Undefined: a version that another process has given. */
export function pricesOfVersion(version: string): Readonly<Record<string, string>> | undefined {
  return versions.get(version);
}

/** What the counts cost, in picodollars. Usage null: only the searches. */
export function costOf(usage: Readonly<Usage> | null, searches: number, table: PriceTable): bigint {
  let sum = searches > 0 ? BigInt(searches) * table.search : 0n;
  if (usage !== null) sum += inputCost(usage, table) + outputCost(usage, table);
  return round(sum);
}

/** What several calls cost together, each by prices of its own, and the searches by the table's. */
export function costOfAll(
  calls: readonly { usage: Readonly<Usage>; prices: Prices }[],
  searches: number,
  table: PriceTable,
): bigint {
  let sum = searches > 0 ? BigInt(searches) * table.search : 0n;
  for (const { usage, prices } of calls) {
    const own = priceTable(prices);
    sum += inputCost(usage, own) + outputCost(usage, own);
  }
  return round(sum);
}

/** What input read from a cache would have cost more otherwise, in picodollars. */
export function savedByCache(usage: Readonly<Usage>, table: PriceTable): bigint {
  if (usage.cached === 0) return 0n;
  const fine = BigInt(usage.cached) * (table.prompt - table.cacheRead);
  return fine < 0n ? -round(-fine) : round(fine);
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

/** What a call may use at most. */
export interface Estimate {
  /** Tokens of text. */
  input: number;
  /** Tokens of images, audio and whatever else only the provider can tell the kind of. */
  media?: number;
  /** Where a provider's tools may make it read the prompt again and again: less that the call may run with. */
  leastMedia?: number;
  /** Of an estimate that has less: the most that the call may use all the same. */
  mostMedia?: number;
  output: number;
  /** Where the request names no cap: less output that it may be granted, if not so much is left. */
  leastOutput?: number;
  searches: number;
  /** False: nothing is written to a cache for an hour. */
  hourCache?: boolean;
  /** Tokens that rates count until the call has ended; absent: all. */
  usual?: number;
}

/** What to try for: the most, then halves of what may be less, down to the least. */
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

/** The most that an estimate can cost: a token of unknown kind at the dearest price that its kind can have. */
export function costAtMost(estimate: Estimate, { most, search }: PriceTable): bigint {
  const kept = estimate.hourCache !== false;
  return round(
    times(Math.ceil(estimate.input), kept ? most.keptText : most.text) +
      times(Math.ceil(estimate.media ?? 0), kept ? most.keptMedia : most.media) +
      times(Math.ceil(estimate.output), most.output) +
      times(Math.ceil(estimate.searches), search),
  );
}

function dearest(...prices: (bigint | null)[]): bigint {
  let most = 0n;
  for (const price of prices) if (price !== null && price > most) most = price;
  return most;
}

/** Whether any kind of output costs something. */
export function hasOutputPrice(prices: Prices): boolean {
  return costAtMost({ input: 0, output: 1_000_000, searches: 0 }, priceTable(prices)) > 0n;
}
