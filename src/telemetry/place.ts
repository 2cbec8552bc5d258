/**
 * The position of work in a trace, for spans that Deno creates itself, such as those of `fetch`: they become
 * children of the gateway's spans. Ids are converted to text only on demand.
 */
import { type Context, context, ROOT_CONTEXT, type Span, type SpanContext, trace } from "@opentelemetry/api";
import type { SpanId, TraceId } from "./otlp/ids.ts";

/**
 * Deno exports a span with the whole URL for each `fetch`, whatever its parent says about sampling. URLs of
 * webhooks contain secrets, and those of searches the query. When Deno begins a span, it sets it in the
 * active context; this context ends the span immediately, before anything is written to it.
 */
const QUIET: Context = {
  getValue: () => undefined,
  setValue(_, value) {
    if (typeof value === "object" && value !== null && "end" in value) (value as Span).end();
    return QUIET;
  },
  deleteValue: () => QUIET,
};

/** Runs work whose requests are not traced. */
export function withinNoTrace<T>(work: () => Promise<T>): Promise<T> {
  return context.with(QUIET, work);
}

/** Runs work in the context of a span: spans that Deno creates in it become its children. */
export function withinSpan<T>(traceId: TraceId, spanId: SpanId, work: () => Promise<T>): Promise<T> {
  return context.with(new Place(traceId, spanId), work);
}

/** The active span: a host that passes requests to the process may have begun one. */
export function activeSpan(): SpanContext | undefined {
  return trace.getSpanContext(context.active());
}

/** The key under which a context stores its span. The package does not export it. */
let spanKey: symbol | undefined;
const KEY_FINDER: Context = {
  getValue: () => undefined,
  setValue(key) {
    spanKey = key;
    return this;
  },
  deleteValue() {
    return this;
  },
};

/**
 * A parent span for other spans, and the context that contains it, in one object, because every call creates
 * one. The attributes of the span are written elsewhere.
 */
class Place implements Context, Span {
  readonly #trace: TraceId;
  readonly #span: SpanId;

  constructor(traceId: TraceId, spanId: SpanId) {
    this.#trace = traceId;
    this.#span = spanId;
  }

  getValue(key: symbol): unknown {
    if (spanKey === undefined) trace.setSpan(KEY_FINDER, this);
    return key === spanKey ? this : undefined;
  }
  /**
   * Deno sets its span of a `fetch` to add a `traceparent` header. The gateway adds the header itself or not
   * at all, so the span is ignored.
   */
  setValue(): Context {
    return ROOT_CONTEXT;
  }
  deleteValue(): Context {
    return ROOT_CONTEXT;
  }

  spanContext(): SpanContext {
    return { traceId: `${this.#trace}`, spanId: `${this.#span}`, traceFlags: 1 };
  }
  isRecording(): boolean {
    return false;
  }
  setAttribute(): this {
    return this;
  }
  setAttributes(): this {
    return this;
  }
  addEvent(): this {
    return this;
  }
  addLink(): this {
    return this;
  }
  addLinks(): this {
    return this;
  }
  setStatus(): this {
    return this;
  }
  updateName(): this {
    return this;
  }
  recordException(): void {}
  end(): void {}
}
