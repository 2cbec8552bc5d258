/**
 * `sluice import litellm`: converts a LiteLLM configuration to one of Sluice, with notes on what could not be
 * converted.
 *
 * Deployments with the same `model_name` become routes of one model, with LiteLLM's weights. Fallbacks become
 * additional routes after them. A name without a vendor gets the vendor of its first route, since Sluice's
 * ids are `<vendor>/<model>`.
 */
import { parse } from "@std/yaml/parse.js";
import { isObject, type Loose, object } from "../exchange/json.ts";
import { idOf } from "../models/discovered/names.ts";
import { accessOf, written } from "./litellm_credentials.ts";
import { litellmPrices } from "./litellm_prices.ts";
import { limitsOf, LitellmProviders, modelOf, secondsOf } from "./litellm_providers.ts";
import { UsageError } from "./option_values.ts";

export interface Imported {
  config: Loose;
  /** What was left out or changed, one sentence each. */
  notes: string[];
}

/** Fields of `litellm_params` that are converted, besides credentials, headers and prices. */
const SUPPORTED = new Set([
  ..."model api_key api_base base_url weight rpm tpm timeout stream_timeout max_retries".split(" "),
]);
/** Fields of `model_info` that are converted, besides prices, or that say nothing about the model. */
const INFO = new Set(["id", "db_model", "mode", "max_input_tokens", "max_output_tokens"]);
/** Sections of the file that are converted. */
const SECTIONS = [
  "model_list",
  "litellm_settings",
  "router_settings",
  "general_settings",
  "environment_variables",
];
/** The largest amount of money. */
const MOST_BUDGET = 9_000_000;
/** The least and the largest weight of a route. */
const WEIGHTS = { least: 1e-6, most: 1e6 };
const MOST_TOKENS = 2 ** 31;
const ID = /^[^/\s]+\/[^\s*]+$/;
const SHORT_NAME = /^[!-)+-.0-~]{1,256}$/;

interface Deployment {
  name: string;
  params: Loose;
  info: Loose;
}

/** @param text YAML. Throws `UsageError` if it is invalid or has no `model_list`. */
export function importLitellm(text: string): Imported {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw new UsageError(
      `Cannot read the configuration: ${error instanceof Error ? error.message : "no YAML"}`,
    );
  }
  if (!isObject(value) || !Array.isArray(value.model_list)) {
    throw new UsageError("Cannot read the configuration: expected model_list, a list");
  }
  return new Import(value).result();
}

class Import {
  readonly #notes: string[] = [];
  readonly #providers = new LitellmProviders((text) => this.#note(text));
  readonly #models = new Map<string, Loose & { id: string; routes: Loose[] }>();
  readonly #root: Loose;
  /** Ids of models, first those that are names in LiteLLM: callers use them already. */
  readonly #ids: Set<unknown>;
  readonly #shortNames = new Set<string>();

  constructor(root: Loose) {
    this.#root = root;
    const names = (root.model_list as unknown[]).map((item) => object(item).model_name);
    this.#ids = new Set(names.filter((name) => typeof name === "string" && ID.test(name)));
  }

  result(): Imported {
    const { litellm_settings, router_settings, general_settings, environment_variables } = this.#root;
    const settings = object(litellm_settings);
    const router = object(router_settings);
    for (const item of this.#root.model_list as unknown[]) this.#deployment(object(item));
    this.#fallbacks([settings.fallbacks, router.fallbacks, settings.default_fallbacks]);
    this.#aliases(object(router.model_group_alias));
    const config: Loose = {
      providers: this.#providers.section(this.#defaults(settings, router)),
      ...(this.#models.size > 0 && { models: [...this.#models.values()].map(weighted) }),
    };
    this.#money(config, settings, object(general_settings));
    this.#leftOut("litellm_settings", settings, [
      "fallbacks",
      "default_fallbacks",
      "max_budget",
      "budget_duration",
      "drop_params",
      "num_retries",
      "request_timeout",
    ]);
    this.#leftOut("router_settings", router, [
      "fallbacks",
      "model_group_alias",
      "routing_strategy",
      "num_retries",
      "timeout",
      "stream_timeout",
      "allowed_fails",
      "cooldown_time",
    ]);
    for (const section of Object.keys(this.#root)) {
      if (!SECTIONS.includes(section)) this.#note(`${section} has no counterpart and was left out.`);
    }
    this.#leftOut("general_settings", object(general_settings), ["master_key", "database_url"]);
    if (settings.drop_params === true) {
      this.#note("drop_params: Sluice always leaves out what a model refuses, and says so in x-svc-dropped.");
    }
    const strategy = router.routing_strategy;
    if (strategy !== undefined && strategy !== "simple-shuffle") {
      const order = String(strategy).includes("latency")
        ? "latency"
        : String(strategy).includes("cost")
        ? "price"
        : null;
      if (order === null) {
        const what = `router_settings.routing_strategy: ${String(strategy)} is not known`;
        this.#note(`${what}; routes share the load by weight.`);
      } else for (const model of config.models as Loose[] ?? []) model.order = order;
    }
    for (const name of Object.keys(object(environment_variables))) {
      this.#note(`environment_variables.${name}: set it in the environment of Sluice.`);
    }
    return { config, notes: this.#notes };
  }

  #note(text: string): void {
    if (!this.#notes.includes(text)) this.#notes.push(text);
  }

  #deployment(item: Loose): void {
    const params = object(item.litellm_params);
    const { model_name: name } = item;
    if (typeof name !== "string" || typeof params.model !== "string") {
      return this.#note("model_list: an entry without model_name or litellm_params.model was left out.");
    }
    this.#route({ name, params, info: object(item.model_info) });
  }

  #route({ name, params, info }: Deployment): void {
    const { preset, model } = modelOf(String(params.model), params);
    if (preset === null) {
      return this.#note(`${name}: no provider is known for ${String(params.model)}; the model was left out.`);
    }
    const mode = info.mode;
    if (mode !== undefined && !["chat", "completion", "responses"].includes(String(mode))) {
      return this.#note(`${name}: a model of mode ${String(mode)} answers no conversation and was left out.`);
    }
    const access = accessOf(preset, params);
    const provider = this.#providers.nameOf(preset, params, access);
    if (name.includes("*") || model.includes("*")) {
      return this.#note(
        `${name}: models that ${provider} lists are found by themselves (catalog.discover); the pattern was left out.`,
      );
    }
    const { taken, ...prices } = litellmPrices({ ...info, ...params });
    this.#leftOut(`${name}: litellm_params`, params, [...SUPPORTED, ...access.taken, ...taken]);
    this.#leftOut(`${name}: model_info`, info, [...INFO, ...taken, "max_tokens"]);
    if (info.max_tokens !== undefined && info.max_input_tokens === undefined) {
      // LiteLLM itself reads it as the one or the other. A wrong size of the context would refuse requests.
      this.#note(
        `${name}: model_info.max_tokens may mean input or output and was left out; set context_length or max_completion_tokens.`,
      );
    }
    const known = this.#models.get(name);
    const id = known?.id ?? this.#idOf(name, preset, provider, model);
    const weight = Number(params.weight ?? params.rpm ?? params.tpm);
    const route: Loose = { provider, model, weight: weight > 0 && Number.isFinite(weight) ? weight : 1 };
    if (params.rpm !== undefined || params.tpm !== undefined) {
      this.#note(
        `${name}: rpm and tpm of a deployment became its weight; limits of rates belong to keys (rate_limit).`,
      );
    }
    if (known !== undefined) {
      known.routes.push(route);
      if (known.pricing === undefined) Object.assign(known, prices);
      return;
    }
    const isSize = (count: number) => count > 0 && count <= MOST_TOKENS && Number.isInteger(count);
    const context = Number(info.max_input_tokens);
    const output = Number(info.max_output_tokens);
    const isShort = id.startsWith("anthropic/") && this.#takesShortName(name);
    this.#models.set(name, {
      id,
      routes: [route],
      ...(isSize(context) && { context_length: context }),
      ...(isSize(output) && { max_completion_tokens: output }),
      ...prices,
      ...(isShort && { short_names: [name] }),
    });
  }

  /** Whether a name can be a short name, and is not yet one of another model. */
  #takesShortName(name: string): boolean {
    if (!SHORT_NAME.test(name) || this.#shortNames.has(name)) return false;
    this.#shortNames.add(name);
    return true;
  }

  #idOf(name: string, preset: string, provider: string, model: string): string {
    if (ID.test(name)) return name;
    // The name is more specific than the name of a deployment, which is arbitrary.
    const [vendor] = idOf(preset, provider, preset === "azure" ? name : model).split("/");
    const base = `${vendor}/${name.replace(/[^!-~]/g, "-")}`;
    let id = base;
    for (let i = 2; this.#ids.has(id); i++) id = `${base}-${i}`;
    this.#ids.add(id);
    this.#note(`${name}: callers name it ${id}, since ids have a vendor.`);
    return id;
  }

  #fallbacks(lists: readonly unknown[]): void {
    for (const entry of lists.flatMap((list) => Array.isArray(list) ? list : [])) {
      for (const [name, others] of Object.entries(object(entry))) {
        this.#fallBack(name, Array.isArray(others) ? others : []);
      }
      if (typeof entry === "string") {
        this.#note(`default_fallbacks: ${entry} would be a route of every model and was left out.`);
      }
    }
  }

  /** Appends the routes of other models to a model's own. Without a weight they are tried in their order. */
  #fallBack(name: string, others: readonly unknown[]): void {
    const routes = this.#routesOf(name);
    if (routes === null) return;
    for (const other of others) {
      const more = this.#routesOf(String(other)) ?? [];
      if (more === routes) {
        this.#note(`fallbacks: ${name} is its own fallback, which was left out; see retries of a provider.`);
        continue;
      }
      routes.push(...more.map((route) => ({ ...route, weight: null })));
    }
  }

  /** Null if there is no such model; a note says so. */
  #routesOf(name: string): Loose[] | null {
    const model = this.#models.get(name);
    if (model === undefined) this.#note(`fallbacks: ${name} is no model that was taken over.`);
    return model?.routes ?? null;
  }

  #aliases(aliases: Loose): void {
    for (const [alias, target] of Object.entries(aliases)) {
      const model = this.#models.get(typeof target === "string" ? target : String(object(target).model));
      if (model !== undefined && this.#takesShortName(alias)) {
        model.short_names = [...(model.short_names as string[] ?? []), alias];
      } else this.#note(`model_group_alias: ${alias} was left out.`);
    }
  }

  /**
   * A key that all callers share, with LiteLLM's global budget. Keys in LiteLLM's database have to be created
   * again.
   */
  #money(config: Loose, settings: Loose, general: Loose): void {
    const master = general.master_key;
    if (typeof master === "string") {
      config.admin_key = written(master);
      this.#note("general_settings.master_key became admin_key; it administers and calls no models.");
    }
    if (typeof general.database_url === "string" && /^(?:os\.environ|postgres)/.test(general.database_url)) {
      this.#note(
        "general_settings.database_url is LiteLLM's own database; give Sluice one of its own in store.url.",
      );
    }
    const budget = Number(settings.max_budget);
    const period = periodOf(settings.budget_duration);
    if (budget > MOST_BUDGET) {
      this.#note(
        `litellm_settings.max_budget: an amount is at most ${MOST_BUDGET}; the budget was left out.`,
      );
    } else if (budget > 0) {
      const amount = budget.toFixed(6).replace(/\.?0+$/, "");
      if (period === null) {
        this.#note(
          `litellm_settings.budget_duration: ${
            String(settings.budget_duration)
          } is no day, week or month; the budget became one for ever.`,
        );
      }
      config.keys = [{
        name: "imported",
        secret: "${SLUICE_KEY}",
        spend_limit: { amount, period: period ?? "total" },
      }];
      this.#note(
        "litellm_settings.max_budget became the limit of one key, imported; its secret, sk_live_ and 20 characters or more, is read from SLUICE_KEY.",
      );
    }
    this.#note(
      "Keys, users and teams of LiteLLM's database are not in the file: make keys with the command `keys create NAME`.",
    );
  }

  /** What LiteLLM sets for all deployments. */
  #defaults(settings: Loose, router: Loose): Loose {
    const failures = Number(router.allowed_fails) + 1;
    const open = Number(router.cooldown_time);
    const breaker = {
      ...(Number.isInteger(failures) && failures > 0 &&
        { failures: Math.min(1_000_000, failures), window_seconds: 60 }),
      ...(open > 0 && { open_seconds: secondsOf(open) }),
    };
    return {
      ...limitsOf(
        settings.request_timeout ?? router.timeout,
        router.stream_timeout,
        settings.num_retries ?? router.num_retries,
      ),
      ...(Object.keys(breaker).length > 0 && { breaker }),
    };
  }

  #leftOut(section: string, fields: Loose, taken: Iterable<string>): void {
    const known = new Set(taken);
    for (const name of Object.keys(fields)) {
      if (!known.has(name)) this.#note(`${section}.${name} has no counterpart and was left out.`);
    }
  }
}

/**
 * Removes weights if only one route has one: they would have no effect. Weights beyond the limits, such as
 * millions of tokens a minute, are made smaller together.
 */
function weighted(model: Loose & { routes: Loose[] }): Loose {
  const weights = model.routes.flatMap(({ weight }) => typeof weight === "number" ? [weight] : []);
  const { least, most } = WEIGHTS;
  const factor = Math.min(1, most / Math.max(...weights));
  return {
    ...model,
    routes: model.routes.map(({ provider, model, weight }) =>
      weights.length > 1
        ? {
          provider,
          model,
          weight: typeof weight === "number" ? Math.min(most, Math.max(least, weight * factor)) : null,
        }
        : { provider, model }
    ),
  };
}

function periodOf(duration: unknown): string | null {
  switch (String(duration ?? "total")) {
    case "total":
      return "total";
    case "1d":
    case "24h":
      return "day";
    case "7d":
    case "1w":
      return "week";
    case "30d":
    case "1mo":
      return "month";
    default:
      return null;
  }
}
