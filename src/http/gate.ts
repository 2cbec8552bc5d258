/** Admission control for requests that need processing: refuses them under overload, and counts the bytes of their bodies. */
import type { Key } from "../accounts/mod.ts";
import { Failure } from "../exchange/failure.ts";
import { LARGE, type Step } from "../timing/slices.ts";
import { readJson } from "./body.ts";
import type { IncomingRequest, RequestContext, ServerState } from "./endpoint.ts";
import type { Place } from "./in_flight.ts";

/**
 * How late everything in this process may be, in milliseconds, before new calls are refused. A refusal is quick; a call
 * that is admitted then would be slow, and would make all others slower. Less than this is what a busy neighbour on the
 * same machine causes, and nobody should be refused for that.
 */
const MOST_LAG_MS = 500;
/** The size that a body begins with whose headers do not tell it; it counts as what has come of it. */
const UNKNOWN_BODY_BYTES = 64 * 1024;

/** Refused as cheaply as can be, because that is when nothing is left to spend. */
export const OVERLOADED = new Failure(
  "service_unavailable",
  "The service takes no more calls just now; try again soon.",
);

/**
 * Whether there is no room for a further call.
 *
 * @param bytes of its body, as far as they are known
 */
export function isFull(
  { ready, inFlight, maxInFlight, maxInFlightBytes, kit }: ServerState,
  bytes: number,
): boolean {
  return !ready() || inFlight.isFull(maxInFlight) || kit.ticker.lag > MOST_LAG_MS ||
    // One call alone is admitted, whatever its size.
    (inFlight.count > 0 && inFlight.bytes + bytes > maxInFlightBytes);
}

/**
 * The size that a body will have: as its header says, or the least where it says nothing or the body is compressed.
 *
 * @param most a body that says it is larger is refused
 */
export function bodyBytes({ headers }: IncomingRequest, most: number): number {
  const length = headers.get("content-length");
  // Not `has()`, which copies all headers into a list.
  if (length === null || headers.get("content-encoding") !== null) return UNKNOWN_BODY_BYTES;
  return Math.min(Number(length) || 0, most);
}

/**
 * The call is one of this key's, and holds so many bytes from here on: not before, because it may have waited in line. Throws
 * {@link OVERLOADED} where they are too many.
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

/** Counts what has come of a body, decoded, against the bound of all. Throws {@link OVERLOADED} when that is reached. */
export function counter({ inFlight, maxInFlightBytes }: ServerState, place: Place): (bytes: number) => void {
  return (bytes) => {
    if (bytes <= place.bytes) return;
    const isOver = inFlight.count > 1 && inFlight.bytes - place.bytes + bytes > maxInFlightBytes;
    if (isOver || !place.mayGrow(bytes, maxInFlightBytes)) throw OVERLOADED;
    place.hold(bytes);
  };
}

/**
 * Reads the body of a call that is no generation, under the bounds of one. All work on the whole of it goes through the step
 * that comes along: others wait for what a large one takes at once.
 */
export async function withBody<T>(
  { request, state }: RequestContext,
  key: Key,
  use: (body: unknown, step: Step) => Promise<T>,
): Promise<T> {
  const bytes = bodyBytes(request, state.maxBodyBytes);
  if (isFull(state, bytes)) throw OVERLOADED;
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
