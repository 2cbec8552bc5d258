/** Admission control for requests that need processing: refuses them under overload, and counts the bytes of their bodies. */
import type { Key } from "../accounts/mod.ts";
import { Failure } from "../exchange/failure.ts";
import { LARGE, type Step } from "../timing/slices.ts";
import { readJson } from "./body.ts";
import type { IncomingRequest, RequestContext, ServerState } from "./endpoint.ts";
import type { Place } from "./in_flight.ts";

/**
 * Event loop delay, in milliseconds, above which new calls are refused. A refused call can be retried
 * quickly; an admitted one would be slow, and would slow all others. A busy neighbour on the same machine
 * causes less than this, and is no reason to refuse.
 */
const MOST_LAG_MS = 500;
/** The size assumed for a body of unknown length, until more has been received. */
const UNKNOWN_BODY_BYTES = 64 * 1024;

/** Created once, to keep refusals cheap under overload. */
export const OVERLOADED = new Failure(
  "service_unavailable",
  "The service takes no more calls just now; try again soon.",
);

/**
 * Whether there is no capacity for another call.
 *
 * @param bytes size of its body, as far as known
 */
export function isFull(
  { ready, inFlight, maxInFlight, maxInFlightBytes, kit }: ServerState,
  bytes: number,
): boolean {
  return !ready() || inFlight.isFull(maxInFlight) || kit.ticker.lag > MOST_LAG_MS ||
    // A single call is admitted whatever its size.
    (inFlight.count > 0 && inFlight.bytes + bytes > maxInFlightBytes);
}

/** Whether a call of this key leaves enough capacity for other keys. */
export function admits(key: string, { inFlight, maxInFlight, kit: { accounts } }: ServerState): boolean {
  return inFlight.admits(key, { most: maxInFlight, alone: !accounts.hasSeveralKeys() });
}

/**
 * The expected body size: `content-length`, or a minimum if it is unknown or the body is compressed.
 *
 * @param most a body that announces more is refused
 */
export function bodyBytes({ headers }: IncomingRequest, most: number): number {
  const length = headers.get("content-length");
  // Not `has()`, which copies all headers into a list.
  if (length === null || headers.get("content-encoding") !== null) return UNKNOWN_BODY_BYTES;
  return Math.min(Number(length) || 0, most);
}

/**
 * Assigns the call to its key, and counts its bytes from here on: not earlier, because it may have waited in
 * a queue. Throws {@link OVERLOADED} if the key or the process has too many.
 */
export function own(
  place: Place,
  { id }: Key,
  bytes: number,
  { inFlight, maxInFlightBytes }: ServerState,
): void {
  place.own(id);
  const isOver = inFlight.count > 1 && inFlight.bytes + bytes > maxInFlightBytes;
  if (isOver || !place.fits(bytes, maxInFlightBytes)) throw OVERLOADED;
  place.hold(bytes);
}

/**
 * Counts the received bytes of a body, decompressed, against the limit for all calls. Throws {@link
 * OVERLOADED} if it is exceeded.
 */
export function counter({ inFlight, maxInFlightBytes }: ServerState, place: Place): (bytes: number) => void {
  return (bytes) => {
    if (bytes <= place.bytes) return;
    const isOver = inFlight.count > 1 && inFlight.bytes - place.bytes + bytes > maxInFlightBytes;
    if (isOver || !place.mayGrow(bytes, maxInFlightBytes)) throw OVERLOADED;
    place.hold(bytes);
  };
}

/**
 * Reads the body of a call that is not a generation, under the same limits. The callback receives a function
 * that runs work on the whole body in slices, so that a large body does not block other calls.
 */
export async function withBody<T>(
  { request, state }: RequestContext,
  key: Key,
  use: (body: unknown, step: Step) => Promise<T>,
): Promise<T> {
  const bytes = bodyBytes(request, state.maxBodyBytes);
  if (isFull(state, bytes) || !admits(key.id, state)) throw OVERLOADED;
  const place = state.inFlight.enter(0);
  try {
    own(place, key, bytes, state);
    const { ticker, slices } = state.kit;
    const body = await readJson(request, state.maxBodyBytes, {
      ticker,
      count: counter(state, place),
      run: (work) => slices.run(key.id, work, "parse"),
    });
    const step: Step = place.bytes > LARGE
      ? (work) => slices.step(key.id, "convert", work)
      : (work) => work();
    return await use(body, step);
  } finally {
    place.leave();
  }
}
