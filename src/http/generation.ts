/** A generation's way through this process: refused under overload, counted while it runs, run, answered. */
import { STATUS_CODE } from "@std/http/status.js";
import type { Key } from "../accounts/mod.ts";
import { Failure } from "../exchange/failure.ts";
import type { CallerFormatName } from "../exchange/format_name.ts";
import { copied } from "../exchange/json.ts";
import type { CallerFormat } from "../formats/format.ts";
import { answerName } from "../pipeline/answer_name.ts";
import { type Arrival, cutOff } from "../pipeline/call.ts";
import { isScreened } from "../pipeline/guard.ts";
import { tellRefused } from "../pipeline/refused.ts";
import { run } from "../pipeline/run.ts";
import { Steps } from "../pipeline/steps.ts";
import type { FollowedCall } from "../pipeline/telemetry.ts";
import { CALLER_LEFT } from "../providers/refusals.ts";
import { Groups } from "../timing/groups.ts";
import { atOnce, LARGE } from "../timing/slices.ts";
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
  const steps = new Steps(state.kit.now, header, followed);
  return generate(context, { formatName, bytes, key, admitted, compaction, header, steps });
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

async function generate(
  context: RequestContext,
  { formatName, bytes, key: pendingKey, admitted, compaction, header, steps }: Admission,
): Promise<Response> {
  const { request, id, surface, state } = context;
  const { kit, inFlight } = state;
  const place = inFlight.enter(0);
  let left = false;
  let handedOver = false;
  let headers: Record<string, string> = {};
  let keeping: Keeping | null = null;
  let connection: AbortSignal | undefined;
  const { followed } = steps;
  const created = kit.now();
  let asker: Key | null = null;
  let sent: unknown;
  let arrival: Arrival | null = null;
  /** The head of a good answer is on its way. */
  let answered = false;
  const deadline = kit.ticker.deadline(() => connection = request.signal);
  deadline.arm(WATCH_AFTER_MS);
  let release = () => {};
  const over = () => {
    deadline.close();
    release();
    place.leave();
    followed?.close(answered ? STATUS_CODE.OK : null);
  };
  try {
    if (admitted !== true) {
      const began = kit.now();
      if (!await whileThere(request, admitted)) throw OVERLOADED;
      steps.waited("queue", kit.now() - began);
    }
    const caller = asker = pendingKey instanceof Promise ? await pendingKey : pendingKey;
    own(place, caller, bytes, state);
    const opening = surface.format.open();
    const format = opening instanceof Promise ? await opening : opening;
    followed?.of(caller);
    const asked = Date.now();
    const reading = readJson(request, state.maxBodyBytes, {
      run: (work) => kit.slices.run(caller.id, work, "parse"),
      ticker: kit.ticker,
      count: counter(state, place),
    });
    sent = reading instanceof Promise ? await reading : reading;
    // Of an answer that is wanted whole nothing is passed on before its end, and many side by side cost a third less.
    const turn = (sent as { stream?: unknown } | null)?.stream === true ? beginning.enter(caller.id) : null;
    if (turn !== null) {
      const began = kit.now();
      await whileThere(request, turn);
      steps.waited("turn", kit.now() - began);
    }
    // While the body came in, the key may have been changed, or its secret have ended. Most bodies are there with the head.
    const known = Date.now() === asked ? caller : authenticate(context);
    const key = known instanceof Promise ? await known : known;
    // A mask is written into the body, and a connection keeps what was said on it as it was said.
    if (request.parsed !== undefined && isScreened(key, sent)) sent = copied(sent);
    const body = compaction === undefined ? sent : compaction(sent, key);
    const kept = key.resumeMs !== null || request.headers.get("x-svc-resume") !== null
      ? await keep(context, { key, formatName, body, place })
      : null;
    if (kept instanceof Response) {
      answered = true;
      return heldFormat(format, { streamed: true, header }) === null ? kept : await withLength(kept);
    }
    keeping = kept;
    const arriving: Arrival = arrival = {
      id,
      format,
      formatName,
      key,
      body,
      compacts: compaction !== undefined,
      large: place.bytes > LARGE,
      headers: (prefix) => headersWith(request, prefix),
      header,
      gone: () => !(kept?.followed() ?? !(left || connection?.aborted === true)),
      joinable: kept?.joinable,
      steps,
    };
    const { call, parts } = await run(arriving, kit);
    // It was screened, or waited for money, and no provider has been asked yet.
    if (!arriving.joinable && arriving.gone()) {
      await call.reservation.release();
      throw CALLER_LEFT;
    }
    handedOver = true;
    release = () => call.held?.close();
    headers = call.headers;
    place.call = call;
    // The prompt has all of it, and a stream may last for an hour.
    arriving.body = sent = undefined;
    const rates = rateHeaders(call.reservation.rates, formatName === "messages", call.created);
    const respond = call.prompt.stream ? respondStream : respondWhole;
    const held = heldFormat(format, { streamed: call.prompt.stream, header });
    const delivery: KeptDelivery = {
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
      headers() {
        answered = true;
        const fields: Record<string, string> = rates;
        for (const name in call.headers) fields[name] = call.headers[name];
        fields["x-request-id"] = fields["request-id"] = id;
        // Bun asks again by itself where a connection that it used before breaks, and puts the new answer behind half of the old.
        if (held !== null) fields.connection = "close";
        return fields;
      },
      large: () => call.large ? (work) => kit.slices.run(key.id, work, "convert") : null,
      keepAliveMs: state.keepAliveMs,
      ticker: kit.ticker,
      left(end) {
        left = true;
        place.abandon(() => {
          end();
          return cutOff(call);
        });
      },
      back() {
        left = false;
        place.reclaim();
      },
      over,
    };
    const response = await (kept === null ? respond(delivery) : kept.respond(delivery));
    // The request has been sent: of all its copies only the prompt is left.
    place.hold(Math.floor(place.bytes / COPIES_OF_A_BODY));
    return held === null ? response : await withLength(response);
  } catch (thrown) {
    const failure = Failure.from(thrown).with(headers);
    // Under overload nothing is left to spend on counting, and a call whose caller left was not refused.
    if (asker !== null && !arrival?.admitted && thrown !== OVERLOADED && thrown !== CALLER_LEFT) {
      const passed = arrival?.passed === true;
      const body = passed ? arrival?.body : sent;
      tellRefused({ id, created, key: asker, format: formatName, body, passed, header }, failure.code, kit);
    }
    followed?.refused(failure);
    await keeping?.refused(failure);
    throw failure;
  } finally {
    if (!handedOver) over();
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
