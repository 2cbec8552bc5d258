/** One call of a provider as a span `chat MODEL` and as measurements, recorded or not. */
import { type Context, context, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Failure } from "../exchange/failure.ts";
import type { Part } from "../exchange/part.ts";
import type { TraceHeaders } from "../exchange/trace_context.ts";
import type { Usage } from "../exchange/usage.ts";
import type { FollowedAttempt } from "../providers/attempt.ts";
import type { Door, Route } from "../providers/provider.ts";
import { int, providerName, reasonName, serverOf, usageAttributes } from "./attributes.ts";
import { ofGeneration } from "./langfuse.ts";
import type { Recording } from "./recording.ts";

/** Providers name their models; longer names are none. */
const MOST_NAME_CHARS = 200;

/** The call that an attempt belongs to. */
export interface CallContext {
  /** Null: its trace is not recorded. */
  parent: Context | null;
  /** For requests of a call that is not recorded. */
  silent: Context | null;
  state: string | undefined;
  /** The caller's trace as it came. */
  callers: TraceHeaders | undefined;
}

export class TracedAttempt implements FollowedAttempt {
  readonly #recording: Recording;
  readonly #door: Door;
  readonly #route: Route;
  readonly #stream: boolean;
  readonly #call: CallContext;
  readonly #span: Span | null = null;
  readonly #began = performance.now();
  #first: number | null = null;
  #usage: Usage | null = null;
  #model: string | undefined;
  #reasons: string[] = [];
  #error: string | null = null;
  #begun = false;
  #closed = false;

  constructor(recording: Recording, call: CallContext, { door, route, stream }: {
    door: Door;
    route: Route;
    stream: boolean;
  }) {
    this.#recording = recording;
    this.#door = door;
    this.#route = route;
    this.#stream = stream;
    this.#call = call;
    if (call.parent === null) return;
    this.#span = recording.tracer.startSpan(`chat ${route.model}`, {
      kind: SpanKind.CLIENT,
      attributes: recording.onceFor(door, route, () => ({
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": providerName(door),
        "gen_ai.request.model": route.model,
        ...serverOf(door),
        "sluice.provider": door.provider.name,
        "sluice.api": door.api.name,
      })),
    }, call.parent);
  }

  context(): TraceHeaders | undefined {
    const { state, callers } = this.#call;
    if (this.#span === null) return callers;
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    const parent = `00-${traceId}-${spanId}-${traceFlags & 1 ? "01" : "00"}`;
    return state === undefined ? { traceparent: parent } : { traceparent: parent, tracestate: state };
  }

  within<T>(work: () => Promise<T>): Promise<T> {
    const { parent, silent } = this.#call;
    if (this.#span !== null) return context.with(trace.setSpan(parent!, this.#span), work);
    return silent === null ? work() : context.with(silent, work);
  }

  begun(failure: Failure | null, status: number | null): void {
    if (this.#begun || this.#closed) return;
    this.#begun = true;
    if (failure === null) this.#first = performance.now();
    else this.#error = failure.code;
    if (status !== null) this.#span?.setAttribute("http.response.status_code", int(status));
  }

  take(batch: readonly Part[]): void {
    for (const part of batch) {
      if (part.type === "usage") this.#usage = part.usage;
      else if (part.type === "start") this.#model ??= part.model;
      else if (part.type === "finish") this.#reasons.push(reasonName(part.reason));
    }
  }

  failed(failure: Failure): void {
    this.#error ??= failure.code;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const { instruments } = this.#recording;
    const ms = performance.now() - this.#began;
    instruments.attempted(this.#door, this.#route, ms, this.#error);
    if (this.#usage !== null) instruments.used(this.#door, this.#route, this.#usage);
    if (this.#stream && this.#first !== null) {
      instruments.first(this.#door, this.#route, this.#first - this.#began);
    }
    if (this.#span !== null) this.#end(this.#span);
  }

  #end(span: Span): void {
    const usage = this.#usage;
    const first = this.#first === null ? null : this.#first - this.#began;
    span.setAttributes({
      ...(this.#model !== undefined && { "gen_ai.response.model": this.#model.slice(0, MOST_NAME_CHARS) }),
      ...(this.#reasons.length > 0 && { "gen_ai.response.finish_reasons": this.#reasons }),
      ...(this.#stream && { "gen_ai.request.stream": true }),
      ...(this.#stream && first !== null && { "gen_ai.response.time_to_first_chunk": first / 1000 }),
      ...(usage && usageAttributes(usage)),
      ...(this.#recording.langfuse && ofGeneration({
        model: this.#route.model,
        usage,
        first: this.#first === null ? null : performance.timeOrigin + this.#first,
        error: this.#error,
      })),
      ...(this.#error !== null && { "error.type": this.#error }),
    });
    if (this.#error !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: this.#error });
    span.end();
  }
}
