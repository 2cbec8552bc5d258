/** A generation's way through this process: refused under overload, counted while it runs, run, answered. */
import type { Key } from "../accounts/mod.ts";
import { Failure } from "../exchange/failure.ts";
import type { CallerFormatName } from "../exchange/format_name.ts";
import type { Arrival } from "../pipeline/call.ts";
import { run } from "../pipeline/run.ts";
import { readJson } from "./body.ts";
import { authenticate, headersWith } from "./credentials.ts";
import type { IncomingRequest, RequestContext, ServerState } from "./endpoint.ts";
import { failureResponse } from "./envelope.ts";
import { rateHeaders } from "./rate_headers.ts";
import { respondStream, respondWhole } from "./respond.ts";

/**
 * How late everything in this process may be, in milliseconds, before new calls are refused. A refusal is quick; a call
 * that is admitted then would be slow, and would make all others slower. Less than this is what a busy neighbour on the
 * same machine causes, and nobody should be refused for that.
 */
const MOST_LAG_MS = 500;
/** A caller hardly ever leaves earlier. Watching a connection costs more than a quick answer is worth. */
const WATCH_AFTER_MS = 30;
/** The size assumed for a body whose headers do not tell it. */
const UNKNOWN_BODY_BYTES = 1 << 20;
/** How many copies of a body are in memory (text, JSON, prompt, the provider's request) until its request is sent. */
const COPIES_OF_A_BODY = 4;

/** Refused as cheaply as can be, because that is when nothing is left to spend. */
const OVERLOADED = new Failure(
  "service_unavailable",
  "The service takes no more calls just now; try again soon.",
);

export function generation(
  context: RequestContext,
  formatName: CallerFormatName,
): Response | Promise<Response> {
  const { request, state } = context;
  const bytes = bodyBytes(request);
  if (isFull(state, bytes)) return refuse(context);
  const key = authenticate(context);
  const admitted = key instanceof Promise
    ? key.then(({ id }) => state.shedder.enter(id))
    : state.shedder.enter(key.id);
  return admitted === false ? refuse(context) : generate(context, { formatName, bytes, key, admitted });
}

function isFull(
  { ready, inFlight, maxInFlight, maxInFlightBytes, kit }: ServerState,
  bytes: number,
): boolean {
  return !ready() || inFlight.count >= maxInFlight || kit.ticker.lag > MOST_LAG_MS ||
    // One call alone is admitted, whatever its size.
    (inFlight.count > 0 && inFlight.bytes + bytes > maxInFlightBytes);
}

function refuse({ surface, id, state }: RequestContext): Response {
  return failureResponse(OVERLOADED, surface, id, state.kit.now());
}

/** A call whose key and admission are known, or on their way. */
interface Admission {
  formatName: CallerFormatName;
  bytes: number;
  key: Key | Promise<Key>;
  admitted: true | Promise<boolean>;
}

async function generate(
  { request, id, surface, state }: RequestContext,
  { formatName, bytes, key: pendingKey, admitted }: Admission,
): Promise<Response> {
  const { kit, inFlight } = state;
  const { format } = surface;
  inFlight.enter(bytes);
  let held = bytes;
  let left = false;
  let handedOver = false;
  let headers: Record<string, string> = {};
  let connection: AbortSignal | undefined;
  const deadline = kit.ticker.deadline(() => connection = request.signal);
  deadline.arm(WATCH_AFTER_MS);
  const over = () => {
    deadline.close();
    inFlight.leave(held);
    held = 0;
  };
  try {
    if (admitted !== true && !await admitted) throw OVERLOADED;
    const key = pendingKey instanceof Promise ? await pendingKey : pendingKey;
    const body = await readJson(request, state.maxBodyBytes, kit);
    const arrival: Arrival = {
      id,
      format,
      formatName,
      key,
      body,
      headers: (prefix) => headersWith(request, prefix),
      gone: () => left || connection?.aborted === true,
    };
    const { call, parts } = await run(arrival, kit);
    handedOver = true;
    headers = call.headers;
    // The prompt has all of it, and a stream may last for an hour.
    arrival.body = undefined;
    const rates = rateHeaders(call.reservation.rates, formatName === "messages", call.created);
    const respond = call.prompt.stream ? respondStream : respondWhole;
    const response = await respond({
      format,
      parts,
      context: {
        id,
        created: Math.floor(call.created / 1000),
        now: () => Math.floor(kit.now() / 1000),
        model: call.model.id,
        prompt: call.prompt,
        seal: kit.sealer.of(key.account).seal,
        dlp: call.screened?.report ?? undefined,
      },
      headers: () => ({ ...call.headers, ...rates, "x-request-id": id, "request-id": id }),
      keepAliveMs: state.keepAliveMs,
      ticker: kit.ticker,
      left: () => left = true,
      over,
    });
    // The request has been sent: of all its copies only the prompt is left.
    const rest = Math.floor(held / COPIES_OF_A_BODY);
    inFlight.release(held - rest);
    held = rest;
    return response;
  } catch (thrown) {
    throw Failure.from(thrown).with(headers);
  } finally {
    if (!handedOver) over();
  }
}

/** The size that a body will have: as its header says, or a guess where it says nothing or the body is compressed. */
function bodyBytes({ headers }: IncomingRequest): number {
  const length = headers.get("content-length");
  // Not `has()`, which copies all headers into a list.
  if (length === null || headers.get("content-encoding") !== null) return UNKNOWN_BODY_BYTES;
  return Number(length) || 0;
}
