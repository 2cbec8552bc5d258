/** The bytes that are exported, read by a decoder that is not ours, and the ways to a collector. */
import { assert, assertEquals } from "@std/assert";
import { createServer, type ServerHttp2Stream } from "node:http2";
import { fixedOf } from "../../src/telemetry/otlp/attributes.ts";
import { telemetrySummary } from "../../src/commands/telemetry_summary.ts";
import { exportSettings } from "../../src/telemetry/otlp/environment.ts";
import { TELEMETRY_VARIABLES } from "../../src/telemetry/config.ts";
import { SpanId, TraceId } from "../../src/telemetry/otlp/ids.ts";
import { JsonSpans } from "../../src/telemetry/otlp/json_spans.ts";
import { jsonMetrics } from "../../src/telemetry/otlp/json_metrics.ts";
import { Counter, Histogram } from "../../src/telemetry/otlp/measurements.ts";
import { openPost } from "../../src/telemetry/otlp/post.ts";
import type { Outcome } from "../../src/telemetry/otlp/request.ts";
import { protobufMetrics } from "../../src/telemetry/otlp/protobuf_metrics.ts";
import { ProtobufSpans } from "../../src/telemetry/otlp/protobuf_spans.ts";
import { Queue } from "../../src/telemetry/otlp/queue.ts";
import { KIND, type SpanBuffer, type SpanHead } from "../../src/telemetry/otlp/spans.ts";
import { eventually } from "../support/time.ts";
import { decoded } from "./otlp_messages.ts";

const ORIGIN = {
  resource: { "service.name": "sluice", "host.name": "grün" },
  scope: { name: "sluice", version: "1" },
};
const HEAD: SpanHead = {
  trace: new TraceId(0x0af76519, 0x16cd43dd, 0x8448eb21, 0x1c80319c),
  id: new SpanId(0xb7ad6b71, 0x69203331),
  parent: null,
  remote: false,
  state: undefined,
  name: "chat m",
  kind: KIND.client,
  start: 1_795_350_571_395.25,
  end: 1_795_350_571_396.000001,
};

/** Spans short and long, with every type of value, texts of several bytes a character and numbers at their limits. */
function fill(spans: SpanBuffer): void {
  const fixed = fixedOf({ "a.b": "c", "server.port": 443 });
  spans.begin({ ...HEAD, name: "" });
  spans.end(null);
  spans.begin({ ...HEAD, parent: new SpanId(0, 1), remote: true, state: "vendor=1,other=ü" });
  spans.text("text", "ä€😀");
  spans.text("empty", "");
  spans.text("long", "x".repeat(127));
  spans.text("longer", "ü".repeat(20_000));
  for (const number of [0, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 53 - 1]) {
    spans.int(`int.${number}`, number);
  }
  spans.double("double", 0.1);
  spans.flag("yes", true);
  spans.flag("no", false);
  spans.texts("list", ["a", "ß", "x".repeat(300)]);
  spans.fixed(fixed);
  spans.end("provider_timeout");
  spans.begin(HEAD);
  spans.fixed(fixed);
  spans.end(null);
}

Deno.test("otlp: spans as bytes and as JSON say the same", () => {
  const [bytes, json] = [new ProtobufSpans(ORIGIN), new JsonSpans(ORIGIN)];
  for (let round = 0; round < 2; round++) {
    for (const spans of [bytes, json]) {
      fill(spans);
      assertEquals(spans.count, 3);
    }
    const request = decoded("Traces", bytes.take());
    // JSON has no place for what is empty or not there.
    const told = JSON.parse(new TextDecoder().decode(json.take()), (_, value) => value);
    assertEquals(plain(request), plain(told));
    assertEquals([bytes.count, json.count], [0, 0]);
    const [span] = spansOf(request).slice(1);
    assertEquals(span.traceId, "0af7651916cd43dd8448eb211c80319c");
    assertEquals([span.spanId, span.parentSpanId], ["b7ad6b7169203331", "0000000000000001"]);
    assertEquals([span.startTimeUnixNano, span.endTimeUnixNano], [
      "1795350571395250000",
      "1795350571396000000",
    ]);
    assertEquals([span.kind, span.flags, span.traceState], [3, 0x301, "vendor=1,other=ü"]);
    assertEquals(span.status, { code: 2, message: "provider_timeout" });
  }
});

Deno.test("otlp: measurements as bytes and as JSON say the same", () => {
  const about = { name: "m", description: "How long.", unit: "s" };
  const histogram = new Histogram(about, [0.5, 1, 5]);
  const counter = new Counter({ ...about, name: "c" });
  const labels = fixedOf({ a: "b", port: 80 });
  const point = histogram.point(labels);
  for (const value of [0.1, 0.5, 0.6, 5, 7]) point.record(value);
  histogram.point(fixedOf({ never: "measured" }));
  counter.point(labels).add(2 ** 40 + 3);
  const empty = new Histogram({ ...about, name: "empty" }, [1]);
  for (const delta of [false, true]) {
    const measured = { instruments: [histogram, counter, empty], start: 1000, now: 2000.5, delta };
    const request = decoded("Metrics", protobufMetrics(ORIGIN, measured));
    assertEquals(plain(request), plain(JSON.parse(new TextDecoder().decode(jsonMetrics(ORIGIN, measured)))));
    // deno-lint-ignore no-explicit-any
    const [first, second, ...more] = (request as any).resourceMetrics[0].scopeMetrics[0].metrics;
    assertEquals([first.name, second.name, more], ["m", "c", []]);
    assertEquals(first.histogram.aggregationTemporality, delta ? 1 : 2);
    const [seen] = first.histogram.dataPoints;
    assertEquals(seen.bucketCounts, ["2", "1", "1", "1"]);
    assertEquals([seen.count, seen.min, seen.max, seen.timeUnixNano], ["5", 0.1, 7, "2000500000"]);
    assertEquals(second.sum.dataPoints[0].asInt, String(2 ** 40 + 3));
  }
});

Deno.test("otlp: the variables of OpenTelemetry say where to and how", () => {
  const asked = new Set<string>();
  const of = (variables: Record<string, string>) =>
    exportSettings((name) => {
      asked.add(name);
      return variables[name];
    });
  const usual = of({});
  assertEquals(usual.traces?.url, "http://localhost:4318/v1/traces");
  assertEquals(usual.metrics?.url, "http://localhost:4318/v1/metrics");
  assertEquals([usual.traces?.protocol, usual.resource], ["http/protobuf", { "service.name": "sluice" }]);
  assertEquals(usual.mistakes, []);

  const one = of({
    OTEL_EXPORTER_OTLP_ENDPOINT: "https://col.test/base/",
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "https://other.test/m",
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20eDp5,x-a = b ,bad name=1,evil=a%0d%0ab",
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: "only=these",
    OTEL_EXPORTER_OTLP_TIMEOUT: "2000",
    OTEL_RESOURCE_ATTRIBUTES: "service.name=a,deployment.environment.name=prod%2Ctest",
    OTEL_SERVICE_NAME: "gate",
    OTEL_METRICS_EXPORTER: "otlp",
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "delta",
    OTEL_SEMCONV_STABILITY_OPT_IN: "http, gen_ai_latest_experimental",
  });
  assertEquals(one.traces?.url, "https://col.test/base/v1/traces");
  assertEquals(one.metrics?.url, "https://other.test/m");
  assertEquals(one.traces?.headers, { only: "these" });
  assertEquals(one.metrics?.headers, { authorization: "Basic eDp5", "x-a": "b" });
  assertEquals([one.traces?.timeoutMs, one.delta, one.newestOnly], [2000, true, true]);
  assertEquals(one.resource, { "service.name": "gate", "deployment.environment.name": "prod,test" });

  assertEquals(of({ OTEL_TRACES_EXPORTER: "none" }).traces, null);
  assertEquals(of({ OTEL_METRICS_EXPORTER: " None" }).metrics, null);
  // A name that is not known must not look like one that is.
  const console = of({ OTEL_TRACES_EXPORTER: "console", OTEL_METRICS_EXPORTER: "otlp,prometheus" });
  assert(console.traces !== null && console.metrics !== null);
  assertEquals(console.mistakes, [
    'OTEL_TRACES_EXPORTER contains "console", expected otlp or none; otlp is used',
    'OTEL_METRICS_EXPORTER contains "prometheus", expected otlp or none; otlp is used',
  ]);
  const grpc = of({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" });
  assertEquals([grpc.traces?.url, grpc.metrics?.url], ["http://localhost:4317", "http://localhost:4317"]);

  const wrong = of({
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "smoke",
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "not an address",
    OTEL_BSP_SCHEDULE_DELAY: "soon",
  });
  assertEquals([wrong.traces, wrong.metrics], [null, null]);
  assertEquals(wrong.mistakes.length, 3);
  assert(wrong.mistakes.some((text) => text.includes('"smoke", expected one of http/protobuf')));

  const sampler = (name: string, arg = "0.25") =>
    of({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: arg }).sampler;
  assertEquals(usual.sampler, { share: 1, parentBased: true });
  assertEquals(sampler(" TraceIdRatio "), { share: 0.25, parentBased: false });
  assertEquals(sampler("parentbased_traceidratio"), { share: 0.25, parentBased: true });
  assertEquals(sampler("traceidratio", ""), { share: 1, parentBased: false });
  assertEquals(sampler("always_on"), { share: 1, parentBased: false });
  assertEquals(sampler("always_off"), { share: 0, parentBased: false });
  assertEquals(sampler("parentbased_always_off"), { share: 0, parentBased: true });
  for (const [name, arg] of [["jaeger_remote", "0.1"], ["toString", "0.1"], ["traceidratio", "10%"]]) {
    const { sampler, mistakes } = of({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: arg });
    assertEquals([sampler.share, mistakes.length], [1, 1], name);
  }

  // What is asked for must be among the permissions that `sluice permissions` prints.
  const listed = new Set([...TELEMETRY_VARIABLES, "OTEL_RESOURCE_ATTRIBUTES"]);
  assertEquals([...asked].filter((name) => !listed.has(name)), []);
});

Deno.test("otlp: check says where telemetry goes, and what is wrong with its variables, without a secret", () => {
  const of = (variables: Record<string, string>) => telemetrySummary((name) => variables[name]);
  assertEquals(of({}), {
    line:
      "telemetry  traces to http://localhost:4318/v1/traces (http/protobuf), metrics to http://localhost:4318/v1/metrics (http/protobuf)",
    warnings: [],
  });
  const { line, warnings } = of({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://ada:canary@col.test/t?key=canary",
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=canary",
    OTEL_METRICS_EXPORTER: "none",
    OTEL_PROPAGATORS: "jaeger",
    OTEL_BSP_SCHEDULE_DELAY: "soon",
  });
  assert(line.includes("col.test/t") && line.endsWith("metrics are not exported"), line);
  assertEquals(warnings.map((warning) => /telemetry: (\w+)/.exec(warning)?.[1]), [
    "OTEL_PROPAGATORS",
    "OTEL_BSP_SCHEDULE_DELAY",
  ]);
  assert(!(line + warnings).includes("canary"), line);
});

Deno.test("otlp: over gRPC a message and its status go over HTTP/2", async () => {
  const seen: { path: string; bytes: Uint8Array; headers: Record<string, unknown> }[] = [];
  let status = 0;
  const server = createServer();
  server.on("stream", (stream: ServerHttp2Stream, headers: Record<string, unknown>) => {
    const chunks: Uint8Array[] = [];
    stream.on("data", (chunk: Uint8Array) => chunks.push(new Uint8Array(chunk)));
    stream.on("end", () => {
      const all = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
      let at = 0;
      for (const chunk of chunks) {
        all.set(chunk, at);
        at += chunk.length;
      }
      seen.push({ path: String(headers[":path"]), bytes: all, headers });
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": String(status) }));
      stream.end(new Uint8Array(5));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as { port: number };
  const settings = exportSettings((name) =>
    ({
      OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20x",
    })[name]
  );
  const path = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
  const post = await openPost(settings.traces!, {
    path,
    readText: Deno.readTextFileSync,
    proxied: () => false,
  });
  const spans = new ProtobufSpans(ORIGIN);
  fill(spans);
  const body = spans.take();
  const outcomes: Outcome["kind"][] = [];
  // RESOURCE_EXHAUSTED is retried only if the answer says when.
  for (status of [0, 14, 3, 8]) {
    outcomes.push((await post(body, new AbortController().signal)).kind);
  }
  assertEquals(outcomes, ["taken", "later", "refused", "refused"]);
  assertEquals([seen[0].path, seen[0].headers.authorization], [path, "Bearer x"]);
  assertEquals(new DataView(seen[0].bytes.buffer).getUint32(1), body.length);
  assertEquals(spansOf(decoded("Traces", seen[0].bytes.subarray(5))).length, 3);
  await new Promise((resolve) => server.close(resolve));
});

Deno.test("otlp: what a collector does not take is tried again, is bounded, and ends with the process", async () => {
  const lost: [number, string][] = [];
  const queueOf = (outcomes: (Outcome | Error)[], timeoutMs = 10_000) => {
    let sent = 0;
    const queue = new Queue({
      post: (_, signal) => {
        sent++;
        const next = outcomes.shift();
        if (next instanceof Error) return Promise.reject(next);
        if (next !== undefined) return Promise.resolve(next);
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
      timeoutMs,
      lost: (count, why) => lost.push([count, why]),
      warned: (message) => lost.push([0, message]),
      random: () => 0,
    });
    return { queue, sent: () => sent };
  };
  const body = new Uint8Array(10);
  const again = queueOf([
    { kind: "later", why: "it answered 503", afterMs: 0 },
    { kind: "taken", partial: null },
  ]);
  again.queue.add({ body, count: 3 });
  await eventually(() => again.queue.count === 0);
  assertEquals([again.sent(), lost], [2, []]);

  const partly = queueOf([
    { kind: "taken", partial: { rejected: 2, message: "too old" } },
    { kind: "taken", partial: { rejected: 2 ** 60, message: "" } },
    { kind: "taken", partial: { rejected: 0, message: "use gRPC" } },
  ]);
  for (let i = 0; i < 3; i++) partly.queue.add({ body, count: 3 });
  await partly.queue.close(10_000);
  assertEquals([partly.sent(), lost.splice(0)], [3, [
    [2, "it rejected them: too old"],
    [3, "it rejected them"],
    [0, "use gRPC"],
  ]]);

  const refused = queueOf([{ kind: "refused", why: "it answered 401" }]);
  refused.queue.add({ body, count: 3 });
  await refused.queue.close(10_000);
  assertEquals([refused.sent(), lost.splice(0)], [1, [[3, "it answered 401"]]]);

  // What waits for another try is tried once more, and no longer.
  const down = queueOf([1, 2].map(() => ({ kind: "later", why: "it answered 503", afterMs: 1e9 })));
  down.queue.add({ body, count: 1 });
  for (let i = 0; i < 20; i++) await null;
  await down.queue.close(10_000);
  assertEquals([down.sent(), lost.splice(0)], [2, [[1, "it answered 503"]]]);

  const refusal = new Deno.errors.ConnectionRefused("Connection refused (os error 111)");
  const absent = queueOf([refusal, refusal]);
  absent.queue.add({ body, count: 1 });
  await absent.queue.close(10_000);
  assertEquals(lost.splice(0), [[1, "it cannot be reached: the connection was refused"]]);

  const silent = queueOf([]);
  silent.queue.add({ body: new Uint8Array(20 << 20), count: 5 });
  silent.queue.add({ body: new Uint8Array(20 << 20), count: 7 });
  assertEquals(lost.splice(0), [[7, "it takes them more slowly than they come"]]);
  silent.queue.add({ body, count: 2 });
  await silent.queue.close(20);
  assertEquals(lost, [[5, "it did not answer in time"], [2, "the process ended"]]);
});

type Loose = Record<string, unknown>;

// deno-lint-ignore no-explicit-any
const spansOf = (request: any): Loose[] => request.resourceSpans[0].scopeSpans[0].spans;

/** Without what is empty, which bytes leave out, and with the fields of objects in order. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([name, of]) =>
      !(of === "" && /^(?:parentSpanId|name)$/.test(name)) && !(Array.isArray(of) && of.length === 0)
    ).map(([name, of]) => [name, plain(of)] as const).sort(([a], [b]) => a < b ? -1 : 1),
  );
}

Deno.test("otlp: an answer by gRPC that does not end is left, and its batch given up", async () => {
  const server = createServer();
  server.on("stream", (stream: ServerHttp2Stream) => {
    stream.on("error", () => {});
    stream.respond({ ":status": 200, "content-type": "application/grpc" });
    const more = () => {
      while (stream.write(new Uint8Array(65_536)));
      stream.once("drain", more);
    };
    more();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as { port: number };
  const settings = exportSettings((name) =>
    ({
      OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    })[name]
  );
  const post = await openPost(settings.traces!, {
    path: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    readText: Deno.readTextFileSync,
    proxied: () => false,
  });
  assertEquals(await post(new Uint8Array(9), new AbortController().signal), {
    kind: "refused",
    why: "its answer does not end",
  });
  await new Promise<void>((resolve) => server.close(() => resolve()));
});
