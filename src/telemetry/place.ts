/**
 * Where work stands in a trace, for what Deno traces by itself: its spans of `fetch` join the tree that way. Ids become text
 * only where somebody asks for them.
 */
import { type Context, context, ROOT_CONTEXT, type Span, type SpanContext, trace } from "@opentelemetry/api";
import type { SpanId, TraceId } from "./otlp/ids.ts";

/**
 * Deno exports a span for each `fetch`, with the whole address, whatever its parent says of sampling; webhooks have secrets
 * in theirs, and searches the query. As it begins a span, Deno puts it into the context that is active: this one ends it at
 * once, before anything is written to it.
 */
const QUIET: Context = {
  getValue: () => undefined,
  setValue(_, value) {
    if (typeof value === "object" && value !== null && "end" in value) (value as Span).end();
    return QUIET;
  },
  deleteValue: () => QUIET,
};

/** Does work whose own requests are in no trace. */
export function withinNoTrace<T>(work: () => Promise<T>): Promise<T> {
  return context.with(QUIET, work);
}

/** Runs work as part of a span: requests that Deno traces in it are children of that span. */
export function withinSpan<T>(traceId: TraceId, spanId: SpanId, work: () => Promise<T>): Promise<T> {
  return context.with(new Place(traceId, spanId), work);
}

/** Where the host hands requests over, it may have begun a span of its own. */
export function activeSpan(): SpanContext | undefined {
  return trace.getSpanContext(context.active());
}

/** The name under which a context holds its span: only the package knows it. */
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
 * A span that others may have as their parent, and the context that holds it, in one: calls make one of these each. What the
 * span says of itself is written elsewhere.
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
  /** Deno sets its span of a `fetch`, to add a `traceparent` of it to the headers: it would be a second one, or unwanted. */
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
