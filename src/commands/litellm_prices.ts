/**
 * Prices of a LiteLLM deployment. Prices of long prompts (`…_above_200k_tokens`) and of service tiers (`…_flex`, `…_priority`) become price
 * tiers, with the general price for each kind of token that a tier does not name.
 */
import type { Loose } from "../exchange/json.ts";

export interface LitellmPrices {
  /** Absent: the prices of input and output are not both given. */
  pricing?: Loose;
  pricing_tiers?: Loose[];
  /** Fields that were converted, and those without a counterpart whose price is zero. */
  taken: Set<string>;
}

/** Kinds of prices by LiteLLM's names for them. */
const KINDS: Readonly<Record<string, string>> = {
  input_cost_per_token: "prompt",
  output_cost_per_token: "completion",
  cache_read_input_token_cost: "input_cache_read",
  cache_creation_input_token_cost: "input_cache_write",
  cache_creation_input_token_cost_above_1hr: "input_cache_write_1h",
  output_cost_per_reasoning_token: "internal_reasoning",
  input_cost_per_audio_token: "audio",
  output_cost_per_audio_token: "audio_output",
  input_cost_per_image_token: "image",
  output_cost_per_image_token: "image_output",
  input_cost_per_request: "request",
  file_search_cost_per_1k_calls: "file_search",
};
const THOUSAND = /_per_1k_calls$/;
/** The longest names first, because some begin with others. */
const NAMES = Object.keys(KINDS).sort((a, b) => b.length - a.length);
const CONDITION = /^(?:_above_(\d+)k_tokens)?(?:_(flex|priority))?$/;
const IS_PRICE = /(?:^|_)costs?(?:_|$)/;

interface Price {
  kind: string;
  above: number;
  service: string | null;
  text: string;
}

/** @param fields of `model_info` and `litellm_params` */
export function litellmPrices(fields: Loose): LitellmPrices {
  const prices: Price[] = [];
  const taken = new Set<string>();
  for (const [field, value] of Object.entries(fields)) {
    const price = priceOf(field, value);
    if (price !== null) {
      prices.push(price);
      taken.add(field);
    } else if (IS_PRICE.test(field) && (value === null || Number(value) === 0)) taken.add(field);
  }
  const under = (above: number, service: string | null) =>
    Object.fromEntries(
      prices.filter((price) => price.above === above && price.service === service)
        .map(({ kind, text }) => [kind, text]),
    );
  const pricing = under(0, null);
  if (pricing.prompt === undefined || pricing.completion === undefined) return { taken };
  const thresholds = [...new Set(prices.map(({ above }) => above))].sort((a, b) => a - b);
  /** Whatever applies to such a call; prices of the tier before the others, and of longer prompts before those of shorter ones. */
  const pricesOf = (above: number, service: string | null): Loose =>
    Object.assign(
      {},
      ...[null, service].flatMap((service) =>
        thresholds.filter((threshold) => threshold <= above).map((threshold) => under(threshold, service))
      ),
    );
  const conditions = new Map(
    prices.filter(({ above, service }) => above > 0 || service !== null)
      .map(({ above, service }) => [`${above} ${service}`, { above, service }]),
  );
  const tiers = [...conditions.values()].sort((a, b) => a.above - b.above).map(({ above, service }) => ({
    ...(above > 0 && { above_input_tokens: above }),
    ...(service !== null && { service_tier: service }),
    ...pricesOf(above, service),
  }));
  return { pricing, ...(tiers.length > 0 && { pricing_tiers: tiers }), taken };
}

/** Null: not a price that has a counterpart. */
function priceOf(field: string, value: unknown): Price | null {
  const name = NAMES.find((name) => field.startsWith(name) && CONDITION.test(field.slice(name.length)));
  if (name === undefined) return null;
  const text = decimal(THOUSAND.test(name) ? Number(value) / 1000 : value);
  if (text === null) return null;
  const [, thousands = "0", service = null] = CONDITION.exec(field.slice(name.length))!;
  return { kind: KINDS[name], above: Number(thousands) * 1000, service, text };
}

/** A number, or its text, as a decimal string; null: not a number that can be a price. */
function decimal(value: unknown): string | null {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !(number >= 0 && number <= 1000)) return null;
  // The shortest digits that stand for the number: 3.75e-6, without the error of its binary fraction.
  const [digits, exponent] = number.toExponential().split("e");
  const all = digits.replace(".", "");
  const point = Number(exponent) + 1;
  const whole = point > 0 ? all.slice(0, point).padEnd(point, "0") : "0";
  const fraction = point > 0 ? all.slice(point) : "0".repeat(-point) + all;
  const rest = fraction.slice(0, MOST_DECIMALS).replace(/0+$/, "");
  return rest === "" ? whole : `${whole}.${rest}`;
}

/** The resolution of prices. */
const MOST_DECIMALS = 18;
