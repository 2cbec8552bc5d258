/** The trace context of a request in its headers (W3C Trace Context). */

/** Trace headers for provider requests. */
export type TraceHeaders = Readonly<Record<string, string>>;

export interface CallersTrace {
  traceId: string;
  spanId: string;
  /** The caller records the trace. */
  sampled: boolean;
  /** The id of the trace is random (Trace Context, level 2). */
  random: boolean;
  /** `tracestate`; undefined: none that may be passed on. */
  state: string | undefined;
  /** `traceparent` as received. */
  parent: string;
}

/** Maximum length that must be passed on. */
const MOST_STATE_CHARS = 512;
const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[\x20-\x7e]*)?$/;
const MOST_PARENT_CHARS = 256;

/** Null: no trace, or an invalid header. Then `tracestate` is ignored. */
export function readTrace(header: (name: string) => string | null): CallersTrace | null {
  const parent = header("traceparent");
  if (parent === null || parent.length > MOST_PARENT_CHARS) return null;
  const match = PARENT.exec(parent);
  if (match === null) return null;
  const [, version, traceId, spanId, flags, more] = match;
  if (version === "ff" || (version === "00" && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  const bits = parseInt(flags, 16);
  return {
    traceId,
    spanId,
    sampled: (bits & 1) === 1,
    random: (bits & 2) === 2,
    state: stateOf(header),
    parent,
  };
}

/** The original headers, for provider requests of a call that this gateway does not record. */
export function passedOn({ parent, state }: CallersTrace): TraceHeaders {
  return state === undefined ? { traceparent: parent } : { traceparent: parent, tracestate: state };
}

function stateOf(header: (name: string) => string | null): string | undefined {
  const state = header("tracestate");
  if (state === null || state === "" || state.length > MOST_STATE_CHARS) return undefined;
  return /^[\x20-\x7e]*$/.test(state) ? state : undefined;
}
