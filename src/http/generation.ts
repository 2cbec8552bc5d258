/** Handles a request for a generation: overload check, counting, run, response. */
import { STATUS_CODE } from "@std/http/status.js";
import type { Key } from "../accounts/mod.ts";
import { Failure } from "../exchange/failure.ts";
import type { CallerFormatName } from "../exchange/format_name.ts";
import { copied } from "../exchange/json.ts";
import type { CallerFormat } from "../formats/format.ts";
import { answerName } from "../pipeline/answer_name.ts";
import { type Arrival, type Call, cutOff } from "../pipeline/call.ts";
import { isScreened } from "../pipeline/guard.ts";
import { tellRefused } from "../pipeline/refused.ts";
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
import { bodyBytes, counter, isFull, OVERLOADED, own } from "./gate.ts";
import { withLength } from "./held_stream.ts";
import type { Place } from "./in_flight.ts";
import { isHttps } from "./proxies.ts";
import { rateHeaders } from "./rate_headers.ts";
import type { Keeping, KeptDelivery } from "./resumable.ts";
import { respondStream, respondWhole } from "./respond.ts";

/** A caller hardly ever leaves earlier. Watching a connection costs more than a quick answer is worth. */
const WATCH_AFTER_MS = 30;
/** How many copies of a body are in memory (text, JSON, prompt, the provider's request) until its request is sent. */
const COPIES_OF_A_BODY = 4;

/** Streams that begin, of this process. */
const beginning = new Groups();

/** @param compaction makes the body of a compaction's request; absent: it is no compaction */
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
  const enter = ({ id }: Key) => state.inFlight.admits(id, state.maxInFlight) && state.shedder.enter(id);
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

/** A call whose key and admission are known, or on their way. */
interface Admission {
  formatName: CallerFormatName;
  bytes: number;
  key: Key | Promise<Key>;
  admitted: true | Promise<boolean>;
  compaction: ((body: unknown, key: Key) => unknown) | undefined;
  header(name: string): string | null;
  steps: Steps;
}

/** One generation, from its admission to the end of its answer. */
class Generation {
  readonly #context: RequestContext;
  readonly #admission: Admission;
  readonly #created: number;
  readonly #place: Place;
  readonly #deadline: Deadline;
  /** What tells that the caller has left. Undefined: nobody has looked yet. */
  #connection: AbortSignal | undefined;
  #left = false;
  /** Null: it is not known yet. */
  #asker: Key | null = null;
  /** The body as it came. */
  #sent: unknown;
  #arrival: Arrival | null = null;
  #keeping: Keeping | null = null;
  /** Null: the answer has not begun. */
  #call: Call | null = null;
  /** The head of a good answer is on its way. */
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
      const opening = surface.format.open();
      const format = opening instanceof Promise ? await opening : opening;
      steps.followed?.of(caller);
      const asked = Date.now();
      const reading = this.#read(caller);
      this.#sent = reading instanceof Promise ? await reading : reading;
      // Of an answer that is wanted whole nothing is passed on before its end, and many side by side cost a third less.
      const streamed = (this.#sent as { stream?: unknown } | null)?.stream === true;
      const turn = streamed ? beginning.enter(caller.id) : null;
      if (turn !== null) await this.#waitForTurn(turn);
      // While the body came in, the key may have been changed, or its secret have ended. Most bodies are there with the head.
      const known = Date.now() === asked ? caller : authenticate(context);
      const key = known instanceof Promise ? await known : known;
      // A mask is written into the body, and a connection keeps what was said on it as it was said.
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
      // It was screened, or waited for money, and no provider has been asked yet.
      if (!arrival.joinable && arrival.gone()) {
        await call.reservation.release();
        throw CALLER_LEFT;
      }
      this.#call = place.call = call;
      // The prompt has all of it, and a stream may last for an hour.
      arrival.body = this.#sent = undefined;
      const respond = call.prompt.stream ? respondStream : respondWhole;
      const held = heldFormat(format, { streamed: call.prompt.stream, header });
      const delivery = this.#delivery(call, parts, { format, held });
      const response = await (kept === null ? respond(delivery) : kept.respond(delivery));
      // The request has been sent: of all its copies only the prompt is left.
      place.hold(Math.floor(place.bytes / COPIES_OF_A_BODY));
      return held === null ? response : await withLength(response);
    } catch (thrown) {
      const failure = Failure.from(thrown).with(this.#call?.headers ?? {});
      this.#tellRefused(thrown, failure);
      steps.followed?.refused(failure);
      await this.#keeping?.refused(failure);
      throw failure;
    } finally {
      // Else the answer is over once its caller has it.
      if (this.#call === null) this.#over();
    }
  }

  /** Others came before. */
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
      gone: () => !(kept?.followed() ?? !(this.#left || this.#connection?.aborted === true)),
      joinable: kept?.joinable,
      steps,
    };
  }

  /** @param held the format where the caller wants the stream all at once; null: it does not */
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
        // Bun asks again by itself where a connection that it used before breaks, and puts the new answer behind half of the old.
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

  /** Under overload nothing is left to spend on counting, and a call whose caller left was not refused. */
  #tellRefused(thrown: unknown, { code }: Failure): void {
    const key = this.#asker;
    const arrival = this.#arrival;
    if (key === null || arrival?.admitted || thrown === OVERLOADED || thrown === CALLER_LEFT) return;
    const { id, state } = this.#context;
    const { formatName: format, header } = this.#admission;
    const passed = arrival?.passed === true;
    const body = passed ? arrival?.body : this.#sent;
    tellRefused({ id, created: this.#created, key, format, body, passed, header }, code, state.kit);
  }

  #over(): void {
    this.#deadline.close();
    this.#call?.held?.close();
    this.#place.leave();
    this.#admission.steps.followed?.close(this.#answered ? STATUS_CODE.OK : null);
  }
}

/** Waits for a call's turn to begin. Throws {@link CALLER_LEFT} where its caller leaves meanwhile: no provider is asked for nobody. */
async function whileThere<T>({ signal }: IncomingRequest, turn: Promise<T>): Promise<T> {
  // Read before the wait: the signal of a request of `Deno.serve` does not tell of a caller who left before it was read (Deno 2.9.6).
  const value = await turn;
  if (signal.aborted) throw CALLER_LEFT;
  return value;
}

/** The format as it writes a stream all at once; null: the caller does not want it, or the format cannot. */
function heldFormat(
  format: CallerFormat,
  { streamed, header }: { streamed: boolean; header(name: string): string | null },
): CallerFormat | null {
  const { encodeHeld } = format;
  if (!streamed || encodeHeld === undefined || header("x-svc-hold") !== "true") return null;
  return { ...format, encodeStream: encodeHeld };
}

/** What is kept of a generation that asks for it; a response, where it joins another. */
async function keep(
  context: RequestContext,
  { key, formatName, body, place }: { key: Key; formatName: CallerFormatName; body: unknown; place: Place },
): Promise<Keeping | Response | null> {
  // Few calls ask.
  const { keeping } = await import("./resumable.ts");
  const { slices } = context.state.kit;
  const run = <T>(work: Generator<void, T>): T | Promise<T> =>
    place.bytes > LARGE ? slices.run(key.id, work, "convert") : atOnce(work);
  return await keeping(context, { key, formatName, body, run });
}
