/**
 * How the trace of a caller is read from a request, and written to requests to providers (`OTEL_PROPAGATORS`):
 * as W3C Trace Context, or as B3 in one header (`b3`) or in several (`b3multi`). Baggage is passed on as it
 * came.
 */
import { type CallersTrace, passedOn, readTrace, type TraceHeaders } from "../exchange/trace_context.ts";
import type { SpanId, TraceId } from "./otlp/ids.ts";

export const PROPAGATORS = ["tracecontext", "baggage", "b3", "b3multi"] as const;
export type Propagator = typeof PROPAGATORS[number];

/** What a request says about its trace. */
export interface Caller {
  /** Null: none. */
  trace: CallersTrace | B3Trace | null;
  /** `baggage`; undefined: none that is passed on. */
  baggage: string | undefined;
}

interface B3Trace extends Omit<CallersTrace, "parent"> {
  parent: null;
  /** The debug flag: all services record the trace, whatever their own sampling. */
  debug: boolean;
}

interface SpanContext {
  trace: TraceId | string;
  span: SpanId | string;
  sampled: boolean;
}

type Header = (name: string) => string | null;

/** Maximum length that must be passed on (W3C Baggage). */
const MOST_BAGGAGE_CHARS = 8192;
const B3 = /^([0-9a-f]{16}|[0-9a-f]{32})-([0-9a-f]{16})(?:-([01d])(?:-[0-9a-f]{16})?)?$/i;
const TRACE_ID = /^(?:[0-9a-f]{16}|[0-9a-f]{32})$/i;
const SPAN_ID = /^[0-9a-f]{16}$/i;

export class Propagation {
  readonly #propagators: readonly Propagator[];

  constructor(propagators: readonly Propagator[]) {
    this.#propagators = propagators;
  }

  /** If several propagators find a trace, the last one counts. */
  read(header: Header): Caller {
    let trace: Caller["trace"] = null;
    let baggage: string | undefined;
    for (const propagator of this.#propagators) {
      if (propagator === "tracecontext") trace = readTrace(header) ?? trace;
      else if (propagator === "baggage") baggage = baggageIn(header);
      else trace = readB3(header) ?? trace;
    }
    return { trace, baggage };
  }

  /** Headers of a request to a provider, which is a span of a recorded trace. */
  headers(span: Pick<SpanContext, "trace" | "span">, caller: Caller): TraceHeaders {
    return this.#write({ ...span, sampled: true }, caller, null);
  }

  /** Headers of a request to a provider for a call that is not recorded: what the caller sent. */
  passedOn(caller: Caller): TraceHeaders {
    const { trace } = caller;
    if (trace === null) return caller.baggage === undefined ? {} : { baggage: caller.baggage };
    return this.#write({ trace: trace.traceId, span: trace.spanId, sampled: trace.sampled }, caller, trace);
  }

  /** @param unchanged the trace of the caller, if it is passed on as it came */
  #write(span: SpanContext, { trace, baggage }: Caller, unchanged: Caller["trace"]): TraceHeaders {
    const debug = trace !== null && trace.parent === null && trace.debug;
    const headers: Record<string, string> = {};
    for (const propagator of this.#propagators) {
      if (propagator === "baggage") {
        if (baggage !== undefined) headers.baggage = baggage;
      } else if (propagator === "b3") {
        headers.b3 = `${span.trace}-${span.span}-${debug ? "d" : span.sampled ? "1" : "0"}`;
      } else if (propagator === "b3multi") {
        headers["x-b3-traceid"] = `${span.trace}`;
        headers["x-b3-spanid"] = `${span.span}`;
        if (debug) headers["x-b3-flags"] = "1";
        else headers["x-b3-sampled"] = span.sampled ? "1" : "0";
      } else if (unchanged !== null && unchanged.parent !== null) {
        Object.assign(headers, passedOn(unchanged));
      } else {
        const flags = (span.sampled ? 1 : 0) | (trace?.random ? 2 : 0);
        headers.traceparent = `00-${span.trace}-${span.span}-0${flags}`;
        if (trace?.state !== undefined) headers.tracestate = trace.state;
      }
    }
    return headers;
  }
}

/** One header counts before several. Null: no trace, or invalid. */
function readB3(header: Header): B3Trace | null {
  const single = header("b3");
  const match = single === null ? null : B3.exec(single);
  if (match !== null) return b3Of(match[1], match[2], match[3] ?? null);
  const traceId = header("x-b3-traceid");
  const spanId = header("x-b3-spanid");
  if (traceId === null || spanId === null || !TRACE_ID.test(traceId) || !SPAN_ID.test(spanId)) return null;
  return b3Of(traceId, spanId, header("x-b3-flags") === "1" ? "d" : header("x-b3-sampled"));
}

/** @param state `true` and `false` are spellings of older libraries */
function b3Of(trace: string, span: string, state: string | null): B3Trace | null {
  const traceId = trace.toLowerCase().padStart(32, "0");
  const spanId = span.toLowerCase();
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  const debug = state?.toLowerCase() === "d";
  const sampled = debug || state === "1" || state?.toLowerCase() === "true";
  return { traceId, spanId, sampled, debug, random: false, state: undefined, parent: null };
}

function baggageIn(header: Header): string | undefined {
  const baggage = header("baggage");
  if (baggage === null || baggage === "" || baggage.length > MOST_BAGGAGE_CHARS) return undefined;
  return /^[\x20-\x7e]*$/.test(baggage) ? baggage : undefined;
}
