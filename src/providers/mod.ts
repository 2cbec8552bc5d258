/**
 * Calls to providers: the routes of a model in order, with retries before the first byte and never after it.
 *
 * An attempt needs the permit of the route's circuit breaker and a place under its provider's concurrency limit. Retried
 * are failures that say nothing about the request: no connection, 408, 429, 5xx, also when the body of a 200 reports them
 * before any output. When a provider refuses this gateway's key, the next route is tried; when it refuses the request,
 * that is the answer.
 */
import { Failure } from "../exchange/failure.ts";
import type { ProviderFormat } from "../formats/format.ts";
import { pause } from "../timing/waits.ts";
import type { ProviderApi } from "./apis/mod.ts";
import type { AttemptWatch, FollowedAttempt } from "./attempt.ts";
import { type Exchanged, type Heard, openExchanges, type Outgoing } from "./exchange.ts";
import { apiOf, type Door, type Provider, type Route } from "./provider.ts";
import { isFault, isTransient, pauseMs, restMs } from "./retry.ts";
import { byLatency, byPrice, drawFor, inOrder, partition, type RouteOrder } from "./routes.ts";
import type { Reply } from "../outgoing/reply.ts";
import { openSend, type Send } from "../outgoing/send.ts";
import { openStates, type ProviderHealth, routeName, type RouteState, type States } from "./states.ts";
import { noteFailure } from "./last_failure.ts";
import { CALLER_LEFT, cancelled, noPlace, noRoute } from "./refusals.ts";
import type { Ticker } from "../timing/ticker.ts";
import type { Withheld } from "./withheld.ts";

export type { ProviderHealth } from "./states.ts";

/** A provider's good answer, of which the first bytes are there. It holds one of the provider's places until closed. */
export interface Opened {
  readonly provider: Provider;
  readonly api: ProviderApi;
  /** Of the API. */
  readonly format: ProviderFormat;
  readonly reply: Reply;
  /** Valid until the next bytes are read. It keeps a buffer of the connection in memory: whoever needs it no more puts an empty array here. */
  first: Uint8Array;
  /** What nothing of the answer may tell. */
  readonly withheld: Withheld;
  /** Null: telemetry is off. */
  readonly followed: FollowedAttempt | null;
  /** The answer turned into this failure. */
  failed(failure: Failure): void;
  /** Must be called once no more is read. */
  close(): void;
}

export interface Opening<T> {
  /** Makes the request for a provider's API. @param model the provider's own name of it */
  prepare(
    door: Pick<Door, "provider" | "api">,
    format: ProviderFormat,
    model: string,
  ): Outgoing | Promise<Outgoing>;
  /** Looks at the beginning of an answer. What it throws is a failure of the try, as a refusing status would be. */
  begin(opened: Opened): T | Promise<T>;
  stream: boolean;
  /** Who asks: callers take turns where places are short. */
  key: string;
  /** The callers' name of the model, for messages. */
  model: string;
  /** Calls of one conversation go to one of the routes that share the load; null: it belongs to none. */
  conversation: string | null;
  /** Absent: as the routes are written. */
  order?: RouteOrder;
  /** The door that the call goes through, where it is not the usual one. */
  through?(door: Door): Door;
  /** What the call fails with where the provider does not know its address. Absent: as the provider says. */
  missing?: Failure;
  /** Ends it before its time: nothing more is tried. */
  signal?: AbortSignal;
  /** Whether nobody waits for it, and nothing of it has begun: then it takes no place that it had to wait for. Absent: no. */
  gone?(): boolean;
  /**
   * It belongs to a request that has been asked for before: to refuse it would throw away what that has cost. It waits for a
   * place before all others, and for as long as the provider has for its first byte. Absent: no.
   */
  further?: boolean;
  /** Told of its attempts. */
  watch?: AttemptWatch;
}

export interface Providers {
  get(name: string): Provider | undefined;
  /** Whether any of them takes credentials of callers. */
  readonly passes: boolean;
  /** The API that a route is called through; undefined: there is no such provider. */
  apiOf(route: Route): ProviderApi | undefined;
  /**
   * Opens an answer on the first route that gives one; what `begin` made of it comes along. Throws the last try's
   * Failure, `circuit_breaker_open` when no route could be tried, `service_unavailable` when there was no place.
   */
  open<T>(routes: readonly Route[], opening: Opening<T>): Promise<{ opened: Opened; begun: T }>;
  /** The routes in the order in which this call would try them. */
  inTurn(
    routes: readonly Route[],
    opening: Pick<Opening<unknown>, "conversation" | "order">,
  ): readonly Route[];
  /** What 19 of 20 calls of a route take at most until their first output, in milliseconds; null: not known. */
  p95(route: Route): number | null;
  /** Whether some route would be tried. */
  healthy(routes: readonly Route[]): boolean;
  health(): ProviderHealth[];
  /** What a later configuration takes over. */
  readonly states: States;
}

export interface ProvidersOptions {
  ticker: Ticker;
  /** Routes of the catalog. */
  routes: readonly Route[];
  /** Routes of models that providers list. */
  discovered?: readonly Route[];
  /** What ran before a reload. */
  previous?: Providers;
  log(line: string): void;
  /** Ends a call at this provider that nobody waits for, if there is one. */
  makeRoom?(provider: string): void;
  /** Makes the exchanges; absent: over sockets, without proxies. */
  send?: Send;
  random?(): number;
  sleep?(ms: number): Promise<void>;
}

/** An attempt that gave no answer. */
interface Failed {
  failure: Failure;
  /** The provider sent nothing until the deadline for its first byte. */
  silent: boolean;
}

export function openProviders(list: readonly Provider[], options: ProvidersOptions): Providers {
  const { ticker, routes, log, previous, random = Math.random, sleep = pause } = options;
  const exchange = openExchanges(options.send ?? openSend(), ticker);
  const states = openStates(list, {
    ticker,
    routes,
    discovered: options.discovered,
    log,
    previous: previous?.states,
  });

  /**
   * One attempt on a route. The caller has taken a place for it, which is given back when the attempt fails.
   * @param only the model has no other route
   * @param came when it was taken
   */
  async function attempt<T>(
    route: Route,
    opening: Opening<T>,
    { state, model, door: usual }: RouteState,
    { only, came }: { only: boolean; came: number },
  ): Promise<{ opened: Opened; begun: T } | Failed | "shut"> {
    const door = opening.through?.(usual) ?? usual;
    let outgoing: Outgoing;
    let began = came;
    let format: ProviderFormat;
    try {
      const loading = door.api.format.open();
      format = loading instanceof Promise ? await loading : loading;
      const prepared = opening.prepare(door, format, route.model);
      if (prepared instanceof Promise) {
        outgoing = await prepared;
        began = ticker.now();
      } else outgoing = prepared;
    } catch (thrown) {
      state.limiter.leave();
      throw thrown;
    }
    const permit = model.breaker.enter(began);
    if (permit === null) {
      state.limiter.leave();
      return "shut";
    }
    model.attempts++;
    const { watch } = opening;
    const followed = watch?.begin(door, route, opening.stream) ?? null;
    if (door.provider.traceContext) {
      const headers = { ...outgoing.headers, ...followed?.context() ?? watch?.callersTrace() };
      outgoing = { body: outgoing.body, headers };
    }
    const heard: Heard = { measured: watch?.measures === true, head: null, status: null };
    let closed = false;
    let answering = false;

    function failed(failure: Failure): void {
      // With a single route, an open breaker would refuse every call: answers that break off are better than none.
      if (answering && only) return;
      // How much one caller's own account has left says nothing of others'.
      if (door.passing && failure.code === "provider_rate_limited") return permit!.succeed(ticker.now());
      const fault = isFault(failure);
      const rest = restMs(failure);
      if (rest > 0) model.restsUntil = ticker.now() + rest;
      if (isTransient(failure) || failure.lasting) noteFailure(model, failure);
      if (fault) permit!.fail(ticker.now());
      // A refusal of the request is an answer; one of the gateway's key, or a fault of ours, is no sign of anything.
      else if (!failure.lasting && failure.code !== "internal_service_error") permit!.succeed(ticker.now());
    }
    function close(reply?: Reply): void {
      if (closed) return;
      closed = true;
      reply?.close();
      followed?.close();
      permit!.abandon();
      state.limiter.leave();
    }
    function tell(failure: Failure | null): void {
      const { head, status } = heard;
      const headMs = head === null ? null : head - began;
      followed?.begun(failure, status);
      watch?.attempted({ route, ms: ticker.now() - began, failure, status, headMs });
    }
    function giveUp(thrown: unknown, more: { reply?: Reply; silent?: boolean } = {}): Failed {
      const failure = Failure.from(thrown);
      tell(failure);
      failed(failure);
      close(more.reply);
      return { failure, silent: more.silent === true && failure.code === "provider_timeout" };
    }

    /** It was slow, and did nothing wrong. */
    function cancel(reply?: Reply): Failed {
      model.firstBytes.add(ticker.now() - began, ticker.now());
      close(reply);
      const failure = cancelled();
      tell(failure);
      return { failure, silent: false };
    }

    let got: Exchanged | Failure;
    try {
      const { stream, signal, missing } = opening;
      const asking = { outgoing, stream, signal, missing, heard };
      got = await (followed === null
        ? exchange(door, route, asking)
        : followed.within(() =>
          exchange(door, route, asking)
        ));
    } catch (thrown) {
      if (opening.signal?.aborted) return cancel();
      return giveUp(thrown, { silent: true });
    }
    if (got instanceof Failure) return giveUp(got);
    const { reply, first, withheld } = got;
    const { provider, api } = door;
    const opened = {
      provider,
      api,
      format,
      reply,
      first,
      withheld,
      failed,
      followed,
      close: () => close(reply),
    };
    try {
      const beginning = opening.begin(opened);
      const begun = beginning instanceof Promise ? await beginning : beginning;
      if (heard.measured || followed !== null) tell(null);
      const now = ticker.now();
      permit.succeed(now);
      model.firstBytes.add(now - began, now);
      answering = true;
      model.complaint = "";
      model.restsUntil = 0;
      return { opened, begun };
    } catch (thrown) {
      if (opening.signal?.aborted) return cancel(reply);
      return giveUp(thrown, { reply });
    }
  }

  function inTurn(
    routes: readonly Route[],
    opening: Pick<Opening<unknown>, "conversation" | "order">,
  ): readonly Route[] {
    const draw = opening.conversation === null ? random : drawFor(opening.conversation);
    const load = (route: Route) => states.get(route.provider)?.limiter.inFlight ?? 0;
    const usual = (route: Route) => states.find(route)?.model.firstBytes.usual(ticker.now()) ?? null;
    return opening.order === "price"
      ? byPrice(routes)
      : opening.order === "latency"
      ? byLatency(routes, usual)
      : inOrder(routes, draw, load);
  }

  /** Another route may hide it from callers, so the operator is told; once, until it works again. */
  function complain({ model }: RouteState, route: Route, failure: Failure): void {
    const complaint = failure.operator ?? failure.message;
    if (complaint === model.complaint) return;
    model.complaint = complaint;
    log(`${routeName(route)}: ${complaint}`);
  }

  return {
    states,
    get: (name) => states.get(name)?.provider,
    passes: list.some(({ passCredentials }) => passCredentials === true),
    apiOf(route) {
      const provider = states.get(route.provider)?.provider;
      return provider && apiOf(provider, route);
    },
    healthy: (routes) => routes.some((route) => states.find(route)?.model.breaker.allows(ticker.now())),
    health: () => states.health(ticker.now()),
    inTurn,
    p95: (route) => states.find(route)?.model.firstBytes.p95() ?? null,

    async open(routes, opening) {
      const came = ticker.now();
      const rests = (route: Route) => (states.find(route)?.model.restsUntil ?? 0) > came;
      const ordered = inTurn(routes, opening);
      const [rested, resting] = partition(ordered, rests);
      const turns = [...rested, ...resting].map((route) => ({ route, waits: false }));
      /** Turns before this come before all routes that rest. */
      let first = rested.length;
      const shut: Route[] = [];
      let full = false;
      let last: Failure | undefined;
      for (let i = 0; i < turns.length; i++) {
        const { route, waits } = turns[i];
        const found = states.find(route);
        if (found === undefined) continue;
        const { breaker } = found.model;
        const { provider, budget, limiter } = found.state;
        // To ask the time costs more than all the rest of these: of the first try it is that at which the call came.
        const now = i === 0 ? came : ticker.now();
        if (!waits) budget.call(now);
        for (let tries = 0;; tries++) {
          let at = tries === 0 ? now : ticker.now();
          if (!breaker.allows(at)) {
            shut.push(route);
            break;
          }
          if (!limiter.tryEnter()) {
            // Another route may have a place at once; only when none has is it worth waiting.
            if (!waits && i < turns.length - 1) {
              turns.splice(i < first ? first++ : turns.length, 0, { route, waits: true });
              break;
            }
            options.makeRoom?.(route.provider);
            const entered = await (opening.further ? limiter.enterFirst() : limiter.enter(opening.key));
            const waited = ticker.now() - at;
            at += waited;
            if (!entered && opening.further && at - came < provider.firstByteMs) {
              turns.push({ route, waits: true });
              break;
            }
            opening.watch?.waited(
              route.provider,
              opening.further ? at - came : waited,
              entered ? "ok" : "full",
            );
            if (!entered) {
              full = true;
              break;
            }
            if (last === undefined && opening.gone?.()) {
              limiter.leave();
              throw CALLER_LEFT;
            }
          }
          if (opening.signal?.aborted) {
            limiter.leave();
            throw cancelled();
          }
          const result = await attempt(route, opening, found, { only: routes.length === 1, came: at });
          if (result === "shut") {
            shut.push(route);
            break;
          }
          if ("opened" in result) return result;
          last = result.failure;
          if (opening.signal?.aborted) throw last;
          if (!isTransient(last) || last.begun) throw last;
          if (last.lasting) complain(found, route, last);
          if (last.lasting || result.silent || tries >= provider.retries) break;
          const ms = pauseMs(last, tries, random);
          if (ms === null || !budget.take(ticker.now())) break;
          found.model.retries++;
          await sleep(ms);
        }
      }
      throw last ?? (full ? noPlace(opening.model) : noRoute(opening.model, shut));
    },
  };
}

/** Loads the formats of routes before calls need them. */
export async function loadFormats(providers: Providers, routes: readonly Route[]): Promise<void> {
  const formats = new Set(routes.map((route) => providers.apiOf(route)?.format));
  await Promise.all([...formats].map((format) => format?.open()));
}
