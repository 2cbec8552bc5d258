/** One call of a provider as a span `chat MODEL`, if the trace is recorded, and as measurements. */
import type { Failure } from "../exchange/failure.ts";
import type { Part } from "../exchange/part.ts";
import type { TraceHeaders } from "../exchange/trace_context.ts";
import type { Usage } from "../exchange/usage.ts";
import type { FollowedAttempt } from "../providers/attempt.ts";
import { type Asked, writeAsked } from "./asked.ts";
import { reasonName, writeReasons, writeUsage } from "./attributes.ts";
import { writeGeneration } from "./langfuse.ts";
import type { AttributeWriter } from "./otlp/attributes.ts";
import { newSpanId, type SpanId, type TraceId } from "./otlp/ids.ts";
import { KIND } from "./otlp/spans.ts";
import { withinSpan } from "./place.ts";
import type { Caller } from "./propagation.ts";
import type { Recording, RouteFacts } from "./recording.ts";

/** A longer model name from a provider is ignored. */
const MOST_NAME_CHARS = 200;

/** The trace of a recorded call. */
export interface CallSpan {
  trace: TraceId;
  span: SpanId;
  state: string | undefined;
  caller: Caller;
  /** That of the clock for all spans of the call. */
  offset: number;
  /** Null: the call is not admitted yet. */
  asked: Asked | null;
}

export class TracedAttempt implements FollowedAttempt {
  readonly #recording: Recording;
  readonly #facts: RouteFacts;
  readonly #stream: boolean;
  /** Null: the trace is not recorded. */
  readonly #call: CallSpan | null;
  readonly #callers: TraceHeaders | null;
  readonly #span: SpanId | null;
  readonly #began: number;
  #first: number | null = null;
  #usage: Usage | null = null;
  #model: string | undefined;
  #reasons: string[] | null = null;
  #error: string | null = null;
  #status: number | null = null;
  #begun = false;
  #closed = false;

  /** @param callers the trace headers of the caller, for a call that is not recorded */
  constructor(recording: Recording, facts: RouteFacts, { stream, call, callers }: {
    stream: boolean;
    call: CallSpan | null;
    callers: TraceHeaders | null;
  }) {
    this.#recording = recording;
    this.#facts = facts;
    this.#stream = stream;
    this.#call = call;
    this.#callers = callers;
    this.#span = call === null ? null : newSpanId();
    this.#began = this.#now();
  }

  /** Milliseconds since the epoch; since any moment if the trace is not recorded. */
  #now(): number {
    return (this.#call?.offset ?? 0) + performance.now();
  }

  context(): TraceHeaders | undefined {
    if (this.#call === null) return this.#callers ?? undefined;
    const { trace, caller } = this.#call;
    return this.#recording.propagation.headers({ trace, span: this.#span! }, caller);
  }

  within<T>(work: () => Promise<T>): Promise<T> {
    return this.#call === null ? work() : withinSpan(this.#call.trace, this.#span!, work);
  }

  begun(failure: Failure | null, status: number | null): void {
    if (this.#begun || this.#closed) return;
    this.#begun = true;
    if (failure !== null) this.#error = failure.code;
    else if (this.#stream) this.#first = this.#now();
    this.#status = status;
  }

  take(batch: readonly Part[]): void {
    for (const part of batch) {
      if (part.type === "usage") this.#usage = part.usage;
      else if (part.type === "start") this.#model ??= part.model;
      else if (part.type === "finish") (this.#reasons ??= []).push(reasonName(part.reason));
    }
  }

  failed(failure: Failure): void {
    this.#error ??= failure.code;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const end = this.#now();
    const error = this.#error;
    const first = this.#first === null ? null : this.#first - this.#began;
    this.#facts.measures.ended(end - this.#began, error, this.#usage, first);
    if (this.#call === null) return;
    const { trace, span: parent, state } = this.#call;
    const head = {
      trace,
      id: this.#span!,
      parent,
      remote: false,
      state,
      name: this.#facts.spanName,
      kind: KIND.client,
      start: this.#began,
      end,
    };
    this.#recording.span(head, error, (to) => this.#write(to, first));
  }

  #write(to: AttributeWriter, first: number | null): void {
    const { langfuse } = this.#recording;
    const error = this.#error;
    to.fixed(this.#facts.attributes);
    const asked = this.#call?.asked;
    if (asked) writeAsked(to, asked);
    if (this.#model !== undefined) to.text("gen_ai.response.model", this.#model.slice(0, MOST_NAME_CHARS));
    writeReasons(to, this.#reasons);
    if (this.#stream) to.flag("gen_ai.request.stream", true);
    if (first !== null) to.double("gen_ai.response.time_to_first_chunk", first / 1000);
    if (this.#usage !== null) writeUsage(to, this.#usage);
    if (this.#status !== null) to.int("http.response.status_code", this.#status);
    if (langfuse) {
      const model = this.#facts.spanName.slice("chat ".length);
      writeGeneration(to, { model, usage: this.#usage, first: this.#first, error });
    }
    if (error !== null) to.text("error.type", error);
  }
}
