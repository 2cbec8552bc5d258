/** Ids of traces and spans, stored as the numbers that are exported and converted to text only on demand. */

export class TraceId {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;

  constructor(a: number, b: number, c: number, d: number) {
    this.a = a;
    this.b = b;
    this.c = c;
    this.d = d;
  }

  toString(): string {
    return hex(this.a) + hex(this.b) + hex(this.c) + hex(this.d);
  }
}

export class SpanId {
  readonly a: number;
  readonly b: number;

  constructor(a: number, b: number) {
    this.a = a;
    this.b = b;
  }

  toString(): string {
    return hex(this.a) + hex(this.b);
  }
}

/** From 32 hexadecimal digits. */
export function traceIdOf(text: string): TraceId {
  return new TraceId(word(text, 0), word(text, 8), word(text, 16), word(text, 24));
}

/** From 16 hexadecimal digits. */
export const spanIdOf = (text: string): SpanId => new SpanId(word(text, 0), word(text, 8));

/** Random numbers are generated in bulk: a call for each id would take as long as a span. */
const pool = new Uint32Array(2048);
let next = pool.length;

function random(): number {
  if (next === pool.length) {
    crypto.getRandomValues(pool);
    next = 0;
  }
  return pool[next++];
}

/** An id of only zeros is invalid. */
export const newTraceId = (): TraceId => new TraceId(random(), random(), random(), random() || 1);
export const newSpanId = (): SpanId => new SpanId(random(), random() || 1);

const BYTES = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, "0"));

function hex(word: number): string {
  return BYTES[word >>> 24] + BYTES[(word >>> 16) & 255] + BYTES[(word >>> 8) & 255] + BYTES[word & 255];
}

function word(text: string, at: number): number {
  return parseInt(text.slice(at, at + 8), 16);
}
