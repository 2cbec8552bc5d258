/**
 * Calls to providers: tries the routes of a model in order, with retries before the first byte of the answer and never after it.
 *
 * An attempt needs a permit of the route's circuit breaker and a slot of its provider's concurrency limit. Failures that do not depend on
 * the request are retried: no connection, 408, 429, 5xx, also if the body of a 200 reports them before any output. If a provider refuses
 * the gateway's key, if its API cannot express the request, or if the request exceeds a limit of its own, the next route is tried. If it
 * refuses the request for another reason, the refusal is returned.
 */
import type { Level } from "../exchange/log_level.ts";
import type { Failure } from "../exchange/failure.ts";
import { openSend, type Send } from "../outgoing/send.ts";
import type { Ticker } from "../timing/ticker.ts";
import { pause } from "../timing/waits.ts";
import type { ProviderApi } from "./apis/mod.ts";
import { type Exchange, openExchanges } from "./exchange.ts";
import type { OpenAnswer, Opening } from "./opening.ts";
import { apiOf, type Provider, type Route } from "./provider.ts";
import { CALLER_LEFT, cancelled, noPlace, noRoute } from "./refusals.ts";
import { comesLast, isTransient, mayFitElsewhere, mostHelpful, pauseMs } from "./retry.ts";
import { beginningWith, byLatency, byPrice, drawFor, inOrder, partition } from "./routes.ts";
import { openStates, type ProviderHealth, routeName, type RouteState, type States } from "./states.ts";
import { tryRoute } from "./try_route.ts";

export type { Opened, Opening } from "./opening.ts";

export interface Providers {
  get(name: string): Provider | undefined;
  /** Whether any provider accepts callers' own credentials. */
  readonly acceptsCallerCredentials: boolean;
  /** The API of a route's calls; undefined: there is no such provider. */
  apiOf(route: Route): ProviderApi | undefined;
  /**
   * Returns the answer of the first route that succeeds, with the result of `begin`. Throws the Failure of the last attempt,
   * `circuit_breaker_open` if no route could be tried, `service_unavailable` if no provider had capacity, or `feature_not_supported` if
   * no API of the routes can express the request.
   */
  open<T>(routes: readonly Route[], opening: Opening<T>): Promise<OpenAnswer<T>>;
  /**
   * Waits before a route is asked again whose answer failed before it had any content. False: its retries are used up.
   * @param tries how often it was asked again already
   */
  mayRetry(route: Route, failure: Failure, tries: number): Promise<boolean>;
  /** The routes in the order in which a call would try them. */
  inTurn(
    routes: readonly Route[],
    opening: Pick<Opening<unknown>, "conversation" | "order" | "stream">,
  ): readonly Route[];
  /** 95th percentile of a route's time to the first output, of streams or of whole answers, in milliseconds; null: unknown. */
  p95(route: Route, stream: boolean): number | null;
  /** Whether at least one route would be tried. */
  healthy(routes: readonly Route[]): boolean;
  /**
   * Whether all routes that would be tried are such that others are preferred to: their providers have asked for a pause, or have a
   * smaller context than a prompt with this number of tokens.
   */
  rest(routes: readonly Route[], tokens: number): boolean;
  health(): ProviderHealth[];
  /** State that the next configuration takes over. */
  readonly states: States;
}

export interface ProvidersOptions {
  ticker: Ticker;
  /** Routes of the catalog. */
  routes: readonly Route[];
  /** Routes of discovered models. */
  discovered?: readonly Route[];
  /** The instance before a reload. */
  previous?: Providers;
  log(line: string, level?: Level): void;
  /** Ends an abandoned call at this provider, if there is one. */
  makeRoom?(provider: string): void;
  /** Sends the requests; absent: over sockets, without proxies. */
  send?: Send;
  random?(): number;
  sleep?(ms: number): Promise<void>;
}

/** Providers with their routes, retries and breakers. */
export function openProviders(list: readonly Provider[], options: ProvidersOptions): Providers {
  return new OpenProviders(list, options);
}

class OpenProviders implements Providers {
  readonly states: States;
  readonly acceptsCallerCredentials: boolean;
  readonly #options: ProvidersOptions;
  readonly #ticker: Ticker;
  readonly #exchange: Exchange;
  readonly #random: () => number;
  readonly #sleep: (ms: number) => Promise<void>;

  constructor(list: readonly Provider[], options: ProvidersOptions) {
    const { ticker, routes, discovered, log, previous, send = openSend() } = options;
    this.#options = options;
    this.#ticker = ticker;
    this.#exchange = openExchanges(send, ticker);
    this.#random = options.random ?? Math.random;
    this.#sleep = options.sleep ?? pause;
    this.states = openStates(list, { ticker, routes, discovered, log, previous: previous?.states });
    this.acceptsCallerCredentials = list.some(({ passCredentials }) => passCredentials === true);
  }

  get(name: string): Provider | undefined {
    return this.states.get(name)?.provider;
  }

  apiOf(route: Route): ProviderApi | undefined {
    const provider = this.get(route.provider);
    return provider && apiOf(provider, route);
  }

  healthy(routes: readonly Route[]): boolean {
    return routes.some((route) => this.states.find(route)?.model.breaker.allows(this.#ticker.now()));
  }

  rest(routes: readonly Route[], tokens: number): boolean {
    const now = this.#ticker.now();
    return routes.every((route) => {
      const model = this.states.find(route)?.model;
      return model === undefined || !model.breaker.allows(now) || comesLast(model, tokens, now);
    });
  }

  health(): ProviderHealth[] {
    return this.states.health(this.#ticker.now());
  }

  p95(route: Route, stream: boolean): number | null {
    return this.states.find(route)?.model.firstBytes.p95(stream) ?? null;
  }

  inTurn(
    routes: readonly Route[],
    { conversation, order, stream }: Pick<Opening<unknown>, "conversation" | "order" | "stream">,
  ): readonly Route[] {
    if (order === "price") return byPrice(routes);
    const { states } = this;
    if (order === "latency") {
      const now = this.#ticker.now();
      const usual = (stream: boolean) => (route: Route) =>
        states.find(route)?.model.firstBytes.usual({ now, stream }) ?? null;
      const isMeasured = routes.some((route) => usual(stream)(route) !== null);
      return byLatency(routes, usual(isMeasured ? stream : !stream));
    }
    return conversation === null
      ? inOrder(routes, this.#random)
      : inOrder(routes, drawFor(conversation), (route) => states.get(route.provider)?.limiter.inFlight ?? 0);
  }

  async open<T>(routes: readonly Route[], opening: Opening<T>): Promise<OpenAnswer<T>> {
    const ticker = this.#ticker;
    const came = ticker.now();
    const line = new RouteLine(
      beginningWith(opening.previous, this.inTurn(routes, opening)),
      (route) => {
        const found = this.states.find(route);
        return found !== undefined && comesLast(found.model, opening.leastTokens ?? 0, came);
      },
    );
    const shut: Route[] = [];
    let full = false;
    let last: Failure | undefined;
    let unfit: Failure | undefined;
    for (let i = 0; i < line.turns.length; i++) {
      const { route, waits } = line.turns[i];
      const found = this.states.find(route);
      if (found === undefined || opening.claims?.(route) === false) continue;
      const { provider, budget, limiter } = found.state;
      // Reading the clock is the most expensive of these steps: the first attempt uses the time at which the call arrived.
      const now = i === 0 ? came : ticker.now();
      if (!waits) budget.call(now);
      for (let tries = opening.tried ?? 0;; tries++) {
        let at = tries === 0 ? now : ticker.now();
        if (!found.model.breaker.allows(at)) {
          shut.push(route);
          break;
        }
        if (!limiter.tryEnter()) {
          // Another route may have capacity at once; the call waits only if none has.
          if (!waits && i < line.turns.length - 1) {
            line.comesAgain(route, i);
            break;
          }
          const waited = await this.#waitForPlace(found, opening, { at, came });
          if (waited === "again" && opening.over?.()) throw CALLER_LEFT;
          if (waited === "again") {
            line.turns.push({ route, waits: true });
            break;
          }
          if (waited === "full") {
            full = true;
            break;
          }
          at += waited;
          if (last === undefined && opening.abandoned?.()) {
            limiter.leave();
            throw CALLER_LEFT;
          }
        }
        if (opening.signal?.aborted || opening.over?.()) {
          limiter.leave();
          throw opening.signal?.aborted ? cancelled() : CALLER_LEFT;
        }
        const only = routes.length === 1;
        const result = await tryRoute(route, opening, found, {
          ticker,
          exchange: this.#exchange,
          only,
          came: at,
        });
        if (result === "shut") {
          shut.push(route);
          break;
        }
        if ("opened" in result) return result;
        if ("unfit" in result) {
          unfit ??= result.unfit;
          break;
        }
        const { failure } = result;
        last = mostHelpful(last, failure);
        if (opening.signal?.aborted) throw last;
        if (failure.refusesReasoning && !failure.begun && opening.withoutReasoning?.()) {
          // No retry: another request.
          tries--;
          continue;
        }
        const elsewhere = mayFitElsewhere(failure, opening.contextLength ?? null);
        if (!(isTransient(failure) || elsewhere) || failure.begun) throw failure;
        if (failure.lasting && !result.callers) this.#complain(found, route, failure);
        if (failure.lasting || elsewhere || result.silent || tries >= provider.retries) break;
        const ms = pauseMs(failure, tries, this.#random);
        if (ms === null || !budget.take(ticker.now())) break;
        found.model.retries++;
        await this.#sleep(ms);
      }
    }
    if (last !== undefined) throw last;
    if (full) throw noPlace(opening.model);
    throw shut.length === 0 && unfit !== undefined ? unfit : noRoute(opening.model, shut);
  }

  async mayRetry(route: Route, failure: Failure, tries: number): Promise<boolean> {
    const found = this.states.find(route);
    if (found === undefined || tries >= found.state.provider.retries) return false;
    const ms = pauseMs(failure, tries, this.#random);
    if (ms === null || !found.state.budget.take(this.#ticker.now())) return false;
    found.model.retries++;
    await this.#sleep(ms);
    return true;
  }

  /**
   * Waits for capacity of a provider that has reached its concurrency limit. Returns the milliseconds that the call has waited for its
   * slot; "full": it gets none; "again": it may wait once more.
   */
  async #waitForPlace<T>(
    { state: { provider, limiter } }: RouteState,
    { further, key, watch }: Opening<T>,
    { at, came }: { at: number; came: number },
  ): Promise<number | "full" | "again"> {
    this.#options.makeRoom?.(provider.name);
    const entered = await (further ? limiter.enterFirst() : limiter.enter(key));
    const now = this.#ticker.now();
    if (!entered && further && now - came < provider.firstByteMs) return "again";
    watch?.waited(provider.name, further ? now - came : now - at, entered ? "ok" : "full");
    return entered ? now - at : "full";
  }

  /** Another route may hide the failure from callers, so it is logged for operators, once until the route works again. */
  #complain({ model }: RouteState, route: Route, failure: Failure): void {
    const complaint = failure.operator ?? failure.message;
    if (complaint === model.complaint) return;
    model.complaint = complaint;
    this.#options.log(`${routeName(route)}: ${complaint}`, "warn");
  }
}

/** The routes of a call in the order of its attempts: those that others are preferred to come last, routes without capacity twice. */
class RouteLine {
  readonly turns: { route: Route; waits: boolean }[];
  /** Index up to which routes come before those that others are preferred to. */
  #first: number;

  constructor(routes: readonly Route[], rests: (route: Route) => boolean) {
    const [rested, resting] = partition(routes, rests);
    this.turns = [...rested, ...resting].map((route) => ({ route, waits: false }));
    this.#first = rested.length;
  }

  /** Appends the route again, to wait for capacity after all attempts of its kind. @param at its current index */
  comesAgain(route: Route, at: number): void {
    this.turns.splice(at < this.#first ? this.#first++ : this.turns.length, 0, { route, waits: true });
  }
}

/** Loads the formats of routes before calls need them. */
export async function loadFormats(providers: Providers, routes: readonly Route[]): Promise<void> {
  const formats = new Set(routes.map((route) => providers.apiOf(route)?.format));
  await Promise.all([...formats].map((format) => format?.open()));
}
