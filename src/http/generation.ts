/** Handles a request for a generation: overload check, accounting of places, run, response. */
import { STATUS_CODE } from "@std/http/status.js";
import type { Key } from "../accounts/mod.ts";
import { Failure } from "../exchange/failure.ts";
import type { CallerFormatName } from "../exchange/format_name.ts";
import { copied } from "../exchange/json.ts";
import type { CallerFormat } from "../formats/format.ts";
import { answerName } from "../pipeline/answer_name.ts";
import { type Arrival, type Call, cutOff } from "../pipeline/call.ts";
import { isScreened } from "../pipeline/guard.ts";
import { reportRefused } from "../pipeline/refused.ts";
import { run } from "../pipeline/run.ts";
import { Steps } from "../pipeline/steps.ts";
import type { FollowedCall } from "../pipeline/telemetry.ts";
import { CALLER_LEFT } from "../providers/refusals.ts";
import { Groups } from "../timing/groups.ts";
import { atOnce, LARGE } from "../timing/slices.ts";
import type { Deadline } from "../timing/ticker.ts";
import { readJson } from "./body.ts";
import { authenticate, headersWith } from "./credentials.ts";
import type { IncomingRequest, RequestContext } from "./endpoint.ts";
import { failureResponse } from "./envelope.ts";
import { admits, bodyBytes, counter, isFull, OVERLOADED, own } from "./gate.ts";
import { refuseBadFlags } from "./header_flags.ts";
import { withLength } from "./held_stream.ts";
import type { Place } from "./in_flight.ts";
import { isHttps } from "./proxies.ts";
import { rateHeaders } from "./rate_headers.ts";
import type { Keeping, KeptDelivery } from "./resume/resumable.ts";
import { respondStream, respondWhole } from "./respond.ts";

/**
 * Delay before the connection is watched for a disconnect, in milliseconds. Callers rarely leave earlier, and
 * watching costs more than it saves for a quick answer.
 */
const WATCH_AFTER_MS = 30;
/**
 * Number of copies of a body in memory (text, JSON, prompt, provider request) until the provider request is
 * sent.
 */
const COPIES_OF_A_BODY = 4;

/** Admits starting streams in groups, for all calls of this process. */
const beginning = new Groups();

/** @param compaction builds the body of a compaction request; absent: not a compaction */
export function generation(
  context: RequestContext,
  formatName: CallerFormatName,
  compaction?: (body: unknown, key: Key) => unknown,
): Response | Promise<Response> {
  const { request, state } = context;
  const { telemetry } = state.kit;
  const header = (name: string) => request.headers.get(name);
  const followed = telemetry === null
    ? null
    : telemetry.follow({ id: context.id, route: context.path, scheme: schemeOf(context), header });
  const bytes = bodyBytes(request, state.maxBodyBytes);
  if (isFull(state, bytes)) return refuse(context, followed);
  const key = authenticated(context, followed);
  const enter = ({ id }: Key) => admits(id, state) && state.shedder.enter(id);
  const admitted = key instanceof Promise ? key.then(enter) : enter(key);
  if (admitted === false) return refuse(context, followed);
  const steps = new Steps(state.kit.ticker, header, followed);
  const admission = { formatName, bytes, key, admitted, compaction, header, steps };
  return new Generation(context, admission).answer();
}

function schemeOf({ request, connection, state }: RequestContext): "http" | "https" {
  return isHttps(request, connection, state) ? "https" : "http";
}

function authenticated(context: RequestContext, followed: FollowedCall | null): Key | Promise<Key> {
  try {
    return authenticate(context);
  } catch (thrown) {
    followed?.refused(Failure.from(thrown));
    followed?.close(null);
    throw thrown;
  }
}

function refuse({ surface, id, state }: RequestContext, followed: FollowedCall | null): Response {
  followed?.refused(OVERLOADED);
  followed?.close(null);
  return failureResponse(OVERLOADED, surface, id, state.kit.now());
}

/** A call whose key and admission are known, or pending. */
interface Admission {
  formatName: CallerFormatName;
  bytes: number;
  key: Key | Promise<Key>;
  admitted: true | Promise<boolean>;
  compaction: ((body: unknown, key: Key) => unknown) | undefined;
  header(name: string): string | null;
  steps: Steps;
}

/** One generation, from admission to the end of its answer. */
class Generation {
  readonly #context: RequestContext;
  readonly #admission: Admission;
  readonly #created: number;
  readonly #place: Place;
  readonly #deadline: Deadline;
  /** Aborts when the caller disconnects. Undefined: not read yet. */
  #connection: AbortSignal | undefined;
  #left = false;
  /** Null: not known yet. */
  #asker: Key | null = null;
  /** The body as received. */
  #sent: unknown;
  #arrival: Arrival | null = null;
  #keeping: Keeping | null = null;
  /** Null: the answer has not started. */
  #call: Call | null = null;
  /** The head of a successful answer is being sent. */
  #answered = false;

  constructor(context: RequestContext, admission: Admission) {
    const { kit, inFlight } = context.state;
    this.#context = context;
    this.#admission = admission;
    this.#place = inFlight.enter(0);
    this.#created = kit.now();
    this.#deadline = kit.ticker.deadline(() => this.#connection = context.request.signal);
    this.#deadline.arm(WATCH_AFTER_MS);
  }

  async answer(): Promise<Response> {
    const context = this.#context;
    const { request, surface, state: { kit } } = context;
    const { admitted, key: pendingKey, compaction, formatName, header, steps } = this.#admission;
    const place = this.#place;
    try {
      if (admitted !== true) await this.#waitInLine(admitted);
      const caller = this.#asker = pendingKey instanceof Promise ? await pendingKey : pendingKey;
      own(place, caller, this.#admission.bytes, context.state);
      refuseBadFlags(header);
      const opening = surface.format.open();
      const usual = opening instanceof Promise ? await opening : opening;
      steps.followed?.of(caller);
      const asked = Date.now();
      const reading = this.#read(caller);
      this.#sent = reading instanceof Promise ? await reading : reading;
      const other = surface.format.forBody?.(this.#sent);
      const format = other === undefined ? usual : await other.open();
      // Only streams are admitted in groups: a non-streaming answer sends nothing before its end, and running
      // many of them concurrently costs a third less.
      const streamed = (this.#sent as { stream?: unknown } | null)?.stream === true;
      const turn = streamed ? beginning.enter(caller.id) : null;
      if (turn !== null) await this.#waitForTurn(turn);
      // The key may have been changed or its secret have expired while the body was received. Most bodies
      // arrive with the head.
      const known = Date.now() === asked ? caller : authenticate(context);
      const key = known instanceof Promise ? await known : known;
      // DLP masking changes the body in place, but a WebSocket connection keeps the original items.
      if (request.parsed !== undefined && isScreened(key, this.#sent)) this.#sent = copied(this.#sent);
      const body = compaction === undefined ? this.#sent : compaction(this.#sent, key);
      const kept = key.resumeMs !== null || request.headers.get("x-svc-resume") !== null
        ? await keep(context, { key, formatName, body, place })
        : null;
      if (kept instanceof Response) {
        this.#answered = true;
        return heldFormat(format, { streamed: true, header }) === null ? kept : await withLength(kept);
      }
      this.#keeping = kept;
      const arrival = this.#arrival = this.#arriving(key, format, body);
      const { call, parts } = await run(arrival, kit);
      // The caller disconnected while the request was screened, or waited for budget; no provider request has
      // been sent.
      if (!arrival.joinable && arrival.disconnected()) {
        await call.reservation.release();
        throw CALLER_LEFT;
      }
      this.#call = place.call = call;
      // Released, since the prompt contains everything and a stream may last for an hour.
      arrival.body = this.#sent = undefined;
      const respond = call.prompt.stream ? respondStream : respondWhole;
      const held = heldFormat(format, { streamed: call.prompt.stream, header });
      const delivery = this.#delivery(call, parts, { format, held });
      const response = await (kept === null ? respond(delivery) : kept.respond(delivery));
      // The provider request was sent: only the prompt remains of all copies.
      place.hold(Math.floor(place.bytes / COPIES_OF_A_BODY));
      return held === null ? response : await withLength(response);
    } catch (thrown) {
      const failure = Failure.from(thrown).with(this.#call?.headers ?? {});
      this.#reportRefused(thrown, failure);
      steps.followed?.refused(failure);
      await this.#keeping?.refused(failure);
      throw failure;
    } finally {
      // Otherwise the call is over when its answer has been delivered.
      if (this.#call === null) this.#over();
    }
  }

  /** Other calls are ahead in the queue. */
  async #waitInLine(admitted: Promise<boolean>): Promise<void> {
    const { kit } = this.#context.state;
    const began = kit.ticker.now();
    if (!await whileThere(this.#context.request, admitted)) throw OVERLOADED;
    this.#admission.steps.waited("queue", kit.ticker.now() - began);
  }

  async #waitForTurn(turn: Promise<void>): Promise<void> {
    const { kit } = this.#context.state;
    const began = kit.ticker.now();
    await whileThere(this.#context.request, turn);
    this.#admission.steps.waited("turn", kit.ticker.now() - began);
  }

  #read(caller: Key): unknown {
    const { request, state } = this.#context;
    return readJson(request, state.maxBodyBytes, {
      run: (work) => state.kit.slices.run(caller.id, work, "parse"),
      ticker: state.kit.ticker,
      count: counter(state, this.#place),
    });
  }

  #arriving(key: Key, format: CallerFormat, body: unknown): Arrival {
    const { request, id } = this.#context;
    const { formatName, compaction, header, steps } = this.#admission;
    const kept = this.#keeping;
    return {
      id,
      format,
      formatName,
      key,
      body,
      compacts: compaction !== undefined,
      large: this.#place.bytes > LARGE,
      headers: (prefix) => headersWith(request, prefix),
      header,
      disconnected: () => !(kept?.followed() ?? !(this.#left || this.#connection?.aborted === true)),
      joinable: kept?.joinable,
      steps,
    };
  }

  /** @param held the format, if the caller wants the stream as a single event; null: normal streaming */
  #delivery(
    call: Call,
    parts: KeptDelivery["parts"],
    { format, held }: { format: CallerFormat; held: CallerFormat | null },
  ): KeptDelivery {
    const { id, state: { kit, keepAliveMs } } = this.#context;
    const { key } = call.arrival;
    const place = this.#place;
    const rates = rateHeaders(
      call.reservation.rates,
      this.#admission.formatName === "messages",
      call.created,
    );
    return {
      format: held ?? format,
      parts,
      context: {
        id,
        created: Math.floor(call.created / 1000),
        now: () => Math.floor(kit.now() / 1000),
        model: () => answerName(call),
        prompt: call.prompt,
        seal: kit.sealer.of(key.account).seal,
        dlp: call.screened?.report ?? undefined,
      },
      headers: () => {
        this.#answered = true;
        const fields: Record<string, string> = rates;
        for (const name in call.headers) fields[name] = call.headers[name];
        fields["x-request-id"] = fields["request-id"] = id;
        // Bun retries a request itself if a reused connection breaks, and appends the new answer to the first
        // half of the old one.
        if (held !== null) fields.connection = "close";
        return fields;
      },
      large: () => call.large ? (work) => kit.slices.run(key.id, work, "convert") : null,
      keepAliveMs,
      ticker: kit.ticker,
      left: (end) => {
        this.#left = true;
        place.abandon(() => {
          end();
          return cutOff(call);
        });
      },
      back: () => {
        this.#left = false;
        place.reclaim();
      },
      over: () => this.#over(),
    };
  }

  /**
   * Not counted under overload, to keep refusals cheap, nor if the caller disconnected, since that is not a
   * refusal.
   */
  #reportRefused(thrown: unknown, { code }: Failure): void {
    const key = this.#asker;
    const arrival = this.#arrival;
    if (key === null || arrival?.admitted || thrown === OVERLOADED || thrown === CALLER_LEFT) return;
    const { id, state } = this.#context;
    const { formatName: format, header } = this.#admission;
    const passed = arrival?.passed === true;
    const body = passed ? arrival?.body : this.#sent;
    reportRefused({ id, created: this.#created, key, format, body, passed, header }, code, state.kit);
  }

  #over(): void {
    this.#deadline.close();
    this.#call?.memory?.close();
    this.#place.leave();
    this.#admission.steps.followed?.close(this.#answered ? STATUS_CODE.OK : null);
  }
}

/**
 * Waits for the call's turn. Throws {@link CALLER_LEFT} if the caller disconnects meanwhile, so that no
 * provider request is sent.
 */
async function whileThere<T>({ signal }: IncomingRequest, turn: Promise<T>): Promise<T> {
  // Read before the wait: the signal of a `Deno.serve` request does not report a disconnect that happened
  // before it was first read (Deno 2.9.6).
  const value = await turn;
  if (signal.aborted) throw CALLER_LEFT;
  return value;
}

/**
 * The format's encoder for a stream sent as a single event; null: not requested, or not supported by the
 * format.
 */
function heldFormat(
  format: CallerFormat,
  { streamed, header }: { streamed: boolean; header(name: string): string | null },
): CallerFormat | null {
  const { encodeHeld } = format;
  if (!streamed || encodeHeld === undefined || header("x-svc-hold") !== "true") return null;
  return { ...format, encodeStream: encodeHeld };
}

/** Prepares storage for a resumable generation; returns a response if the request joins an existing one. */
async function keep(
  context: RequestContext,
  { key, formatName, body, place }: { key: Key; formatName: CallerFormatName; body: unknown; place: Place },
): Promise<Keeping | Response | null> {
  // Loaded on first use, since few calls need it.
  const { keeping } = await import("./resume/resumable.ts");
  const { slices } = context.state.kit;
  const run = <T>(work: Generator<void, T>): T | Promise<T> =>
    place.bytes > LARGE ? slices.run(key.id, work, "convert") : atOnce(work);
  return await keeping(context, { key, formatName, body, run });
}
