/**
 * Resumable generations: the stream can be continued after the connection breaks, and a repeated request
 * joins it. Loaded on first use.
 */
import type { Key } from "../../accounts/mod.ts";
import { Failure } from "../../exchange/failure.ts";
import type { CallerFormatName } from "../../exchange/format_name.ts";
import { isObject } from "../../exchange/json.ts";
import { labelsOf } from "../../pipeline/admission/labels.ts";
import { PlainResponse } from "../../transport/plain_response.ts";
import { cutShort, type LiveStream, notKept, type Resumption } from "../../resume/mod.ts";
import { StoreUnavailable } from "../../store/mod.ts";
import { canonicalDigest } from "./canonical_json.ts";
import { headersWith } from "../credentials.ts";
import type { RequestContext } from "../endpoint.ts";
import { failureResponse } from "../envelope.ts";
import { followedBody } from "./followed_body.ts";
import { badHeader } from "../header_flags.ts";
import { join } from "./joined.ts";
import { DRAIN_MS } from "../answer_stream.ts";
import { type Delivery, firstStep, respondStream, respondWhole, streamHeaders } from "../respond.ts";

/** How long a stream is stored if its key does not define it, in milliseconds. */
const USUAL_MS = 300_000;
const LONGEST_CLAIM = 255;
/** Attempts to join: the claim may be released between lookup and join. */
const ATTEMPTS = 4;

type Asking = Parameters<Resumption["claim"]>[0];

export interface AskedToKeep {
  key: Key;
  formatName: CallerFormatName;
  body: unknown;
  /** Runs work on the whole body in slices. */
  run<T>(work: Generator<void, T>): T | Promise<T>;
}

export interface KeptDelivery extends Delivery {
  /** Called when a caller reads it again. */
  back(): void;
}

/** How a resumable generation is delivered. */
export interface Keeping {
  /** Whether a follower reads its stream. Null: only the connection can tell, as before the answer has started. */
  followed(): boolean | null;
  /** Repeated requests can join it. */
  joinable: boolean;
  respond(delivery: KeptDelivery): Promise<Response>;
  /** Called when it is refused before its answer starts. */
  refused(failure: Failure): Promise<void>;
}

/** Null: nothing is stored. A response: the request joins another generation. Throws `validation_error`. */
export async function keeping(
  context: RequestContext,
  asked: AskedToKeep,
): Promise<Keeping | Response | null> {
  const { request, id, state } = context;
  const { key, formatName, body } = asked;
  const header = request.headers.get("x-svc-resume");
  const asks = header === "true";
  const keepMs = keepMsOf(key, header);
  // Not for turns on a WebSocket: they have the handshake's headers, so an idempotency key would not identify
  // one request.
  if (keepMs === null || request.parsed !== undefined) return null;
  const text = request.headers.get("idempotency-key");
  if (text !== null) refuseClaim(text);
  const streamed = isObject(body) && body.stream === true;
  // Storage is disabled by the operator, whatever is requested.
  if (keepMs === 0) return streamed && asks ? UNKEPT : null;
  const session = text === null ? sessionThatJoins(request, body) : null;
  if (text === null && session === null && !streamed) return null;
  const resumption = await state.resumption();
  const asking = { id, keyId: key.id, format: formatName, streamed, keepMs };
  if (text === null && session === null) return unclaimed(context, resumption, asking);
  const whole = await asked.run(requestDigest(context, body));
  if (text === null) {
    return await joinInSession(context, { resumption, asking, key, session: session!, whole });
  }
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const claim = await resumption.claim(asking, { text, request: whole }).catch(noClaim);
    if ("live" in claim) return new Kept(claim.live, context);
    if (!claim.same) throw otherRequest();
    if (claim.lost) throw notKept();
    const joined = await join(context, { resumption, key, id: claim.joined }).catch(noClaim);
    if (joined !== null) return joined;
  }
  throw noClaim(new StoreUnavailable("A claim changes its owner again and again."));
}

/**
 * The session within which identical requests are treated as repeats: only if the caller asks for it, and the
 * call has a session.
 */
function sessionThatJoins(request: RequestContext["request"], body: unknown): string | null {
  if (request.headers.get("x-svc-join") !== "true") return null;
  return labelsOf((name) => request.headers.get(name), body)?.session ?? null;
}

/** A stream that can be resumed, but is not joined by other requests. */
function unclaimed(context: RequestContext, resumption: Resumption, asking: Asking): Keeping {
  const live = resumption.begin(asking);
  return live === null ? UNKEPT : new Kept(live, context);
}

/** How many failed attempts of a request are looked up. If all have failed, the next one runs and is not joined. */
const MOST_REPEATS = 50;

/**
 * Joins the generation started by an identical request in the same session, unless that has failed. Agents
 * repeat the whole conversation after a broken connection, without an idempotency key.
 */
async function joinInSession(
  context: RequestContext,
  { resumption, asking, key, session, whole }: {
    resumption: Resumption;
    asking: Asking;
    key: Key;
    session: string;
    whole: string;
  },
): Promise<Keeping | Response | null> {
  let repeat = 0;
  for (let attempts = 0; attempts < ATTEMPTS;) {
    if (repeat === MOST_REPEATS) return asking.streamed ? unclaimed(context, resumption, asking) : null;
    // Header values cannot contain a line break, so this cannot collide with a caller's key.
    const text = `session\n${session}\n${whole}\n${repeat}`;
    const claim = await resumption.claim(asking, { text, request: whole }).catch(noClaim);
    if ("live" in claim) return new Kept(claim.live, context);
    if (claim.lost || await hasFailed(context, { resumption, key, id: claim.joined }).catch(noClaim)) {
      repeat++;
      continue;
    }
    const joined = await join(context, { resumption, key, id: claim.joined }).catch(noClaim);
    if (joined !== null) return joined;
    attempts++;
  }
  throw noClaim(new StoreUnavailable("A claim changes its owner again and again."));
}

/** Whether a generation has failed. It has no record if nothing was used. */
async function hasFailed(
  { state }: RequestContext,
  { resumption, key, id }: { resumption: Resumption; key: Key; id: string },
): Promise<boolean> {
  const found = await resumption.find(id, key.id);
  if (found === null || found.goesOn) return false;
  const { status } = await state.administration.generation(id, { owner: key }).catch((thrown) => {
    if (!(thrown instanceof Failure) || thrown.code !== "not_found") throw thrown;
    return { status: "failed" };
  });
  return status === "failed" || status === "interrupted";
}

function keepMsOf(key: Key, asked: string | null): number | null {
  if (asked === "false") return null;
  return key.resumeMs ?? (asked === null ? null : USUAL_MS);
}

function refuseClaim(text: string): void {
  if (text.length >= 1 && text.length <= LONGEST_CLAIM) return;
  throw badHeader("Idempotency-Key", `expected 1 to ${LONGEST_CLAIM} characters, got ${text.length}`);
}

function otherRequest(): Failure {
  const name = "Idempotency-Key";
  const message = `Cannot join: the ${name} belongs to another request. Send this one with a key of its own.`;
  return new Failure("validation_error", message, {
    param: name,
    errors: [{ type: "value_error", loc: ["header", name], msg: message }],
  });
}

/** Without the store it is unknown whether the request has run; running it again might bill it twice. */
function noClaim(thrown: unknown): never {
  if (!(thrown instanceof StoreUnavailable)) throw thrown;
  throw new Failure(
    "service_unavailable",
    "The database is unavailable, so it is not known whether a request with this Idempotency-Key has run; try again soon.",
    { cause: thrown },
  );
}

/** A hash of everything the answer depends on, equal for equivalent requests. */
function requestDigest({ request, path }: RequestContext, body: unknown): Generator<void, string> {
  const headers = Object.entries(headersWith(request, "anthropic-")).sort(([a], [b]) => a < b ? -1 : 1);
  const [repair, hold] = ["x-svc-repair", "x-svc-hold"].map((name) => request.headers.get(name) === "true");
  return canonicalDigest([path, headers, repair, hold, body]);
}

/** The stream is not stored, and its response headers say that it cannot be resumed. */
const UNKEPT: Keeping = {
  followed: () => null,
  joinable: false,
  respond: (delivery) => {
    const respond = delivery.context.prompt.stream ? respondStream : respondWhole;
    return respond({
      ...delivery,
      headers: () => ({ ...delivery.headers(), "x-svc-resume": "unavailable" }),
    });
  },
  refused: () => Promise.resolve(),
};

class Kept implements Keeping {
  readonly #live: LiveStream;
  readonly #context: RequestContext;

  constructor(live: LiveStream, context: RequestContext) {
    this.#live = live;
    this.#context = context;
  }

  followed(): boolean | null {
    const { start, head, isFollowed } = this.#live;
    return start.streamed && head !== null ? isFollowed : null;
  }

  get joinable(): boolean {
    return this.#live.start.claim !== null;
  }

  async refused(failure: Failure): Promise<void> {
    const { surface, id, state: { kit } } = this.#context;
    const response = failureResponse(failure, surface, id, kit.now());
    this.#live.refuse({
      status: response.status,
      headers: { ...PlainResponse.fieldsOf(response) },
      body: PlainResponse.textOf(response) ?? "",
    });
    // The claim is released before the failure is sent, so that a repeated request does not find it.
    if (this.#live.start.claim !== null) await this.#live.settled();
  }

  async respond(delivery: KeptDelivery): Promise<Response> {
    const live = this.#live;
    if (!live.start.streamed) {
      let text = "";
      const response = await respondWhole(delivery, (piece) => text += piece);
      const { "content-length": _, ...headers } = PlainResponse.fieldsOf(response)!;
      live.begin({ status: 200, headers });
      live.append(text);
      live.end();
      await live.settled();
      return response;
    }
    const step = await firstStep(delivery);
    const headers = { ...streamHeaders(delivery), "x-svc-resume": String(live.start.keepMs / 1000) };
    live.begin({ status: 200, headers });
    const follower = live.follow(0);
    void produce(delivery, live, step);
    // Stored before the head is sent, since a client may resume with its id at once.
    await live.findable();
    if (live.isLost) headers["x-svc-resume"] = "unavailable";
    const body = followedBody(follower, {
      keepAliveMs: delivery.keepAliveMs,
      ticker: delivery.ticker,
      broken: (failure) =>
        delivery.format.encodeBreak(failure, { id: delivery.context.id, sequence: live.events }),
    });
    return new PlainResponse(body, { headers });
  }
}

/**
 * How long after a disconnect, in milliseconds, the client may reconnect before the call can be ended in
 * favour of others. Clients wait some seconds between attempts, and a reader on another node is noticed up to
 * three seconds later.
 */
const COMING_BACK_MS = 15_000;

/**
 * Reads the run into the stored stream, whether or not it has followers. Without followers it continues as
 * long as any abandoned call.
 */
async function produce(
  delivery: KeptDelivery,
  live: LiveStream,
  { first, begun }: Awaited<ReturnType<typeof firstStep>>,
): Promise<void> {
  const { format, parts, ticker, keepAliveMs } = delivery;
  const frames = format.encodeStream(delivery.context);
  let patient = true;
  const bound = ticker.deadline(() => patient = false);
  const away = ticker.deadline(() => delivery.left(() => patient = false));
  live.onFollowed = (isFollowed) => {
    if (isFollowed) {
      bound.disarm();
      away.disarm();
      delivery.back();
    } else {
      bound.arm(DRAIN_MS);
      away.arm(COMING_BACK_MS);
    }
  };
  const silence = ticker.deadline(() => {
    // Comments are not events; followers send their own keep-alives.
    if (!format.keepAlive.startsWith(":")) live.append(format.keepAlive);
    silence.arm(keepAliveMs);
  });
  try {
    if (begun === null && !format.keepAlive.startsWith(":")) live.append(format.keepAlive);
    let next: typeof first | undefined = first;
    for (;;) {
      silence.arm(keepAliveMs);
      const { value, done } = await (next ?? parts.next());
      next = undefined;
      silence.disarm();
      if (!patient) {
        await parts.return(undefined).catch(() => {});
        live.append(frames.fail(cutShort()));
        break;
      }
      live.append(done ? frames.end() : frames.encode(value));
      if (done) break;
      await live.room();
    }
  } catch (thrown) {
    live.append(frames.fail(Failure.from(thrown)));
  } finally {
    live.end();
    silence.close();
    bound.close();
    away.close();
    delivery.over();
  }
}
