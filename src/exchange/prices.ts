/**
 * Selection of prices: by date, time of day, prompt size and service tier. The resulting cost is computed in
 * the accounts.
 */

/** Prices per token (per request, and per search) as exact decimal strings, keys as in a catalog entry plus `web_search`. */
export type Prices = Readonly<Record<string, string | undefined>>;

/** Prices of larger prompts, or of a service tier. */
export interface PriceTier {
  /** Applies to calls with more input tokens than this. */
  above: number;
  /** Applies to calls in this service tier; null: the standard tier. */
  service: string | null;
  prices: Prices;
}

/** A set of prices with a common validity. */
export interface PriceSheet {
  /** The source, for the record: `genai-prices 0.1.8`, `file`. */
  source: string;
  /** Start of validity, in milliseconds since the epoch. */
  from: number;
  /** Start and exclusive end in minutes of the UTC day. Null: all day. */
  hours: readonly [number, number] | null;
  prices: Prices;
  tiers: readonly PriceTier[];
}

/** The prices of a call. */
export interface PriceChoice {
  prices: Prices;
  /** Identifies the prices among all that the model has had, for the record. */
  version: string;
}

/** A version qualified by a model, for prices of another model than the record's. */
export function versionOfModel(version: string, model: string): string {
  return `${version}${OF}${model}`;
}

/** Whether a version is from {@link versionOfModel}. */
export function saysModel(version: string): boolean {
  return version.includes(OF);
}

const OF = " of ";

/** Names of the standard tier. */
const USUAL = new Set([
  "",
  "default",
  "standard",
  "standard_only",
  "auto",
  "on_demand",
  "regional",
  "global",
]);

/** The last valid one counts. */
export function sheetAt(sheets: readonly PriceSheet[], time: number): PriceSheet | undefined {
  if (sheets.length < 2) return sheets[0];
  const minute = Math.floor(time / 60_000) % 1440;
  return sheets.findLast(({ from, hours }) => from <= time && (hours === null || inHours(hours, minute))) ??
    sheets[0];
}

function inHours([begin, end]: readonly [number, number], minute: number): boolean {
  return begin <= end ? begin <= minute && minute < end : minute >= begin || minute < end;
}

/** @param service service tier of the answer, or else of the request */
export function priceOf(sheet: PriceSheet, input: number, service: string | undefined): PriceChoice {
  const wanted = service === undefined || USUAL.has(service.toLowerCase()) ? null : service.toLowerCase();
  const tier = tierOf(sheet.tiers, input, wanted) ??
    (isFast(wanted) ? tierOf(sheet.tiers, input, FAST) : undefined) ??
    (wanted === null ? undefined : tierOf(sheet.tiers, input, null));
  const day = sheet.from > 0 ? ` from ${new Date(sheet.from).toISOString().slice(0, 10)}` : "";
  const hours = sheet.hours === null ? "" : ` ${clock(sheet.hours[0])}-${clock(sheet.hours[1])}`;
  const above = tier !== undefined && tier.above > 0 ? ` above ${tier.above}` : "";
  const served = tier !== undefined && tier.service !== null ? ` ${tier.service}` : "";
  return { prices: tier?.prices ?? sheet.prices, version: sheet.source + day + hours + above + served };
}

/** The price of a search of a call; undefined: the model has none. Parameters as in {@link priceOf} */
export function searchPriceOf(
  sheet: PriceSheet,
  input: number,
  service: string | undefined,
): string | undefined {
  return priceOf(sheet, input, service).prices.web_search ?? sheet.prices.web_search;
}

function clock(minutes: number): string {
  const two = (n: number) => String(n).padStart(2, "0");
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** The tier with the highest threshold that the prompt exceeds. */
function tierOf(tiers: readonly PriceTier[], input: number, service: string | null): PriceTier | undefined {
  let found: PriceTier | undefined;
  for (const tier of tiers) {
    if (tier.service === service && fits(tier, input) && (found === undefined || tier.above > found.above)) {
      found = tier;
    }
  }
  return found;
}

function fits({ above }: PriceTier, input: number): boolean {
  return above === 0 || input > above;
}

/** Price kinds, each with the kind that is used if it has no price. */
const FALLBACKS: readonly (readonly [kind: string, instead: string])[] = [
  ["input_cache_read", "prompt"],
  ["input_cache_write", "prompt"],
  ["input_cache_write_1h", "input_cache_write"],
  ["audio", "prompt"],
  ["image", "prompt"],
  ["internal_reasoning", "completion"],
  ["audio_output", "completion"],
  ["image_output", "completion"],
];

const highest = new WeakMap<PriceSheet, Map<string, Prices>>();

/** Names by which a request asks for the usual tier and no other. */
const ASKS_USUAL = new Set(["default", "standard", "standard_only", "on_demand"]);

/** Sizes of Perplexity's search context are tiers that a service tier does not exclude. */
const SEARCHES = /^search_/;

/**
 * Anthropic's fast mode, which is billed as a tier and is served only if the request asks for it. In one region only it is a tier of its
 * own, such as `fast_us`; without prices of that, those of the fast mode apply.
 */
const FAST = "fast";
const isFast = (service: string | null) => service === FAST || service?.startsWith(`${FAST}_`) === true;

interface Possible {
  /** Maximum number of input tokens. */
  input: number;
  /** The requested service tier; undefined or `auto`: determined by the provider's account. */
  asked: string | undefined;
  /** Fast mode is not possible. */
  slow?: boolean;
  /** Price of a search with models that have none. */
  search?: string;
}

/** For each kind the highest price that may apply to a call, for its reservation. */
export function highestPricesOf(sheet: PriceSheet, { input, asked, slow, search }: Possible): Prices {
  if (sheet.tiers.length === 0) return sheet.prices;
  const closed = asked !== undefined &&
    (ASKS_USUAL.has(asked) || sheet.tiers.some(({ service }) => service === asked));
  const reached = sheet.tiers.filter((tier) =>
    fits(tier, input) &&
    (!closed || tier.service === null || tier.service === asked || SEARCHES.test(tier.service)) &&
    !(slow && isFast(tier.service))
  );
  if (reached.length === 0) return sheet.prices;
  const key = `${reached.map((tier) => sheet.tiers.indexOf(tier)).join()} ${search}`;
  let known = highest.get(sheet);
  if (known === undefined) highest.set(sheet, known = new Map());
  let prices = known.get(key);
  if (prices === undefined) {
    const general = sheet.prices.web_search ?? search;
    prices = highestOfEach([sheet.prices, ...reached.map((tier) => tier.prices)], general);
    known.set(key, prices);
  }
  return prices;
}

/**
 * For each kind the highest of several prices.
 * @param search price of a search for those that have none
 */
export function highestOfEach(prices: readonly Prices[], search?: string): Prices {
  return prices.map((one) => complete(one, search)).reduce(mostOfEach);
}

function complete(prices: Prices, search: string | undefined): Record<string, string | undefined> {
  const whole: Record<string, string | undefined> = { ...prices, web_search: prices.web_search ?? search };
  for (const [kind, instead] of FALLBACKS) whole[kind] ??= whole[instead];
  return whole;
}

/** Compared as doubles: smaller differences do not matter for a reservation. */
function mostOfEach(a: Record<string, string | undefined>, b: Record<string, string | undefined>) {
  const most = { ...a };
  for (const [kind, price] of Object.entries(b)) {
    if (price !== undefined && Number(price) > Number(most[kind] ?? 0)) most[kind] = price;
  }
  return most;
}
