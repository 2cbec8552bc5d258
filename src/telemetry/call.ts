/** One generation as a trace: a server span with a child span for each step. */
import type { Key } from "../accounts/mod.ts";
import { type Failure, type FailureCode, FAILURES } from "../exchange/failure.ts";
import type { GenerationEnd } from "../exchange/generation.ts";
import type { Labels } from "../exchange/labels.ts";
import type { Prompt } from "../exchange/prompt.ts";
import type { Step, StepDetails, StepKind } from "../exchange/steps.ts";
import type { TraceHeaders } from "../exchange/trace_context.ts";
import type { FollowedCall, FollowedRequest, FollowedStep } from "../pipeline/telemetry.ts";
import type { FollowedAttempt } from "../providers/attempt.ts";
import type { Route, Upstream } from "../providers/provider.ts";
import { askedOf } from "./asked.ts";
import { type CallSpan, TracedAttempt } from "./attempt.ts";
import { writeKey, writeLabels, writeStep } from "./langfuse.ts";
import type { AttributeWriter } from "./otlp/attributes.ts";
import { newSpanId, newTraceId, type SpanId, spanIdOf, traceIdOf } from "./otlp/ids.ts";
import { KIND } from "./otlp/spans.ts";
import { activeSpan, withinSpan } from "./place.ts";
import type { Caller } from "./propagation.ts";
import type { Recording } from "./recording.ts";
import { spanOffset } from "./span_clock.ts";

/** Outcomes of a step that are not errors. */
const GOOD: ReadonlySet<string> = new Set(["ok", "masked", "alerted"]);

/** Begins the span of a call. It is recorded if the caller's trace context or the sampling decides so. */
export function follow(recording: Recording, request: FollowedRequest): FollowedCall {
  const caller = recording.propagation.read(request.header);
  const active = activeSpan();
  const parent = active && { traceId: active.traceId, sampled: (active.traceFlags & 1) === 1 };
  if (!recording.samples(parent ?? caller.trace)) return new UnrecordedCall(recording, caller);
  return new RecordedCall(recording, request, {
    caller,
    parent: active ?? caller.trace,
    local: active !== undefined,
  });
}

/** A call without spans. Its metrics are counted, and the caller's trace context is passed on. */
class UnrecordedCall implements FollowedCall {
  readonly traceId = null;
  readonly #recording: Recording;
  readonly #callers: TraceHeaders;

  constructor(recording: Recording, caller: Caller) {
    this.#recording = recording;
    this.#callers = recording.propagation.passedOn(caller);
  }

  attempt(upstream: Upstream, route: Route, stream: boolean): FollowedAttempt {
    const callers = this.#callers;
    return new TracedAttempt(this.#recording, this.#recording.of(upstream, route), {
      stream,
      call: null,
      callers,
    });
  }

  begin(): null {
    return null;
  }
  of() {}
  admitted() {}
  step() {}
  ended() {}
  refused() {}
  close() {}
}

interface StepEnd extends Pick<Step, "name" | "outcome"> {
  id: SpanId;
  start: number;
  end: number;
  details?: StepDetails;
}

class RecordedCall implements FollowedCall {
  readonly #recording: Recording;
  readonly #id: string;
  readonly #route: string;
  readonly #scheme: FollowedRequest["scheme"];
  readonly #parent: SpanId | null;
  readonly #remote: boolean;
  readonly #call: CallSpan;
  readonly #offset = spanOffset();
  readonly #start = this.#now();
  #key: Key | null = null;
  #end: GenerationEnd | null = null;
  #labels: Labels | null = null;
  #error: FailureCode | null = null;
  #closed = false;

  constructor(recording: Recording, { id, route, scheme }: FollowedRequest, { caller, parent, local }: {
    caller: Caller;
    /** Null: this span is the root of a trace. */
    parent: { traceId: string; spanId: string } | null;
    /** The parent is a span of this process. */
    local: boolean;
  }) {
    this.#recording = recording;
    this.#id = id;
    this.#route = route;
    this.#scheme = scheme;
    this.#parent = parent && spanIdOf(parent.spanId);
    this.#remote = parent !== null && !local;
    const trace = parent === null ? newTraceId() : traceIdOf(parent.traceId);
    const state = caller.trace?.state;
    this.#call = { trace, span: newSpanId(), state, caller, offset: this.#offset, asked: null };
  }

  get traceId(): string {
    return `${this.#call.trace}`;
  }

  /** Milliseconds since the epoch. */
  #now(): number {
    return this.#offset + performance.now();
  }

  of(key: Key): void {
    this.#key = key;
  }

  admitted(prompt: Prompt, labels: Labels | null, choices: number): void {
    this.#call.asked = askedOf(prompt, labels, choices);
  }

  attempt(upstream: Upstream, route: Route, stream: boolean): FollowedAttempt {
    const facts = this.#recording.of(upstream, route);
    return new TracedAttempt(this.#recording, facts, { stream, call: this.#call, callers: null });
  }

  begin(kind: StepKind, name: string): FollowedStep {
    const start = this.#now();
    const id = newSpanId();
    return {
      within: (work) => withinSpan(this.#call.trace, id, work),
      end: (outcome, details) => this.#step(kind, { id, name, outcome, details, start, end: this.#now() }),
    };
  }

  step({ kind, name, ms, outcome, details }: Step): void {
    const id = newSpanId();
    const end = this.#now();
    this.#step(kind, { id, name, outcome, details, start: Math.max(end - ms, this.#start), end });
  }

  #step(kind: StepKind, { id, name, outcome, details, start, end }: StepEnd): void {
    const { trace, span: parent, state } = this.#call;
    const error = GOOD.has(outcome) ? null : outcome;
    const head = { trace, id, parent, remote: false, state, name: kind, kind: KIND.internal, start, end };
    this.#recording.span(head, error, (to) => {
      to.text("sluice.step", name);
      to.text("sluice.outcome", outcome);
      for (const detail in details) writeDetail(to, `sluice.${detail}`, details[detail]);
      if (this.#recording.langfuse) writeStep(to, kind);
      if (error !== null) to.text("error.type", error);
    });
  }

  ended(end: GenerationEnd, labels: Labels | null): void {
    this.#error = end.errorCode;
    this.#end = end;
    this.#labels = labels;
  }

  refused(failure: Failure): void {
    this.#error ??= failure.code;
  }

  close(status: number | null): void {
    if (this.#closed) return;
    this.#closed = true;
    const error = this.#error;
    const gone = this.#end?.clientGone === true;
    // The client had disconnected, so no status was sent.
    const sent = status ?? (error === null || gone ? null : FAILURES[error].status);
    const { trace, span: id, state } = this.#call;
    const head = {
      trace,
      id,
      parent: this.#parent,
      remote: this.#remote,
      state,
      name: `POST ${this.#route}`,
      kind: KIND.server,
      start: this.#start,
      end: this.#now(),
    };
    // In a server span, a client error is not an error.
    const failed = error !== null && (sent === null || sent >= 500 || sent < 400);
    this.#recording.span(head, failed ? error : null, (to) => this.#write(to, sent));
  }

  #write(to: AttributeWriter, sent: number | null): void {
    const { langfuse } = this.#recording;
    const labels = this.#labels;
    to.fixed(this.#recording.request(this.#route, this.#scheme));
    to.text("sluice.generation.id", this.#id);
    if (this.#key !== null) {
      to.text("sluice.key.name", this.#key.name);
      if (this.#key.team) to.text("sluice.team", this.#key.team.name);
      if (langfuse) writeKey(to, `POST ${this.#route}`, this.#key);
    }
    if (this.#end !== null) writeEnd(to, this.#end);
    if (labels !== null) {
      if (labels.session !== null) to.text("gen_ai.conversation.id", labels.session);
      if (langfuse) writeLabels(to, labels);
    }
    if (sent !== null) to.int("http.response.status_code", sent);
    if (this.#error !== null) to.text("error.type", this.#error);
  }
}

function writeEnd(to: AttributeWriter, { model, status, searches, clientGone }: GenerationEnd): void {
  if (model !== undefined) to.text("sluice.model", model);
  to.text("sluice.status", status);
  if (searches > 0) to.int("sluice.searches", searches);
  if (clientGone) to.flag("sluice.client_gone", true);
}

function writeDetail(to: AttributeWriter, key: string, value: string | number | boolean): void {
  if (typeof value === "number") to.int(key, value);
  else if (typeof value === "boolean") to.flag(key, value);
  else to.text(key, value);
}
