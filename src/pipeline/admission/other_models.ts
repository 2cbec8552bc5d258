/**
 * Additional models that a request names, which may answer or be called as advisors.
 *
 * A key with restricted models may name only models that it may use: by the provider's name, as in the routes of the catalog, or by the
 * catalog id. The reservation covers the most expensive of them, and a call is billed at the prices of the models that its answer names.
 */
import type { Estimate, Key } from "../../accounts/mod.ts";
import { Failure } from "../../exchange/failure.ts";
import type { FormatName } from "../../exchange/format_name.ts";
import { array, number, object, string } from "../../exchange/json.ts";
import { highestOfEach, highestPricesOf, type Prices } from "../../exchange/prices.ts";
import type { Prompt } from "../../exchange/prompt.ts";
import {
  type Catalog,
  isPermitted,
  isPriced,
  isVisible,
  type Model,
  type ModelAccess,
  sheetOf,
} from "../../models/catalog.ts";
import { TOOL_ROUNDS } from "../../models/limits.ts";
import type { Route } from "../../providers/provider.ts";
import type { Call, Others } from "../call.ts";
import type { Kit } from "../kit.ts";
import type { NamedModel } from "./named_models.ts";
import { isFree, pricesOfSearches } from "./caller_credential.ts";

export interface Asked {
  prompt: Prompt;
  model: Model;
  routes: readonly Route[];
  /** The result of {@link namedModels}. */
  named: readonly NamedModel[] | null;
}

/** Maximum output of an advisor for each call, if the request sets none. */
const UNCAPPED_ADVICE = 4096;
/** Types of tools that call other models. */
const ADVISES = /advisor|subagent|fusion|image_generation/;
/** Maximum output tokens of an image. */
const MOST_IMAGE = 10_000;
/** Maximum number of models that a refusal lists. */
const MOST_LISTED = 10;

/**
 * Null: the request names no additional models, or the names would not be sent to any provider. Throws `model_not_found` or
 * `policy_violation` if the key may not use one of them.
 *
 * For a restricted key, names that the catalog does not have for a provider are not sent to that provider: it is unknown which model they
 * would select.
 */
export function othersOf({ prompt, model, routes, named }: Asked, key: Key, kit: Kit): Others | null {
  if (named === null) return null;
  const providers = providersOfFormat(prompt.format, routes, kit);
  if (providers.length === 0) return null;
  const { catalog } = kit;
  const restricted = isRestricted(key);
  const limited = restricted && kit.accounts.isLimited(key);
  const models = new Set<Model>();
  const seen = new Set<string>();
  const ignorant = new Set<string>();
  for (const one of named) {
    if (one.name === null) {
      if (restricted) throw mayNotChoose(one);
      continue;
    }
    if (seen.has(one.name)) continue;
    seen.add(one.name);
    const meant = providers.map((provider) => modelsAt(catalog, provider, one.name!, model));
    if (restricted) {
      refuseUnless(meant, { one, key, limited, providers }, kit);
      meant.forEach((known, i) => known.length === 0 && ignorant.add(providers[i]));
      if (ignorant.size === providers.length) throw noCommonProvider(one, model);
    }
    for (const model of meant.flat()) models.add(model);
  }
  models.delete(model);
  return {
    models: [...models],
    tries: triesOf(prompt),
    advice: adviceOf(prompt),
    image: prompt.tools.some(drawsImages) ? MOST_IMAGE : 0,
    routes: ignorant.size === 0
      ? routes
      : routes.filter((route) => !ignorant.has(route.provider) || !hasFormat(route, prompt.format, kit)),
  };
}

/** Providers to which fields of the caller's format are passed unchanged. */
function providersOfFormat(format: FormatName, routes: readonly Route[], kit: Kit): string[] {
  const sameFormat = routes.filter((route) => hasFormat(route, format, kit));
  return [...new Set(sameFormat.map(({ provider }) => provider))];
}

function hasFormat(route: Route, format: FormatName, { providers }: Kit): boolean {
  return providers.apiOf(route)?.formatName === format;
}

function isRestricted(key: ModelAccess): boolean {
  const restricts = ({ models, accessPolicy }: Pick<ModelAccess, "models" | "accessPolicy">) =>
    models !== null || accessPolicy !== null;
  return restricts(key) || (key.team !== null && restricts(key.team));
}

const routed = new WeakMap<Catalog, Map<string, Model[]>>();

/** Models of the catalog by the providers' names for them. */
function byProvidersName(catalog: Catalog): Map<string, Model[]> {
  let known = routed.get(catalog);
  if (known === undefined) {
    routed.set(catalog, known = new Map());
    for (const model of catalog.models) {
      for (const { provider, model: name } of model.routes) {
        const at = `${provider}\n${name}`;
        const models = known.get(at);
        if (models === undefined) known.set(at, [model]);
        else if (!models.includes(model)) models.push(model);
      }
    }
  }
  return known;
}

/** The models that a name can mean at a provider when `asked` is requested. The provider's names take priority over catalog ids. */
function modelsAt(catalog: Catalog, provider: string, name: string, asked: Model): readonly Model[] {
  const own = byProvidersName(catalog).get(`${provider}\n${name}`);
  if (own !== undefined) return own.includes(asked) ? [asked] : own;
  const listed = catalog.find(name);
  if (listed !== undefined) return [listed];
  // The same name with or without a date.
  const dated = catalog.find(`${asked.id.slice(0, asked.id.indexOf("/"))}/${name}`);
  return dated?.routes.some((route) => route.provider === provider) ? [dated] : [];
}

interface Naming {
  one: NamedModel;
  key: ModelAccess;
  limited: boolean;
  providers: readonly string[];
}

/** @param meant the possible models at each of the providers */
function refuseUnless(meant: readonly (readonly Model[])[], naming: Naming, kit: Kit): void {
  const { one: { field, name }, key, limited } = naming;
  const exists = (model: Model) => isVisible(key, model) && (!limited || isPriced(model));
  const known = meant.filter((models) => models.length > 0);
  const text = JSON.stringify(name!.slice(0, 200));
  if (known.length === 0 || !known.every((models) => models.some(exists))) {
    throw new Failure(
      "model_not_found",
      `Cannot use ${field}: model ${text} is not in this key's catalog. ${allowed(naming, kit)}`,
      { param: field },
    );
  }
  if (!known.every((models) => models.some((model) => exists(model) && isPermitted(key, model)))) {
    throw new Failure(
      "policy_violation",
      `Cannot use ${field}: the access policy of this key does not allow model ${text}. ${
        allowed(naming, kit)
      }`,
      { param: field },
    );
  }
}

function allowed({ key, limited, providers }: Naming, { catalog }: Kit): string {
  const names = new Set<string>();
  for (const model of catalog.models) {
    if (!isVisible(key, model) || !isPermitted(key, model) || (limited && !isPriced(model))) continue;
    for (const route of model.routes) if (providers.includes(route.provider)) names.add(route.model);
  }
  const listed = [...names].slice(0, MOST_LISTED).map((name) => JSON.stringify(name));
  return `Expected one of: ${listed.join(", ")}${
    names.size > MOST_LISTED ? ", and others that GET /v1/models lists" : ""
  }.`;
}

function mayNotChoose({ field }: NamedModel): Failure {
  return new Failure(
    "model_not_found",
    `Cannot use ${field}: the provider would choose the model, and this key may use only some. ` +
      "Expected a model, or a list of them, that GET /v1/models lists.",
    { param: field },
  );
}

function noCommonProvider({ field, name }: NamedModel, { id }: Model): Failure {
  return new Failure(
    "model_not_found",
    `Cannot use ${field}: no provider of ${id} has model ${
      JSON.stringify(name)
    } beside the others that are named. ` +
      "Expected models of one provider.",
    { param: field },
  );
}

/** Anthropic bills the output of each model in `fallbacks`, also if it declined. Other providers bill only the answering model. */
function triesOf({ format, unknown: { fallbacks } }: Prompt): number[] {
  if (format !== "messages") return [];
  return fallbacks === "default"
    ? [0]
    : array(fallbacks).map((entry) => number(object(entry).max_tokens) ?? 0);
}

function adviceOf({ tools }: Prompt): number {
  let tokens = 0;
  for (const one of tools) {
    if (one.kind !== "opaque") continue;
    const tool = one.value;
    if (!ADVISES.test(string(tool.type) ?? "")) continue;
    const { max_uses, max_tokens, parameters } = tool;
    const times = Math.min(number(max_uses) ?? TOOL_ROUNDS, TOOL_ROUNDS);
    const uncapped = drawsImages(one) ? MOST_IMAGE : UNCAPPED_ADVICE;
    tokens += times *
      Math.max(0, number(max_tokens) ?? number(object(parameters).max_completion_tokens) ?? uncapped);
  }
  return Math.max(0, Math.ceil(tokens));
}

function drawsImages(tool: Prompt["tools"][number]): boolean {
  return tool.kind === "opaque" && string(tool.value.type)?.includes("image_generation") === true;
}

/** What the prices of a call depend on. */
type Priced = Pick<
  Call,
  "prompt" | "model" | "routes" | "callerCredential" | "others" | "created" | "searchPrice"
>;

/** Formats that ask for the usual tier if the caller's format does; others drop the field, or leave the tier to the provider. */
const ASKS_USUAL_TOO: Readonly<Partial<Record<FormatName, readonly FormatName[]>>> = {
  chat_completions: ["responses", "messages"],
  responses: ["chat_completions", "messages"],
  messages: ["responses"],
};

/**
 * The tier of service that each provider that may answer is asked for; undefined: it may be any. Anthropic's fast mode is a tier of its own,
 * and so may be what is said for a fallback.
 */
function tierAsked({ prompt, routes, others }: Priced, kit: Kit): string | undefined {
  const { format, serviceTier, unknown: { speed = null } } = prompt;
  if (serviceTier === undefined || speed !== null || others !== null) return undefined;
  const isUsual = serviceTier === "default";
  // Of this format only the usual tier is passed on by its name.
  if (format === "messages" && !isUsual) return undefined;
  const asks = (route: Route) =>
    hasFormat(route, format, kit) ||
    (isUsual && ASKS_USUAL_TOO[format]?.some((other) => hasFormat(route, other, kit)));
  return routes.every(asks) ? serviceTier : undefined;
}

/** Whether the call cannot be served in Anthropic's fast mode: neither the request nor one of its fallbacks asks for it. */
function isSlow({ prompt, routes, others }: Priced, kit: Kit): boolean {
  const { speed = null } = prompt.unknown;
  return speed === null && others === null && routes.every((route) => hasFormat(route, "messages", kit));
}

/** The requested model with the largest limits of all models that may answer, for the reservation. */
export function withLargestLimits(model: Model, others: Others | null): Model {
  if (others === null || others.models.length === 0) return model;
  const all = [model, ...others.models];
  const contexts = all.map((one) => one.contextLength);
  return {
    ...model,
    contextLength: contexts.includes(null) ? null : Math.max(...contexts as number[]),
    maxCompletion: model.maxCompletion === null
      ? null
      : Math.max(...all.map((one) => one.maxCompletion ?? 0)),
  };
}

/** For each kind of token, the highest price that may apply if the call uses no more than the estimate. */
export function highestPrices(call: Priced, estimate: Estimate, kit: Kit): Prices {
  const { model, routes, callerCredential, others, created, searchPrice } = call;
  const input = estimate.input + (estimate.media ?? 0);
  const possible = { input, asked: tierAsked(call, kit), slow: isSlow(call, kit), search: searchPrice };
  const pricesFor = (one: Model) => highestPricesOf(sheetOf(one, created), possible);
  const highest = others === null || others.models.length === 0
    ? pricesFor(model)
    : highestOfEach([model, ...others.models].map(pricesFor), searchPrice);
  const free = callerCredential !== null && isFree(routes, callerCredential);
  return free ? pricesOfSearches(highest) : highest;
}

/** The catalog model that a provider's answer names; null: it is not in the catalog, or has no price. */
export function servedModel(
  name: string,
  { provider, asked, others }: { provider: string; asked: Model; others: Others },
  { catalog }: Pick<Kit, "catalog">,
): Model | null {
  const own = byProvidersName(catalog);
  const at = (name: string) => own.get(`${provider}\n${name}`);
  const undated = name.replace(/-(?:20\d{6}|20\d\d-\d\d-\d\d)$/, "");
  const models = at(name) ?? at(undated) ?? modelsAt(catalog, provider, name, asked);
  if (models.length === 0 || models.includes(asked)) return models.length === 0 ? null : asked;
  const model = models.find((one) => others.models.includes(one)) ?? models[0];
  return isPriced(model) && model.routes.some((route) => route.provider === provider) ? model : null;
}
