/** Spans as they are handed to an encoding: each is written once, when it ends. */
import type { AttributeWriter } from "./attributes.ts";
import type { SpanId, TraceId } from "./ids.ts";

export const KIND = { internal: 1, server: 2, client: 3 } as const;

export interface SpanHead {
  trace: TraceId;
  id: SpanId;
  /** Null: it is the first one of its trace. */
  parent: SpanId | null;
  /** Its parent is of another process. */
  remote: boolean;
  /** `tracestate` of the trace; undefined: it has none. */
  state: string | undefined;
  name: string;
  kind: (typeof KIND)[keyof typeof KIND];
  /** Milliseconds since the epoch. */
  start: number;
  end: number;
}

/** Begin, attributes, end; then the next one. */
export interface SpanWriter extends AttributeWriter {
  begin(head: SpanHead): void;
  /** @param error what it failed of; null: it did not */
  end(error: string | null): void;
}

/** What has been written and not been taken yet. */
export interface SpanBuffer extends SpanWriter {
  readonly count: number;
  /** About how many bytes it takes. */
  readonly size: number;
  /** The body of a request with all of them; the buffer is empty then. */
  take(): Uint8Array<ArrayBuffer>;
}

/** Who made the spans and measurements. */
export interface Origin {
  /** Attributes of the process. */
  resource: Readonly<Record<string, string>>;
  scope: { name: string; version: string };
}
