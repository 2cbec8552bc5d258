/** The interface between spans and their encodings: each span is written once, when it ends. */
import type { AttributeWriter } from "./attributes.ts";
import type { SpanId, TraceId } from "./ids.ts";

export const KIND = { internal: 1, server: 2, client: 3 } as const;

export interface SpanHead {
  trace: TraceId;
  id: SpanId;
  /** Null: it is the root of its trace. */
  parent: SpanId | null;
  /** The parent is a span of another process. */
  remote: boolean;
  /** `tracestate` of the trace; undefined: absent. */
  state: string | undefined;
  name: string;
  kind: (typeof KIND)[keyof typeof KIND];
  /** Milliseconds since the epoch. */
  start: number;
  end: number;
}

/** Writes spans one after the other: begin, attributes, end. */
export interface SpanWriter extends AttributeWriter {
  begin(head: SpanHead): void;
  /** @param error error type; null: none */
  end(error: string | null): void;
}

/** Written spans that were not exported yet. */
export interface SpanBuffer extends SpanWriter {
  readonly count: number;
  /** Approximate size in bytes. */
  readonly size: number;
  /** Returns the body of a request with all spans, and empties the buffer. */
  take(): Uint8Array<ArrayBuffer>;
}

/** The source of the spans and measurements. */
export interface Origin {
  /** Attributes of the process. */
  resource: Readonly<Record<string, string>>;
  scope: { name: string; version: string };
}
