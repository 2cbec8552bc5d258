/**
 * One attempt on a route: builds and sends the request, and examines the start of the answer. The result is
 * reported to the route's circuit breaker, to the provider's limit and to observers of the call.
 */
import { Failure } from "../exchange/failure.ts";
import { lazy } from "../exchange/lazy.ts";
import type { ProviderFormat } from "../formats/format.ts";
import type { Reply } from "../outgoing/reply.ts";
import type { Ticker } from "../timing/ticker.ts";
import type { AttemptWatch, FollowedAttempt } from "./attempt.ts";
import type { Permit } from "./breaker.ts";
import type { Asking, Exchange, Exchanged, Heard, Outgoing } from "./exchange.ts";
import { noteFailure } from "./last_failure.ts";
import type { Fit, RefusedFields } from "./refused_fields.ts";
import type { OpenAnswer, Opened, Opening } from "./opening.ts";
import type { Route, Upstream } from "./provider.ts";
import { cancelled } from "./refusals.ts";
import { avoidMs, contextNamed, isFault, isTransient } from "./retry.ts";
import type { ModelState, RouteState } from "./states.ts";

/** Needed only by servers that are not Anthropic's own. */
const refusedFields = lazy(() => import("./refused_fields.ts"));

/** The words of servers that refuse fields, see refused_fields.ts. */
const REFUSES_FIELDS =
  /Extra inputs are not permitted|extra_forbidden|' is unsupported|Unrecognized request arg|Unknown parameter|Cannot find field/;

/** Maximum number of keys for which a model's refused fields are kept. */
const MOST_KEYS = 1000;

/** An attempt without an answer. */
export interface Failed {
  failure: Failure;
  /** The provider sent nothing before the timeout for the first byte. */
  silent: boolean;
  /** The provider refuses the account or key of the caller, which says nothing about other callers. */
  callers: boolean;
}

/** No attempt was made: another route may have an API that supports what the request uses. */
export interface Unfit {
  unfit: Failure;
}

export interface TryOptions {
  ticker: Ticker;
  exchange: Exchange;
  /** The model has no other route. */
  only: boolean;
  /** When the place was taken, by the ticker. */
  came: number;
}

/**
 * The caller has taken a place at the provider, which is released if the attempt fails. Returns "shut" if the
 * breaker refuses, and `unfit` if the API of the route cannot express the request. Throws other errors of
 * building the request, since no other route could succeed.
 */
export async function tryRoute<T>(
  route: Route,
  opening: Opening<T>,
  found: RouteState,
  { ticker, exchange, only, came }: TryOptions,
): Promise<OpenAnswer<T> | Failed | Unfit | "shut"> {
  const { limiter } = found.state;
  const upstream = opening.adaptUpstream?.(found.upstream) ?? found.upstream;
  let outgoing: Outgoing;
  let began = came;
  let format: ProviderFormat;
  try {
    const loading = upstream.api.format.open();
    format = loading instanceof Promise ? await loading : loading;
    const prepared = opening.prepare(upstream, format, route.model, knownFit(found.model, opening.key, came));
    if (prepared instanceof Promise) {
      outgoing = await prepared;
      began = ticker.now();
    } else outgoing = prepared;
  } catch (thrown) {
    limiter.leave();
    if (thrown instanceof Failure && thrown.code === "feature_not_supported") return { unfit: thrown };
    throw thrown;
  }
  const permit = found.model.breaker.enter(began);
  if (permit === null) {
    limiter.leave();
    return "shut";
  }
  found.model.attempts++;
  const { watch, stream, signal, missing } = opening;
  const followed = watch?.begin(upstream, route, stream) ?? null;
  const attempt = new RouteAttempt({
    ticker,
    route,
    upstream,
    found,
    permit,
    followed,
    watch,
    only,
    began,
    stream,
  });
  const { heard } = attempt;
  const asking = { exchange, upstream, route, followed, watch, stream, signal, missing, heard };
  let got: Exchanged | Failure;
  try {
    got = await exchanged(outgoing, asking);
    if (got instanceof Failure && heard.refusal !== null && REFUSES_FIELDS.test(heard.refusal)) {
      got = await exchangedWithoutRefused(got, asking, { opening, format, model: found.model, ticker });
    }
  } catch (thrown) {
    return signal?.aborted ? attempt.cancel() : attempt.giveUp(thrown, { silent: true });
  }
  if (got instanceof Failure) return attempt.giveUp(got);
  const { reply, first, withheld } = got;
  const opened: Opened = {
    route,
    provider: upstream.provider,
    api: upstream.api,
    format,
    model: route.model,
    reply,
    first,
    withheld,
    followed,
    failed: (failure) => attempt.failed(failure),
    close: () => attempt.close(reply),
  };
  try {
    const beginning = opening.begin(opened);
    const begun = beginning instanceof Promise ? await beginning : beginning;
    attempt.answers();
    return { opened, begun };
  } catch (thrown) {
    return signal?.aborted ? attempt.cancel(reply) : attempt.giveUp(thrown, { reply });
  }
}

interface Exchanging extends Omit<Asking, "outgoing"> {
  exchange: Exchange;
  upstream: Upstream;
  route: Route;
  followed: FollowedAttempt | null;
  watch: AttemptWatch | undefined;
}

function exchanged(
  outgoing: Outgoing,
  { exchange, upstream, route, followed, watch, stream, signal, missing, heard }: Exchanging,
): Promise<Exchanged | Failure> {
  const asking = { outgoing, stream, signal, missing, heard };
  if (upstream.provider.traceContext) {
    const headers = { ...outgoing.headers, ...followed?.context() ?? watch?.callersTrace() };
    asking.outgoing = { ...outgoing, headers };
  }
  return followed === null
    ? exchange(upstream, route, asking)
    : followed.within(() => exchange(upstream, route, asking));
}

async function exchangedWithoutRefused(
  refused: Failure,
  asking: Exchanging,
  { opening, format, model, ticker }: {
    opening: Pick<Opening<unknown>, "prepare" | "key">;
    format: ProviderFormat;
    model: ModelState;
    ticker: Ticker;
  },
): Promise<Exchanged | Failure> {
  const { askWithoutRefused, RefusedFields } = await refusedFields.open();
  const { upstream, route, heard } = asking;
  const known = model.refusedFields?.get(opening.key) ??
    new RefusedFields(upstream.api.formatName === "chat_completions");
  return await askWithoutRefused({
    refused,
    text: () => heard.refusal,
    known,
    learned: () => keepRefused(model, opening.key, known),
    prepare: (fit) => opening.prepare(upstream, format, route.model, fit),
    ask(outgoing) {
      heard.status = heard.refusal = null;
      return exchanged(outgoing, asking);
    },
    now: () => ticker.now(),
  });
}

/** What leaves out the fields that a model is known to refuse in requests of a key. */
function knownFit({ refusedFields }: ModelState, key: string, now: number): Fit | undefined {
  const known = refusedFields?.get(key);
  return known && ((body, headers) => known.fit(body, headers, now));
}

function keepRefused(model: ModelState, key: string, fields: RefusedFields): void {
  const known = model.refusedFields ??= new Map();
  known.delete(key);
  known.set(key, fields);
  if (known.size <= MOST_KEYS) return;
  for (const oldest of known.keys()) {
    known.delete(oldest);
    break;
  }
}

interface AttemptParts {
  ticker: Ticker;
  route: Route;
  upstream: Upstream;
  found: RouteState;
  permit: Permit;
  followed: FollowedAttempt | null;
  watch: AttemptWatch | undefined;
  only: boolean;
  /** When the request was ready, by the ticker. */
  began: number;
  stream: boolean;
}

/** An attempt with a permit, until its answer has been read. */
class RouteAttempt {
  readonly heard: Heard;
  readonly #parts: AttemptParts;
  readonly #model: ModelState;
  #closed = false;
  #answering = false;

  constructor(parts: AttemptParts) {
    this.#parts = parts;
    this.#model = parts.found.model;
    this.heard = { measured: parts.watch?.measures === true, head: null, status: null, refusal: null };
  }

  /** The answer has started successfully. */
  answers(): void {
    const { ticker, permit, followed, began } = this.#parts;
    if (this.heard.measured || followed !== null) this.#reportStart(null);
    const now = ticker.now();
    permit.succeed(now);
    this.#model.firstBytes.add(now - began, { now, stream: this.#parts.stream });
    this.#answering = true;
    this.#model.complaint = "";
    this.#model.avoidedUntil = 0;
  }

  failed(failure: Failure): void {
    const { ticker, upstream, permit, only } = this.#parts;
    // With a single route, an open breaker would refuse every call: answers that break off are better than
    // none.
    if (this.#answering && only) return;
    // The limits and the state of one caller's account say nothing about others.
    if (upstream.usesCallerCredential && (failure.code === "provider_rate_limited" || failure.lasting)) {
      return permit.succeed(ticker.now());
    }
    const fault = isFault(failure);
    const rest = avoidMs(failure);
    if (rest > 0) this.#model.avoidedUntil = ticker.now() + rest;
    // The limits of one caller's account say nothing about others.
    if (failure.overflow !== undefined && !upstream.usesCallerCredential) {
      this.#model.context = contextNamed(failure, ticker.now());
    }
    if (isTransient(failure) || failure.lasting) {
      noteFailure(this.#model, failure);
      this.#model.firstBytes.failed(ticker.now());
    }
    if (fault) permit.fail(ticker.now());
    // A refusal of the request counts as an answer; a refusal of the gateway's key, or an error of the
    // gateway, does not count.
    else if (!failure.lasting && !failure.local && failure.code !== "internal_service_error") {
      permit.succeed(ticker.now());
    }
  }

  giveUp(thrown: unknown, more: { reply?: Reply; silent?: boolean } = {}): Failed {
    const failure = Failure.from(thrown);
    this.#reportStart(failure);
    this.failed(failure);
    this.close(more.reply);
    return {
      failure,
      silent: more.silent === true && failure.code === "provider_timeout",
      callers: this.#parts.upstream.usesCallerCredential === true && failure.lasting,
    };
  }

  /** It was slow but did not fail. */
  cancel(reply?: Reply): Failed {
    const { ticker, began, stream } = this.#parts;
    const now = ticker.now();
    this.#model.firstBytes.add(now - began, { now, stream });
    this.close(reply);
    const failure = cancelled();
    this.#reportStart(failure);
    return { failure, silent: false, callers: false };
  }

  close(reply?: Reply): void {
    if (this.#closed) return;
    this.#closed = true;
    const { followed, permit, found } = this.#parts;
    reply?.close();
    followed?.close();
    permit.abandon();
    found.state.limiter.leave();
  }

  #reportStart(failure: Failure | null): void {
    const { ticker, route, followed, watch, began } = this.#parts;
    const { head, status } = this.heard;
    const headMs = head === null ? null : head - began;
    followed?.begun(failure, status);
    watch?.attempted({ route, ms: ticker.now() - began, failure, status, headMs });
  }
}
