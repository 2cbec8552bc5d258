/**
 * Exports spans and measurements with OTLP. For each span, Deno's own exporter takes three to four
 * microseconds of the event loop and as much of another thread: half of a plain call for its trace. Here a
 * span is encoded when it ends, which takes less than one microsecond.
 */
import { Withheld } from "../../outgoing/withheld.ts";
import { Propagation } from "../propagation.ts";
import {
  type Destination,
  type ExportSettings,
  exportSettings,
  percentDecoded,
  type Sampler,
} from "./environment.ts";
import { jsonMetrics } from "./json_metrics.ts";
import { JsonSpans } from "./json_spans.ts";
import type { Counter, Histogram } from "./measurements.ts";
import { openPost, type PostOptions } from "./post.ts";
import { protobufMetrics } from "./protobuf_metrics.ts";
import { ProtobufSpans } from "./protobuf_spans.ts";
import { Queue } from "./queue.ts";
import type { Origin, SpanBuffer } from "./spans.ts";

/** Size limit of one request in bytes: collectors refuse large ones. */
const MOST_BATCH_BYTES = 2 << 20;
/** The longest time for the exports when the process ends, in milliseconds. */
const CLOSE_MS = 3000;
const REPORT_EVERY_MS = 60_000;

type Kind = "spans" | "measurements";

export interface ExporterOptions {
  env(name: string): string | undefined;
  /** Version of the program. */
  version: string;
  now(): number;
  random(): number;
  log(line: string, level?: "info" | "warn"): void;
  /** Called with what the collector did not accept. */
  lost(kind: Kind, count: number): void;
  /** Runs work whose requests are not traced. */
  untraced<T>(work: () => Promise<T>): Promise<T>;
  proxied: PostOptions["proxied"];
}

export class Exporter {
  /** Null: traces are not exported. */
  readonly spans: SpanBuffer | null;
  readonly newestOnly: boolean;
  readonly sampler: Sampler;
  readonly propagation: Propagation;
  readonly measures: boolean;
  readonly #settings: ExportSettings;
  readonly #options: ExporterOptions;
  readonly #origin: Origin;
  readonly #spanQueue: Queue | null;
  readonly #metricQueue: Queue | null;
  #instruments: readonly (Counter | Histogram)[] = [];
  #start: number;
  #spanTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #metricTimer: ReturnType<typeof setInterval> | undefined;
  /** By kind of data: lost data that is not logged yet, and the times of the last lines. */
  readonly #told = {
    spans: { lost: 0, reportedAt: -Infinity, warnedAt: -Infinity },
    measurements: { lost: 0, reportedAt: -Infinity, warnedAt: -Infinity },
  };

  constructor(options: ExporterOptions) {
    this.#options = options;
    const settings = this.#settings = exportSettings(options.env);
    for (const mistake of settings.mistakes) options.log(`telemetry: ${mistake}`, "warn");
    this.newestOnly = settings.newestOnly;
    this.sampler = settings.sampler;
    this.propagation = new Propagation(settings.propagators);
    this.measures = settings.metrics !== null;
    this.#start = options.now();
    this.#origin = {
      resource: {
        "service.version": options.version,
        "service.instance.id": crypto.randomUUID(),
        "telemetry.sdk.name": "sluice",
        "telemetry.sdk.language": "deno",
        "telemetry.sdk.version": options.version,
        ...settings.resource,
      },
      scope: { name: "sluice", version: options.version },
    };
    const { traces, metrics } = settings;
    this.spans = traces === null
      ? null
      : traces.protocol === "http/json"
      ? new JsonSpans(this.#origin)
      : new ProtobufSpans(this.#origin);
    this.#spanQueue = traces &&
      this.#queue(traces, "spans", "/opentelemetry.proto.collector.trace.v1.TraceService/Export");
    this.#metricQueue = metrics &&
      this.#queue(metrics, "measurements", "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export");
    if (metrics !== null) {
      this.#metricTimer = setInterval(() => this.#exportMetrics(), settings.metricsEveryMs);
    }
  }

  /** Sets the instruments that are exported. */
  measure(instruments: readonly (Counter | Histogram)[]): void {
    this.#instruments = instruments;
  }

  /** Whether another span can be stored. */
  takes(): boolean {
    const { mostSpans } = this.#settings;
    if (mostSpans === null || this.#spanQueue!.count + this.spans!.count < mostSpans) return true;
    this.#report(1, "spans", "it takes them more slowly than they come");
    return false;
  }

  /** Must be called after a span was written. */
  ended(): void {
    const spans = this.spans!;
    if (spans.count >= this.#settings.batch || spans.size >= MOST_BATCH_BYTES) return this.#exportSpans();
    this.#spanTimer ??= setTimeout(() => this.#exportSpans(), this.#settings.spanDelayMs);
  }

  /** Exports the rest, within some seconds. @returns whether the collector answers */
  async close(): Promise<boolean> {
    clearInterval(this.#metricTimer);
    if (this.spans !== null && this.spans.count > 0) this.#exportSpans();
    clearTimeout(this.#spanTimer);
    // An export without data still shows whether the collector answers.
    this.#exportMetrics({ last: true });
    const answers = await Promise.all([this.#spanQueue?.close(CLOSE_MS), this.#metricQueue?.close(CLOSE_MS)]);
    return !answers.includes(false);
  }

  #exportSpans(): void {
    clearTimeout(this.#spanTimer);
    this.#spanTimer = undefined;
    const { count } = this.spans!;
    this.#spanQueue!.add({ body: this.spans!.take(), count });
  }

  #exportMetrics({ last = false } = {}): void {
    const { metrics, delta } = this.#settings;
    const points = this.#instruments.reduce((sum, { points }) => sum + points.length, 0);
    if (metrics === null || (points === 0 && !last)) return;
    // The values are sums since the start, so nothing is lost if an export is skipped while another one waits,
    // unless it is the last one.
    if (!delta && !last && this.#metricQueue!.count > 0) return;
    const encode = metrics.protocol === "http/json" ? jsonMetrics : protobufMetrics;
    const now = this.#options.now();
    const body = encode(this.#origin, { instruments: this.#instruments, start: this.#start, now, delta });
    if (delta) {
      this.#start = now;
      for (const { points } of this.#instruments) for (const point of points) point.reset();
    }
    this.#metricQueue!.add({ body, count: points });
  }

  #queue(to: Destination, what: Kind, path: PostOptions["path"]): Queue {
    const { random, untraced, log, proxied } = this.#options;
    const withheld = withheldOf(to);
    const opened = openPost(to, { path, readText: Deno.readTextFileSync, proxied });
    opened.catch((error: Error) => log(`telemetry: ${what} are not exported: ${error.message}`, "warn"));
    return new Queue({
      post: (body, signal) => untraced(async () => await (await opened)(body, signal)),
      timeoutMs: to.timeoutMs,
      lost: (count, why) => this.#report(count, what, withheld.refusal(why)),
      warned: (message) => this.#warn(what, withheld.refusal(message)),
      random,
    });
  }

  /** Logs lost data, at most once a minute for each kind. */
  #report(count: number, what: Kind, why: string): void {
    if (count === 0) return;
    const told = this.#told[what];
    told.lost += count;
    this.#options.lost(what, count);
    const now = this.#options.now();
    if (Math.abs(now - told.reportedAt) < REPORT_EVERY_MS) return;
    this.#options.log(
      `telemetry: ${told.lost} ${what} could not be exported to the collector: ${why}`,
      "warn",
    );
    told.reportedAt = now;
    told.lost = 0;
  }

  /** Logs what a collector says about data that it accepted, at most once a minute for each kind. */
  #warn(what: Kind, message: string): void {
    const told = this.#told[what];
    const now = this.#options.now();
    if (Math.abs(now - told.warnedAt) < REPORT_EVERY_MS) return;
    this.#options.log(`telemetry: the collector accepts ${what} with a warning: ${message}`, "warn");
    told.warnedAt = now;
  }
}

/** Removes the secrets of a destination from messages of its collector. */
function withheldOf({ url, headers }: Destination): Withheld {
  const { password } = new URL(url);
  return new Withheld({ ...headers, ...(password !== "" && { "url-password": percentDecoded(password) }) });
}
