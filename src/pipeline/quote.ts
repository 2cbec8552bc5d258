/**
 * Estimates the cost of a request, and whether it would be accepted. Nothing is reserved, recorded or sent.
 */
import { costAtMost, costOf, formatAmount, priceTable } from "../accounts/mod.ts";
import { Failure, type FailureCode } from "../exchange/failure.ts";
import { isObject } from "../exchange/json.ts";
import { priceOf, type Prices } from "../exchange/prices.ts";
import type { Prompt } from "../exchange/prompt.ts";
import { flattenTools } from "../exchange/tools.ts";
import { NO_USAGE } from "../exchange/usage.ts";
import type { ProviderFormat } from "../formats/format.ts";
import { readLeaves } from "../formats/leaves/mod.ts";
import { AUTO, type Model, sheetOf } from "../models/catalog.ts";
import { measure, refuseOversize } from "../models/limits.ts";
import type { Route, Upstream } from "../providers/provider.ts";
import type { Step } from "../timing/slices.ts";
import { choose, type Read } from "./admission/admit.ts";
import type { Arrival } from "./call.ts";
import { encodeFlat } from "./generation/encode_call.ts";
import type { Kit } from "./kit.ts";
import { distinguishMasked, labelsIfGood, labelsOf } from "./admission/labels.ts";
import { namedModels } from "./admission/named_models.ts";
import { highestPrices, othersOf } from "./admission/other_models.ts";
import { callRoutes, FREE, isFree } from "./admission/caller_credential.ts";
import { shapeOf } from "./shape.ts";
import { capOutput, upperBoundOfAll, withoutOwnSearches } from "./admission/upper_bound.ts";
import { admissionOf, planOf, searchPriceNow } from "./admission/plan.ts";

export interface Quote {
  input_tokens: number;
  /** Input tokens that are probably in the provider's cache: the conversation before its last turn. */
  cached_tokens_estimate: number;
  candidates: Candidate[];
  allowed: boolean;
  refusal: { code: FailureCode; status: number; message: string } | null;
}

export interface Candidate {
  model: string;
  /** US dollars, as a decimal string: the price of the input, with its probably cached part. Null: the model has no price. */
  cost_min: string | null;
  /** US dollars: the highest possible bill, including all search rounds. */
  cost_max: string | null;
  /** Fields that cannot be sent to the model's provider. */
  dropped: string[];
}

/** Minimum size and step of cached prompt prefixes, in tokens (OpenAI; Anthropic's are larger). */
const LEAST_CACHED = 1024;
const CACHE_STEP = 128;

/** @param inputTokens the counted tokens of the input */
export async function quote(
  arrival: Arrival,
  inputTokens: number,
  { kit, step }: { kit: Kit; step: Step },
): Promise<Quote> {
  const { format, key } = arrival;
  const prompt = await step(() =>
    format.decodeRequest(arrival.body, {
      unseal: kit.sealer.of(key.account).unseal,
      headers: arrival.headers,
    })
  );
  const reading = await step(() => readLeaves(arrival.body, format.leaves));
  const size = await step(() => measure(prompt, reading, kit.limits));
  const named = await step(() => namedModels(prompt, arrival.body));
  const asked = { arrival, prompt, reading, size, named };
  const cached = await step(() => probablyCached(prompt, inputTokens));
  const models = candidatesOf(asked, kit);
  const candidates: Candidate[] = [];
  for (const model of models) {
    const usable = await firstUsableRoute(model, kit);
    candidates.push(await step(() => candidate(model, { ...asked, inputTokens, cached, usable }, kit)));
  }
  const refusal = await refusalOf(asked, kit).then(() => null, (thrown) => Failure.from(thrown));
  return {
    input_tokens: inputTokens,
    cached_tokens_estimate: models.some(caches) ? cached : 0,
    candidates,
    allowed: refusal === null,
    refusal: refusal && { code: refusal.code, status: refusal.row.status, message: refusal.message },
  };
}

interface Asked extends Read {
  arrival: Arrival;
  prompt: Prompt;
}

/** Throws `model_not_found`, `policy_violation`. */
function candidatesOf({ arrival: { key, formatName }, prompt }: Asked, kit: Kit): readonly Model[] {
  const limited = kit.accounts.isLimited(key);
  const choices = prompt.model === AUTO ? kit.catalog.choices(key, { limited }) : null;
  return choices ?? [kit.catalog.resolve(prompt.model, key, { short: formatName === "messages", limited })];
}

/** The result of a function, or null if it throws a failure: the call would be refused. */
function orNull<T>(look: () => T): T | null {
  try {
    return look();
  } catch (thrown) {
    if (thrown instanceof Failure) return null;
    throw thrown;
  }
}

function candidate(
  model: Model,
  { arrival, prompt, size, named, inputTokens, cached, usable }: Asked & {
    inputTokens: number;
    cached: number;
    usable: UsableRoute | null;
  },
  kit: Kit,
): Candidate {
  const reach = orNull(() => callRoutes(model, arrival, kit, prompt.model !== AUTO));
  const { routes, callerCredential } = reach ?? { routes: model.routes, callerCredential: null };
  const others = orNull(() => othersOf({ prompt, model, routes, named }, arrival.key, kit));
  const capped = { ...prompt };
  capOutput(capped, model, size, others);
  const sheet = sheetOf(model, kit.now());
  const shape = shapeOf(capped, model, kit.providers);
  const estimate = withoutOwnSearches(upperBoundOfAll(capped, model, size, shape, others), size, {
    routes,
    callerCredential,
  });
  const free = callerCredential !== null && isFree(routes, callerCredential);
  const { prices } = free ? { prices: FREE } : priceOf(sheet, inputTokens, prompt.serviceTier);
  const highest = highestPrices(
    { prompt, model, routes, callerCredential, others, created: kit.now(), searchPrice: searchPriceNow(kit) },
    estimate,
    kit,
  );
  const known = free || Object.values(sheet.prices).some((price) => price !== undefined);
  const read = caches(model) ? cached : 0;
  const amount = (cost: bigint) => known ? formatAmount(cost) : null;
  return {
    model: model.id,
    cost_min: amount(costOf({ ...NO_USAGE, input: inputTokens, cached: read }, 0, tableOf(prices, kit))),
    cost_max: amount(costAtMost(estimate, tableOf(highest, kit))),
    dropped: (usable && orNull(() => droppedBy(model, prompt, usable))) ?? [],
  };
}

function tableOf(prices: Prices, kit: Kit) {
  return priceTable(kit.accounts.withSearchPrice(prices));
}

const caches = (model: Model): boolean =>
  model.features.has("prompt_caching") || model.pricing.input_cache_read !== undefined;

/** A route with its upstream and format. */
interface UsableRoute {
  route: Route;
  upstream: Pick<Upstream, "provider" | "api">;
  format: ProviderFormat;
}

/** The first route that is in service. */
async function firstUsableRoute(model: Model, kit: Kit): Promise<UsableRoute | null> {
  const route = model.routes.find((one) => kit.providers.healthy([one])) ?? model.routes[0];
  const provider = kit.providers.get(route.provider);
  const api = kit.providers.apiOf(route);
  if (provider === undefined || api === undefined) return null;
  return { route, upstream: { provider, api }, format: await api.format.open() };
}

/** The fields that would be dropped. Throws if the provider's API does not support some content. */
function droppedBy(model: Model, prompt: Prompt, { route, upstream, format }: UsableRoute): string[] {
  const flat = flattenTools(prompt, upstream.api.toolForms(prompt.format));
  const request = encodeFlat(flat.prompt, upstream, format, route.model, model);
  return [...request.dropped, ...prompt.search?.unread ?? []];
}

/** The tokens before the caller's last turn, if the conversation has several turns. */
function probablyCached({ turns, tools }: Prompt, inputTokens: number): number {
  const last = turns.findLastIndex((turn) => turn.role === "assistant");
  if (last < 0) return 0;
  const chars = (part: unknown) => JSON.stringify(part).length;
  const before = chars(tools) + chars(turns.slice(0, last));
  const tokens = Math.floor(inputTokens * before / (chars(tools) + chars(turns)));
  return tokens < LEAST_CACHED ? 0 : tokens - tokens % CACHE_STEP;
}

/** Rejects with the failure that the request would get, as far as it can be determined without a provider. */
async function refusalOf({ arrival, prompt, reading, size, named }: Asked, kit: Kit): Promise<void> {
  const { key, header } = arrival;
  // A mask is written into the body.
  const sent = labelsIfGood(header, arrival.body);
  await refuseData(arrival, kit);
  const { model } = await choose(prompt, { reading, size, named }, arrival, kit);
  refuseOversize(size, model.contextLength);
  const capped = { ...prompt };
  const plan = planOf({ arrival, prompt: capped, model, size, named }, kit);
  const labels = distinguishMasked(
    labelsOf(header, arrival.body),
    sent,
    kit.sealer.of(key.account).fingerprint,
  );
  await kit.accounts.probe(
    admissionOf({ arrival, prompt: capped, model, plan, created: kit.now(), labels }, kit),
  );
  if (!kit.providers.healthy(plan.routes)) {
    throw new Failure("circuit_breaker_open", "No provider of this model works just now; try again soon.");
  }
  const usable = await firstUsableRoute(model, kit);
  if (usable !== null) droppedBy(model, prompt, usable);
}

/** Throws if data-loss prevention would refuse the request. Nothing is written to the audit log. */
async function refuseData(arrival: Arrival, kit: Kit): Promise<void> {
  const { body, key } = arrival;
  const dlpField = isObject(body) && isObject(body.plugins) ? body.plugins.dlp ?? undefined : undefined;
  if (key.dlpPolicy === null && (key.team?.dlpPolicy ?? null) === null && dlpField === undefined) return;
  const { wouldRefuse } = await import("./screening/dry_scan.ts");
  if (await wouldRefuse(arrival, dlpField, kit)) {
    throw new Failure("dlp_violation", "Data-loss prevention would refuse the request.");
  }
}
