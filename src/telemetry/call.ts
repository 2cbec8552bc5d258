/** One generation as a trace: a server span, and under it the steps. */
import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from "@opentelemetry/api";
import type { Key } from "../accounts/mod.ts";
import { type Failure, type FailureCode, FAILURES } from "../exchange/failure.ts";
import type { GenerationEnd } from "../exchange/generation.ts";
import type { Labels } from "../exchange/labels.ts";
import type { Step, StepDetails, StepKind } from "../exchange/steps.ts";
import { passedOn, readTrace } from "../exchange/trace_context.ts";
import type { FollowedCall, FollowedRequest, FollowedStep } from "../pipeline/telemetry.ts";
import type { FollowedAttempt } from "../providers/attempt.ts";
import type { Door, Route } from "../providers/provider.ts";
import { type CallContext, TracedAttempt } from "./attempt.ts";
import { int } from "./attributes.ts";
import { ofKey, ofLabels, ofStep } from "./langfuse.ts";
import type { Recording } from "./recording.ts";

/** Ids of a trace that is not recorded: what Deno traces by itself joins it, and is not recorded either. */
const SILENT: SpanContext = { traceId: "f".repeat(32), spanId: "f".repeat(16), traceFlags: TraceFlags.NONE };

interface StepEnd extends Pick<Step, "name" | "outcome"> {
  details?: StepDetails;
  /** Absent: now. */
  endTime?: number;
}

export class TracedCall implements FollowedCall {
  readonly #recording: Recording;
  readonly #name: string;
  readonly #span: Span | null;
  readonly #call: CallContext;
  /** Set at once when the span ends: each time takes as long as some of them. */
  readonly #attributes: Attributes;
  #error: FailureCode | null = null;
  #gone = false;
  #closed = false;

  constructor(recording: Recording, { id, route, header }: FollowedRequest) {
    this.#recording = recording;
    this.#name = `POST ${route}`;
    const callers = readTrace(header);
    // Where the host hands requests over, it may have begun a span of its own.
    const active = trace.getSpanContext(context.active());
    const remote = active ?? (callers && remoteOf(callers));
    const sampled = remote
      ? (remote.traceFlags & TraceFlags.SAMPLED) === 1
      : recording.random() < recording.sample;
    const base = remote ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT;
    this.#attributes = {
      "http.request.method": "POST",
      "http.route": route,
      "url.path": route,
      "sluice.generation.id": id,
    };
    this.#span = sampled
      ? recording.tracer.startSpan(
        this.#name,
        { kind: SpanKind.SERVER },
        active ? context.active() : base,
      )
      : null;
    this.#call = {
      parent: this.#span && trace.setSpan(base, this.#span),
      silent: this.#span ? null : silentContext(),
      state: callers?.state,
      callers: callers ? passedOn(callers) : undefined,
    };
  }

  get traceId(): string | null {
    return this.#span?.spanContext().traceId ?? null;
  }

  of(key: Key): void {
    if (this.#span === null) return;
    const attributes = this.#attributes;
    attributes["sluice.key.name"] = key.name;
    if (key.team) attributes["sluice.team"] = key.team.name;
    if (this.#recording.langfuse) Object.assign(attributes, ofKey(this.#name, key));
  }

  attempt(door: Door, route: Route, stream: boolean): FollowedAttempt {
    return new TracedAttempt(this.#recording, this.#call, { door, route, stream });
  }

  begin(kind: StepKind, name: string): FollowedStep | null {
    const { parent, silent } = this.#call;
    if (parent === null) return kind === "search" ? unrecorded(silent) : null;
    const span = this.#start(kind);
    return {
      within: (work) => context.with(trace.setSpan(parent, span), work),
      end: (outcome, details) => this.#finish(span, kind, { name, outcome, details }),
    };
  }

  step({ kind, name, start, ms, outcome, details }: Step): void {
    if (this.#span === null) return;
    const end = { name, outcome, details, endTime: start + ms };
    this.#finish(this.#start(kind, start), kind, end);
  }

  #start(kind: StepKind, startTime?: number): Span {
    return this.#recording.tracer.startSpan(kind, { startTime }, this.#call.parent!);
  }

  #finish(span: Span, kind: StepKind, end: StepEnd): void {
    const { name, outcome, details = {}, endTime } = end;
    const attributes: Attributes = { "sluice.step": name, "sluice.outcome": outcome };
    for (const detail in details) {
      const value = details[detail];
      attributes[`sluice.${detail}`] = typeof value === "number" ? int(value) : value;
    }
    if (this.#recording.langfuse) Object.assign(attributes, ofStep(kind));
    const good = GOOD.has(outcome);
    if (!good) attributes["error.type"] = outcome;
    span.setAttributes(attributes);
    if (!good) span.setStatus({ code: SpanStatusCode.ERROR, message: outcome });
    span.end(endTime);
  }

  ended(end: GenerationEnd, labels: Labels | null): void {
    this.#error = end.errorCode;
    this.#gone = end.clientGone;
    if (this.#span === null) return;
    const attributes = this.#attributes;
    attributes["sluice.model"] = end.model;
    attributes["sluice.status"] = end.status;
    if (end.searches > 0) attributes["sluice.searches"] = int(end.searches);
    if (end.clientGone) attributes["sluice.client_gone"] = true;
    if (labels === null) return;
    if (labels.session !== null) attributes["gen_ai.conversation.id"] = labels.session;
    if (this.#recording.langfuse) Object.assign(attributes, ofLabels(labels));
  }

  refused(failure: Failure): void {
    this.#error ??= failure.code;
  }

  close(status: number | null): void {
    if (this.#closed) return;
    this.#closed = true;
    const span = this.#span;
    if (span === null) return;
    const error = this.#error;
    // Nobody was there any more to be sent anything.
    const sent = status ?? (error === null || this.#gone ? null : FAILURES[error].status);
    const attributes = this.#attributes;
    if (sent !== null) attributes["http.response.status_code"] = int(sent);
    if (error !== null) attributes["error.type"] = error;
    span.setAttributes(attributes);
    if (error !== null) {
      // Of a server, what a caller did wrong is no error.
      if (sent === null || sent >= 500 || sent < 400) {
        span.setStatus({ code: SpanStatusCode.ERROR, message: error });
      }
    }
    span.end();
  }
}

function remoteOf({ traceId, spanId, sampled }: NonNullable<ReturnType<typeof readTrace>>): SpanContext {
  return { traceId, spanId, isRemote: true, traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE };
}

let silent: Context | undefined;

function silentContext(): Context {
  return silent ??= trace.setSpanContext(ROOT_CONTEXT, SILENT);
}

function unrecorded(silent: Context | null): FollowedStep {
  return { within: (work) => silent === null ? work() : context.with(silent, work), end() {} };
}

/** What of a step is no error. */
const GOOD: ReadonlySet<string> = new Set(["ok", "masked", "alerted"]);
