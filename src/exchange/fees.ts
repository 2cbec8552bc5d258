/**
 * Tools that a provider runs itself and charges for each use, beside the tokens and the web searches. Those that run code are refused, and
 * computer use costs only its tokens.
 */
import { isObject, type Loose } from "./json.ts";
import { count } from "./usage.ts";

/** Names of the prices, which are also those of the counts. */
export const FEE_KINDS = ["file_search", "x_search", "search_source"] as const;
export type FeeKind = typeof FEE_KINDS[number];

/** Number of uses by kind; absent: none. */
export type Fees = Readonly<Partial<Record<FeeKind, number>>>;

/** The fees of a tool by its type in a request: of OpenAI and xAI. */
const TOOLS: readonly (readonly [type: RegExp, kind: FeeKind])[] = [
  [/^(?:file|collections)_search/, "file_search"],
  [/^x_search/, "x_search"],
  [/^live_search/, "search_source"],
];

/** Undefined: a tool without such a fee. */
export function feeOfTool(type: string): FeeKind | undefined {
  return TOOLS.find(([pattern]) => pattern.test(type))?.[1];
}

/** Items of OpenAI's responses API, which stand for one use each. */
const ITEMS: ReadonlyMap<unknown, Fees> = new Map([
  ["file_search_call", { file_search: 1 }],
  ["x_search_call", { x_search: 1 }],
]);

/** Undefined: an item without such a fee. */
export function feeOfItem({ type, status }: Loose): Fees | undefined {
  return status === "failed" ? undefined : ITEMS.get(type);
}

/** xAI's counts of successful calls, in `server_side_tool_usage_details` of its usage. */
const DETAILS = [["file_search_calls", "file_search"], ["x_search_calls", "x_search"]] as const;

/**
 * The uses in a report of usage; undefined: none.
 * @param items uses that the answer lists, which count if the report has no counts
 */
export function reportedFees(usage: Loose, items?: Fees): Fees | undefined {
  const { server_side_tool_usage_details: details, num_sources_used } = usage;
  const sources = count(num_sources_used);
  if (!isObject(details) && sources === 0) return items;
  const fees: Partial<Record<FeeKind, number>> = isObject(details) ? {} : { ...items };
  if (isObject(details)) {
    for (const [name, kind] of DETAILS) {
      const uses = count(details[name]);
      if (uses > 0) fees[kind] = uses;
    }
  }
  if (sources > 0) fees.search_source = sources;
  return Object.keys(fees).length === 0 ? undefined : fees;
}

/** The sum of both. */
export function addFees(a: Fees | undefined, b: Fees | undefined): Fees | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const sum: Partial<Record<FeeKind, number>> = { ...a };
  for (const kind of FEE_KINDS) {
    const more = b[kind];
    if (more !== undefined) sum[kind] = (sum[kind] ?? 0) + more;
  }
  return sum;
}

/** Each count, changed by a function. */
export function mapFees(fees: Fees, change: (uses: number, kind: FeeKind) => number): Fees {
  const changed: Partial<Record<FeeKind, number>> = {};
  for (const kind of FEE_KINDS) {
    const uses = fees[kind];
    if (uses !== undefined) changed[kind] = change(uses, kind);
  }
  return changed;
}

/** Whether there are more uses of some kind. */
export function exceedsFees(fees: Fees, most: Fees | undefined): boolean {
  return FEE_KINDS.some((kind) => (fees[kind] ?? 0) > (most?.[kind] ?? 0));
}

/** The prices of these fees among others. */
export function feePrices(prices: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const kind of FEE_KINDS) {
    const price = prices[kind];
    if (price !== undefined) found[kind] = price;
  }
  return found;
}
