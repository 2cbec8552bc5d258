/**
 * The rules of money, limits and periods once more, small and slow: what each call costs, which budgets it draws on, and what of
 * them is left. Nothing of it is taken from the gateway.
 */
import type { Billed } from "./world.ts";

export type Period = "day" | "week" | "month" | "total";
export interface Limit {
  amount: bigint;
  period: Period;
}

/** 10^12 of them are a dollar. */
export function pico(text: string): bigint {
  const [whole, fraction = ""] = text.split(".");
  const sign = whole.startsWith("-") ? -1n : 1n;
  return sign * BigInt(whole.replace("-", "") + fraction.padEnd(12, "0").slice(0, 12));
}

export function dollars(amount: bigint): string {
  const digits = amount.toString().padStart(13, "0");
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`;
}

/** 10^18 of them are a dollar. */
const atto = (text: string) => {
  const [whole, fraction = ""] = text.split(".");
  return BigInt(whole + fraction.padEnd(18, "0"));
};

const INPUT = ["prompt", "input_cache_read", "input_cache_write", "input_cache_write_1h", "audio"] as const;
const OUTPUT = ["completion", "internal_reasoning", "audio_output"] as const;
export type Prices = Record<(typeof INPUT)[number] | (typeof OUTPUT)[number], string>;

/** Prices of a model in so many configurations. */
export function pricesOf(model: string, version: number): Prices {
  const big = model === "big" || model === "claude";
  const at = (base: string) =>
    big ? `${version % 5}${base}` : `0.00000${version % 7}${base.replace(".", "")}`;
  return {
    prompt: at(".012345678901"),
    completion: at(big ? ".345678901234567891" : ".345678901234"),
    input_cache_read: at(".001"),
    input_cache_write: at(".2"),
    input_cache_write_1h: at(".37"),
    // Less than other input: nobody would set anything aside for audio in a request that has none.
    audio: at(".0005"),
    internal_reasoning: at(".45"),
    audio_output: at(".56789"),
  };
}

/** Calls with more tokens of input have prices of their own. */
const ABOVE = 600;

/** What a search costs with a model, in some versions of its prices; undefined: what it costs with any model. */
function ownSearchPrice(model: string, version: number): string | undefined {
  if (version % 2 === 0) return undefined;
  return model === "small" ? `0.00${version % 4}7` : model === "big" ? `1${version % 3}.5` : undefined;
}

/** What each request to the provider costs beside its tokens, in some versions of the prices of a model. */
function requestPrice(model: string, version: number): string | undefined {
  if (version % 3 === 0) return undefined;
  return model === "small" ? `0.000${version % 4}11` : `1${version % 3}.25`;
}

/** As they stand in the configuration. */
export const catalogPrices = (model: string, version: number) => ({
  ...pricesOf(model, version),
  request: requestPrice(model, version),
  web_search: ownSearchPrice(model, version),
});

export const tiersOf = (model: string, version: number) => [
  { above_input_tokens: ABOVE, ...catalogPrices(model, version + 1) },
  { service_tier: "flex", ...catalogPrices(model, version + 2) },
  { service_tier: "priority", ...catalogPrices(model, version + 3) },
];

/** Versions of the prices of a call. */
export interface Priced {
  version: number;
  /** Of searches: of the configuration, whose models may change their prices at a time. */
  search: number;
}

type Served = Pick<Billed, "input" | "service"> & { model?: string };

function tierOf({ input, service }: Served): number {
  return service === "flex" ? 2 : service === "priority" ? 3 : input > ABOVE ? 1 : 0;
}

/** What one answer of a provider costs a token. */
export function inForce(one: Served, model: string, { version }: Priced): Prices {
  return pricesOf(model, version + tierOf(one));
}

export const searchPrice = (version: number) => `0.0${1 + version % 9}`;

/** Of a call whose last answer was this. */
export function searchPriceOf(last: Served, model: string, { version, search }: Priced): string {
  return ownSearchPrice(model, version + tierOf(last)) ?? ownSearchPrice(model, version) ??
    searchPrice(search);
}

/** Whether a version of prices of a model has this price of a search. */
export function hasSearchPrice(one: Served, model: string, { version }: Priced, price: string): boolean {
  return ownSearchPrice(model, version + tierOf(one)) === price;
}

/** @param last the answer whose tier counts for searches */
export function costOf(
  billed: readonly Billed[],
  searches: number,
  asked: string,
  priced: Priced,
  last: Served = billed.at(-1) ?? { input: 0, service: undefined },
): bigint {
  let sum = BigInt(searches) * atto(searchPriceOf(last, last.model ?? asked, priced));
  for (const one of billed) {
    const model = one.model ?? asked;
    const { input, cached, written, hour, audio, output, reasoning, spoken } = one;
    const prices = inForce(one, model, priced);
    sum += atto(requestPrice(model, priced.version + tierOf(one)) ?? "0");
    // What a cache gave or took is billed as that, whatever it was of.
    const heard = Math.min(audio, input - cached - written);
    const counts: [number, keyof Prices][] = [
      [input - cached - written - heard, "prompt"],
      [cached, "input_cache_read"],
      [written - hour, "input_cache_write"],
      [hour, "input_cache_write_1h"],
      [heard, "audio"],
      [output - reasoning - spoken, "completion"],
      [reasoning, "internal_reasoning"],
      [spoken, "audio_output"],
    ];
    for (const [count, kind] of counts) sum += BigInt(count) * atto(prices[kind]);
  }
  // Half up.
  return (2n * sum + 1_000_000n) / 2_000_000n;
}

function dearestSearch(model: string, { version, search }: Priced): bigint {
  return [0, 1, 2, 3].map((tier) => atto(ownSearchPrice(model, version + tier) ?? searchPrice(search)))
    .reduce((most, price) => price > most ? price : most);
}

/** More than the gateway can want to set aside: all characters as tokens of the dearest kind, and some for the template. */
export function atMost(
  { chars, cap, searches, answers }: { chars: number; cap: number; searches: boolean; answers: number },
  model: string,
  priced: Priced,
): bigint {
  const all = [0, 1, 2, 3].map((tier) => pricesOf(model, priced.version + tier));
  const dearest = (kinds: readonly (keyof Prices)[]) =>
    all.flatMap((prices) => kinds.map((kind) => atto(prices[kind])))
      .reduce((most, price) => price > most ? price : most);
  const [input, output] = [dearest(INPUT), dearest(OUTPUT)];
  const rounds = searches ? 2 : 1;
  const tokens = BigInt(answers * rounds * (chars + 2000) + (searches ? 10_000 : 0));
  const request = all.map((_, tier) => atto(requestPrice(model, priced.version + tier) ?? "0"))
    .reduce((most, price) => price > most ? price : most);
  const sum = tokens * input + BigInt(cap * answers) * output + BigInt(answers * rounds) * request +
    (searches ? dearestSearch(model, priced) : 0n);
  return sum / 1_000_000n + 1n;
}

const DAY = 86_400_000;

/** By names and calendars, not by division. */
export function startOf(period: Period, time: number): number {
  if (period === "total") return 0;
  const date = new Date(time);
  date.setUTCHours(0, 0, 0, 0);
  if (period === "week") { while (date.getUTCDay() !== 1) date.setTime(date.getTime() - DAY); }
  if (period === "month") date.setUTCDate(1);
  return date.getTime();
}

export interface Key {
  name: string;
  id: string;
  model: string;
  /** Slow requests are sent to a second provider. */
  hedge: boolean;
  /** Its own; the account of its team counts before. */
  account: string;
  team: string | null;
  limit: Limit | null;
  session: { amount: bigint | null; requestsPerMinute: number | null } | null;
  tag: Limit | null;
  requestsPerMinute: number | null;
  tokensPerMinute: number | null;
  /** The last has no end. */
  secrets: { secret: string; until: number }[];
  /** Its fields in the configuration file; null: a key of the store. */
  written: Record<string, unknown> | null;
  /** Infinity: never. */
  expires: number;
  revoked: boolean;
}

/** Who pays for the calls of a key. */
export function accountOf(
  { team, account }: Pick<Key, "team" | "account">,
  { teamAccounts }: { teamAccounts: Map<string, string> },
): string {
  return (team === null ? undefined : teamAccounts.get(team)) ?? account;
}

export interface Call {
  nonce: string;
  key: Key;
  /** The name that the key had. */
  name: string;
  account: string;
  team: string | null;
  session: string | null;
  customer: string | null;
  model: string;
  priced: Priced;
  /** The prices changed while it came: these may count as well. */
  orPriced?: Priced;
  /** The provider that gives the answer. */
  provider: string;
  /** The caller pays the provider. */
  isCallers: boolean;
  /** It may have been sent to two providers. */
  isHedged: boolean;
  /** It draws on budgets: searches of the provider's own are billed only where they have room for them. */
  isLimited: boolean;
  /** The tier of service that is asked for. */
  tier: string | undefined;
  /** Its key was moved while it came: this team and account may count as well. */
  orOf?: { team: string | null; account: string };
  created: number;
  /** What it was let in for at most. */
  most: bigint;
  /** Null: it runs. */
  cost: bigint | null;
  tokens: number;
  /** What it costs at least once it ends well. */
  least: bigint;
}

export interface Budget {
  name: string;
  limit: Limit;
  has(call: Call): boolean;
}

/** Of teams and accounts. */
export function sharedBudgets(
  { teams, credits }: { teams: Map<string, Limit | null>; credits: Map<string, bigint> },
): Budget[] {
  const budgets: Budget[] = [];
  for (const [name, limit] of teams) {
    if (limit !== null) budgets.push({ name: `team ${name}`, limit, has: ({ team }) => team === name });
  }
  for (const [name, amount] of credits) {
    const limit: Limit = { amount, period: "total" };
    budgets.push({ name: `account ${name}`, limit, has: ({ account }) => account === name });
  }
  return budgets;
}

/** Of a call of this key with these labels. */
export function budgetsOf(
  key: Key,
  labels: { session: string | null; customer: string | null },
  state: {
    teams: Map<string, Limit | null>;
    teamAccounts: Map<string, string>;
    credits: Map<string, bigint>;
  },
): Budget[] {
  const budgets: Budget[] = [];
  if (key.limit !== null) {
    budgets.push({ name: `key ${key.id}`, limit: key.limit, has: (call) => call.key === key });
  }
  const team = key.team;
  const ofTeam = team === null ? null : state.teams.get(team) ?? null;
  if (ofTeam !== null) {
    budgets.push({ name: `team ${team}`, limit: ofTeam, has: (call) => call.team === team });
  }
  const { session, customer } = labels;
  if (session !== null && key.session !== null && key.session.amount !== null) {
    budgets.push({
      name: `session ${session} of ${key.id}`,
      limit: { amount: key.session.amount, period: "total" },
      has: (call) => call.key === key && call.session === session,
    });
  }
  if (customer !== null && key.tag !== null) {
    budgets.push({
      name: `customer ${customer} of ${key.id}`,
      limit: key.tag,
      has: (call) => call.key === key && call.customer === customer,
    });
  }
  const account = accountOf(key, state);
  const credits = state.credits.get(account);
  if (credits !== undefined) {
    budgets.push({
      name: `account ${account}`,
      limit: { amount: credits, period: "total" },
      has: (call) => call.account === account,
    });
  }
  return budgets;
}

/** What of a budget is spent by calls that have ended, and what those that run may take, at least and at most. */
export function stateOf({ limit, has }: Budget, calls: readonly Call[], now: number) {
  const starts = startOf(limit.period, now);
  let [spent, least, most] = [0n, 0n, 0n];
  for (const call of calls) {
    if (!has(call) || startOf(limit.period, call.created) !== starts) continue;
    if (call.cost !== null) spent += call.cost;
    else {
      least += call.least;
      most += call.most;
    }
  }
  return { spent, least, most };
}
