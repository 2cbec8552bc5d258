/**
 * State of the providers in this process: the concurrency limit and the retry budget of each, and a circuit breaker for
 * each of its models. A reload of the configuration keeps the state of providers whose settings are the same.
 */
import { Breaker, type BreakerState } from "./breaker.ts";
import { ConcurrencyLimiter } from "../timing/concurrency_limiter.ts";
import { type Provider, type Route, standingHeaders } from "./provider.ts";
import { RetryBudget } from "./retry.ts";
import type { Ticker } from "../timing/ticker.ts";
import { Withheld } from "./withheld.ts";

export interface ProviderState {
  provider: Provider;
  headers: Record<string, string>;
  withheld: Withheld;
  limiter: ConcurrencyLimiter;
  budget: RetryBudget;
  /** By the provider's own name of the model. */
  models: Map<string, ModelState>;
}

export interface ModelState {
  breaker: Breaker;
  attempts: number;
  failed: number;
  retries: number;
  /** The last refusal that only an operator can mend, so that it is logged once. */
  complaint: string;
}

/** State of a route's provider and of its model there. */
export interface RouteState {
  state: ProviderState;
  model: ModelState;
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
}

export interface States {
  get(name: string): ProviderState | undefined;
  /** Undefined: the configuration has no such provider. */
  find(route: Route): RouteState | undefined;
  health(now: number): ProviderHealth[];
}

export interface StatesOptions {
  ticker: Ticker;
  /** Routes of the catalog; each has its breaker from the start. */
  routes: readonly Route[];
  /** What ran before a reload. */
  previous?: States;
  log(line: string): void;
}

export function openStates(list: readonly Provider[], options: StatesOptions): States {
  const { ticker, log, previous } = options;
  const states = new Map(list.map((p) => [p.name, stateOf(p, ticker, previous?.get(p.name))]));

  for (const { provider: name, model } of options.routes) {
    const state = states.get(name);
    if (state === undefined || state.models.has(model)) continue;
    const before = previous?.get(name);
    const kept = before && identity(before.provider) === identity(state.provider) && before.models.get(model);
    state.models.set(model, kept || modelState(state.provider, model, log));
  }

  return {
    get: (name) => states.get(name),
    find(route) {
      const state = states.get(route.provider);
      const model = state?.models.get(route.model);
      return state && model && { state, model };
    },
    health: (now) => [...states.values()].map((state) => healthOf(state, now)),
  };
}

/** A route as the operator and messages name it. */
export function routeName(route: Route): string {
  return `${route.provider} (${route.model})`;
}

/** The limiter is kept by the provider's name, since calls under way hold some of its places. */
function stateOf(provider: Provider, ticker: Ticker, before: ProviderState | undefined): ProviderState {
  const limiter = before?.limiter ?? new ConcurrencyLimiter(provider.maxConcurrent, ticker);
  limiter.setLimit(provider.maxConcurrent);
  const headers = standingHeaders(provider);
  return {
    provider,
    headers,
    withheld: new Withheld(headers),
    limiter,
    budget: before?.budget ?? new RetryBudget(),
    models: new Map(),
  };
}

function modelState(provider: Provider, model: string, log: (line: string) => void): ModelState {
  const name = routeName({ provider: provider.name, model, weight: null });
  const breaker = new Breaker(provider.breaker, (to, calls, failures) => {
    log(
      `${name}: circuit breaker ${to}${to === "open" ? ` after ${failures} failures of ${calls} calls` : ""}`,
    );
  });
  return { breaker, attempts: 0, failed: 0, retries: 0, complaint: "" };
}

/** Equal: the same address, account and rules of failing, so that what a breaker has counted still holds. */
function identity({ api, baseUrl, credential, headers, breaker }: Provider): string {
  return JSON.stringify([api.name, baseUrl, credential.identity, headers, breaker]);
}

function healthOf({ provider, limiter, models }: ProviderState, now: number): ProviderHealth {
  return {
    provider: provider.name,
    api: provider.api.name,
    in_flight: limiter.inFlight,
    queued: limiter.queued,
    max_concurrent: provider.maxConcurrent,
    models: [...models].map(([model, { breaker, attempts, failed, retries }]) => {
      const state = breaker.state(now);
      return {
        model,
        state,
        ...breaker.counts(now),
        retry_in_seconds: state === "open" ? Math.ceil(breaker.opensIn(now) / 1000) : null,
        attempts,
        attempts_failed: failed,
        retries,
      };
    }),
  };
}
