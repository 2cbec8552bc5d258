/** Spans as `ExportTraceServiceRequest` in Protocol Buffers (opentelemetry-proto 1.9). */
import { ProtobufWriter } from "./protobuf.ts";
import type { Origin, SpanBuffer, SpanHead } from "./spans.ts";

const SPAN = { attributes: 0x4a } as const;
const ERROR = 2;
/** Flags of a span: sampled, and whether the parent is remote is known. */
const RECORDED = 0x101;
const REMOTE = 0x200;

export class ProtobufSpans extends ProtobufWriter implements SpanBuffer {
  readonly #origin: Origin;
  #count = 0;
  #began = 0;

  constructor(origin: Origin) {
    super(SPAN.attributes, 1 << 16);
    this.#origin = origin;
  }

  get count(): number {
    return this.#count;
  }

  get size(): number {
    return this.at;
  }

  begin({ trace, id, parent, remote, state, name, kind, start, end }: SpanHead): void {
    this.#began = this.open(0x12);
    this.room(96);
    this.bytes[this.at++] = 0x0a;
    this.bytes[this.at++] = 16;
    this.word(trace.a);
    this.word(trace.b);
    this.word(trace.c);
    this.word(trace.d);
    this.bytes[this.at++] = 0x12;
    this.bytes[this.at++] = 8;
    this.word(id.a);
    this.word(id.b);
    if (state !== undefined) this.string(0x1a, state);
    if (parent !== null) {
      this.room(96);
      this.bytes[this.at++] = 0x22;
      this.bytes[this.at++] = 8;
      this.word(parent.a);
      this.word(parent.b);
    }
    this.string(0x2a, name);
    this.field(0x30, kind);
    this.time(0x39, start);
    this.time(0x41, Math.max(start, end));
    const flags = remote ? RECORDED | REMOTE : RECORDED;
    // Field 16, fixed32.
    this.bytes[this.at++] = 0x85;
    this.bytes[this.at++] = 0x01;
    this.bytes[this.at++] = flags & 255;
    this.bytes[this.at++] = flags >> 8;
    this.bytes[this.at++] = 0;
    this.bytes[this.at++] = 0;
  }

  end(error: string | null): void {
    if (error !== null) {
      const status = this.open(0x7a);
      this.string(0x12, error);
      this.field(0x18, ERROR);
      this.close(status);
    }
    this.close(this.#began);
    this.#count++;
  }

  take(): Uint8Array<ArrayBuffer> {
    const spans = this.bytes.subarray(0, this.at);
    const body = within(this.#origin, spans);
    this.at = 0;
    this.#count = 0;
    return body;
  }
}

/** A request with one resource and one scope. The spans or metrics follow as consecutive fields. */
export function within({ resource, scope }: Origin, items: Uint8Array): Uint8Array<ArrayBuffer> {
  const about = new ProtobufWriter(0x0a);
  for (const [key, value] of Object.entries(resource)) about.text(key, value);
  const named = new ProtobufWriter(0);
  const began = named.open(0x0a);
  named.string(0x0a, scope.name);
  if (scope.version !== "") named.string(0x12, scope.version);
  named.close(began);
  const request = new ProtobufWriter(0, items.length + about.at + 256);
  const all = request.open(0x0a);
  request.blob(0x0a, about.bytes.subarray(0, about.at));
  const ours = request.open(0x12);
  request.raw(named.bytes.subarray(0, named.at));
  request.raw(items);
  request.close(ours);
  request.close(all);
  return request.copy();
}
