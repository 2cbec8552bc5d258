/**
 * State of the providers in this process: the concurrency limit and the retry budget of each, and a circuit breaker for
 * each of its models and each API of their routes. A reload of the configuration keeps the state of providers whose settings are unchanged.
 */
import type { Level } from "../exchange/log_level.ts";
import { countOf } from "../exchange/printable.ts";
import { type LastFailure, type LastFailureView, lastFailureView } from "./last_failure.ts";
import { FirstBytes } from "./first_bytes.ts";
import { Breaker, type BreakerState } from "./breaker.ts";
import { ConcurrencyLimiter } from "../timing/concurrency_limiter.ts";
import type { ProviderApi } from "./apis/mod.ts";
import { apiOf, type Provider, type Route, type Upstream, upstreamOf } from "./provider.ts";
import type { RefusedFields } from "./refused_fields.ts";
import { type NamedContext, RetryBudget } from "./retry.ts";
import type { Ticker } from "../timing/ticker.ts";

export interface ProviderState {
  provider: Provider;
  /** One for each API that its routes use. */
  upstreams: Map<ProviderApi, Upstream>;
  limiter: ConcurrencyLimiter;
  budget: RetryBudget;
  /** By {@link modelKey}. */
  models: Map<string, ModelAtUpstream>;
}

interface ModelAtUpstream {
  model: ModelState;
  upstream: Upstream;
}

/** A model of a provider, through one of its APIs. */
export interface ModelState {
  /** The name that operators see. */
  name: string;
  breaker: Breaker;
  attempts: number;
  failed: number;
  retries: number;
  firstBytes: FirstBytes;
  /** End of the provider's `Retry-After`: until then other routes are tried first. */
  avoidedUntil: number;
  /** The last failure of the provider (not of a request), and its time. */
  lastFailure: LastFailure | null;
  /** The last refusal that an operator has to correct, so that it is logged only once. */
  complaint: string;
  /** Fields that requests leave out because the model has refused them, by the id of the caller's key; null: none. */
  refusedFields: Map<string, RefusedFields> | null;
  /** Its context according to the provider; null: no request has exceeded it, or it was not named. */
  context: NamedContext | null;
}

/** State of a route's provider and of its model there. */
export interface RouteState {
  state: ProviderState;
  model: ModelState;
  upstream: Upstream;
}

/** One provider, as `GET /admin/providers` shows it. */
export interface ProviderHealth {
  provider: string;
  api: string;
  in_flight: number;
  queued: number;
  max_concurrent: number | null;
  models: ModelHealth[];
}

export interface ModelHealth {
  /** Followed by the API, if routes use another API than the provider's. */
  model: string;
  state: BreakerState;
  /** Within the breaker's window. */
  calls: number;
  failures: number;
  /** Seconds until an open breaker lets a call through again. */
  retry_in_seconds: number | null;
  /** Since the process began. */
  attempts: number;
  attempts_failed: number;
  retries: number;
  /** Milliseconds to the first output in the last 64 streams and the last 64 whole answers; null: no calls. */
  first_output_ms: { p50: number; p95: number } | null;
  last_error: LastFailureView | null;
}

/** A model of a provider, as {@link ModelHealth} names it. */
export interface NamedModel {
  provider: string;
  model: string;
}

export interface States {
  get(name: string): ProviderState | undefined;
  /** Undefined: the configuration has no such provider. */
  find(route: Route): RouteState | undefined;
  /** State of a route that has been called, or that the configuration names. */
  known(route: Route): ModelState | undefined;
  health(now: number): ProviderHealth[];
  /** Closes the breakers of a provider, or of one of its models. Returns the names of those that were not closed. */
  closeBreakers(of: { provider: string; model?: string }, now: number): NamedModel[];
  /** Activates this instance in place of the previous one: shared limits get the settings of this one. */
  takeOver(): void;
}

export interface StatesOptions {
  ticker: Ticker;
  /** Routes of the configuration; their breakers are created at once. */
  routes: readonly Route[];
  /** Routes of discovered models; their breakers are created with the first call. */
  discovered?: readonly Route[];
  /** The instance before a reload. */
  previous?: States;
  log(line: string, level?: Level): void;
}

/** Breakers, limits and measurements of providers; unchanged providers keep those of `previous`. */
export function openStates(list: readonly Provider[], options: StatesOptions): States {
  const { ticker, log } = options;
  // Released at the end; otherwise the states of all earlier configurations would stay in memory.
  let previous = options.previous;
  const states = new Map(list.map((p) => [p.name, stateOf(p, ticker, previous?.get(p.name))]));

  const same = new Set(
    [...states.values()].map(({ provider }) => provider).filter(({ name, ...provider }) => {
      const before = previous?.get(name);
      return before !== undefined && identity(before.provider) === identity({ name, ...provider });
    }).map(({ name }) => name),
  );

  function add(state: ProviderState, route: Route, lately: boolean): ModelAtUpstream | undefined {
    const key = modelKey(route);
    const known = state.models.get(key);
    if (known !== undefined) return known;
    const kept = same.has(route.provider) ? previous?.get(route.provider)?.models.get(key)?.model : undefined;
    if (lately && kept === undefined) return undefined;
    const made = {
      upstream: upstreamFor(state, route),
      model: kept ?? modelState(state.provider, route, log),
    };
    state.models.set(key, made);
    return made;
  }

  for (const route of options.routes) {
    const state = states.get(route.provider);
    if (state !== undefined) add(state, route, false);
  }
  const found = new Set<string>();
  for (const route of options.discovered ?? []) {
    const state = states.get(route.provider);
    if (state === undefined) continue;
    found.add(`${route.provider}\n${modelKey(route)}`);
    add(state, route, true);
  }
  previous = undefined;

  return {
    get: (name) => states.get(name),
    find(route) {
      const state = states.get(route.provider);
      if (state === undefined) return undefined;
      const key = modelKey(route);
      const known = state.models.get(key) ??
        (found.has(`${route.provider}\n${key}`) ? add(state, route, false) : undefined);
      return known && { state, ...known };
    },
    known: (route) => states.get(route.provider)?.models.get(modelKey(route))?.model,
    health: (now) => [...states.values()].map((state) => healthOf(state, now)),
    closeBreakers: ({ provider, model: named }, now) =>
      [...states.get(provider)?.models.values() ?? []]
        .filter(({ model }) => (named === undefined || model.name === named) && model.breaker.close(now))
        .map(({ model }) => ({ provider, model: model.name })),
    takeOver() {
      for (const { limiter, provider } of states.values()) limiter.setLimit(provider.maxConcurrent);
    },
  };
}

/** The name of a route for operators and messages. */
export function routeName(route: Route): string {
  return `${route.provider} (${modelName(route)})`;
}

function modelName({ model, api }: Pick<Route, "model" | "api">): string {
  return api === undefined ? model : `${model} over ${api}`;
}

/** No name of a model has a line break. */
function modelKey({ model, api }: Route): string {
  return api === undefined ? model : `${model}\n${api}`;
}

/** All models with the same API share one upstream. */
function upstreamFor({ provider, upstreams }: ProviderState, route: Route): Upstream {
  const api = apiOf(provider, route);
  const upstream = upstreams.get(api) ?? upstreamOf(provider, api);
  upstreams.set(api, upstream);
  return upstream;
}

/** The limiter is kept by the provider's name, since calls in progress occupy some of its slots. */
function stateOf(provider: Provider, ticker: Ticker, before: ProviderState | undefined): ProviderState {
  return {
    provider,
    upstreams: new Map(),
    limiter: before?.limiter ?? new ConcurrencyLimiter(provider.maxConcurrent, ticker),
    budget: before?.budget ?? new RetryBudget(),
    models: new Map(),
  };
}

function modelState(provider: Provider, route: Route, log: (line: string, level: Level) => void): ModelState {
  const name = routeName(route);
  const breaker = new Breaker(provider.breaker, (to, calls, failures) => {
    log(
      `${name}: circuit breaker ${to}${
        to === "open" ? ` after ${countOf(failures, "failure")} of ${countOf(calls, "call")}` : ""
      }`,
      to === "open" ? "warn" : "info",
    );
  });
  return {
    name: modelName(route),
    breaker,
    attempts: 0,
    failed: 0,
    retries: 0,
    firstBytes: new FirstBytes(),
    avoidedUntil: 0,
    lastFailure: null,
    complaint: "",
    refusedFields: null,
    context: null,
  };
}

/** Equal values: the same URL, account and breaker settings, so the counts of the breaker are still valid. */
function identity({ api, cloud, baseUrl, credential, headers, breaker }: Provider): string {
  return JSON.stringify([api.name, cloud?.identity, baseUrl, credential.identity, headers, breaker]);
}

function healthOf({ provider, limiter, models }: ProviderState, now: number): ProviderHealth {
  return {
    provider: provider.name,
    api: provider.api.name,
    in_flight: limiter.inFlight,
    queued: limiter.queued,
    max_concurrent: provider.maxConcurrent,
    models: [...models.values()].map(({ model }) => {
      const { name, breaker, attempts, failed, retries, firstBytes, lastFailure } = model;
      const latency = firstBytes.summary();
      const state = breaker.state(now);
      return {
        model: name,
        state,
        ...breaker.counts(now),
        retry_in_seconds: state === "open" ? Math.ceil(breaker.opensIn(now) / 1000) : null,
        attempts,
        attempts_failed: failed,
        retries,
        first_output_ms: latency && { p50: Math.round(latency.p50), p95: Math.round(latency.p95) },
        last_error: lastFailure && lastFailureView(lastFailure),
      };
    }),
  };
}
