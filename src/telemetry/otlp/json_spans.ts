/** Spans as `ExportTraceServiceRequest` in JSON. */
import type { AttributeWriter, FixedAttributes } from "./attributes.ts";
import type { Origin, SpanBuffer, SpanHead } from "./spans.ts";

const encoder = new TextEncoder();
const ERROR = 2;

class JsonAttributes implements AttributeWriter {
  json = "";

  text(key: string, value: string): void {
    this.#add(key, `{"stringValue":${JSON.stringify(value)}}`);
  }

  int(key: string, value: number): void {
    this.#add(key, `{"intValue":"${Math.max(0, Math.round(value))}"}`);
  }

  double(key: string, value: number): void {
    this.#add(key, `{"doubleValue":${value}}`);
  }

  flag(key: string, value: boolean): void {
    this.#add(key, `{"boolValue":${value}}`);
  }

  texts(key: string, values: readonly string[]): void {
    const all = values.map((value) => `{"stringValue":${JSON.stringify(value)}}`);
    this.#add(key, `{"arrayValue":{"values":[${all}]}}`);
  }

  fixed(attributes: FixedAttributes): void {
    const json = jsonOf(attributes);
    if (json !== "") this.json += this.json === "" ? json : `,${json}`;
  }

  #add(key: string, value: string): void {
    this.json += `${this.json === "" ? "" : ","}{"key":${JSON.stringify(key)},"value":${value}}`;
  }
}

/** Attributes as JSON list items. */
export function jsonOf(attributes: FixedAttributes): string {
  if (attributes.json === null) {
    const own = new JsonAttributes();
    attributes.write(own);
    attributes.json = own.json;
  }
  return attributes.json;
}

/** Converts milliseconds since the epoch to nanoseconds. */
export function nanoseconds(ms: number): string {
  const whole = Math.floor(ms);
  const nanos = Math.min(999_999, Math.round((ms - whole) * 1e6));
  return `"${whole}${String(nanos).padStart(6, "0")}"`;
}

export class JsonSpans extends JsonAttributes implements SpanBuffer {
  readonly #origin: Origin;
  #spans: string[] = [];
  #head = "";
  size = 0;

  constructor(origin: Origin) {
    super();
    this.#origin = origin;
  }

  get count(): number {
    return this.#spans.length;
  }

  begin({ trace, id, parent, remote, state, name, kind, start, end }: SpanHead): void {
    this.json = "";
    this.#head = `{"traceId":"${trace}","spanId":"${id}"` +
      `,"parentSpanId":"${parent ?? ""}"` +
      (state === undefined ? "" : `,"traceState":${JSON.stringify(state)}`) +
      `,"flags":${remote ? 0x301 : 0x101},"name":${JSON.stringify(name)},"kind":${kind}` +
      `,"startTimeUnixNano":${nanoseconds(start)},"endTimeUnixNano":${nanoseconds(Math.max(start, end))}`;
  }

  end(error: string | null): void {
    const status = error === null ? "" : `,"status":{"message":${JSON.stringify(error)},"code":${ERROR}}`;
    const span = `${this.#head},"attributes":[${this.json}]${status}}`;
    this.#spans.push(span);
    this.size += span.length;
  }

  take(): Uint8Array<ArrayBuffer> {
    const { resource, scope } = aboutOrigin(this.#origin);
    const spans = this.#spans.join(",");
    this.#spans = [];
    this.size = 0;
    return encoder.encode(
      `{"resourceSpans":[{"resource":${resource},"scopeSpans":[{"scope":${scope},"spans":[${spans}]}]}]}`,
    );
  }
}

/** The resource and the instrumentation scope, as JSON. */
export function aboutOrigin({ resource, scope }: Origin): { resource: string; scope: string } {
  const attributes = new JsonAttributes();
  for (const [key, value] of Object.entries(resource)) attributes.text(key, value);
  return { resource: `{"attributes":[${attributes.json}]}`, scope: JSON.stringify(scope) };
}
