/** The settings of the export, what is logged of lost data, and what the last export contains. */
import { assert, assertEquals } from "@std/assert";
import { fixedOf } from "../../src/telemetry/otlp/attributes.ts";
import { exportSettings } from "../../src/telemetry/otlp/environment.ts";
import { Exporter } from "../../src/telemetry/otlp/exporter.ts";
import { newSpanId, newTraceId } from "../../src/telemetry/otlp/ids.ts";
import { Counter } from "../../src/telemetry/otlp/measurements.ts";
import { openPost } from "../../src/telemetry/otlp/post.ts";
import { KIND } from "../../src/telemetry/otlp/spans.ts";
import { eventually } from "../support/time.ts";

const PATH = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const settingsOf = (env: Record<string, string>) => exportSettings((name) => env[name]);

Deno.test("otlp: a time that no timer has is refused: it would be over immediately", () => {
  const times = [
    ["OTEL_EXPORTER_OTLP_TIMEOUT", "10000"],
    ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "10000"],
    ["OTEL_BSP_SCHEDULE_DELAY", "1000"],
    ["OTEL_METRIC_EXPORT_INTERVAL", "60000"],
  ];
  const used = (env: Record<string, string>) => {
    const { traces, spanDelayMs, metricsEveryMs } = settingsOf(env);
    return [traces!.timeoutMs, spanDelayMs, metricsEveryMs].map(String);
  };
  for (const [name, usual] of times) {
    for (const wrong of ["2147483648", "1e300", "0", "-1", "soon"]) {
      assertEquals(settingsOf({ [name]: wrong }).mistakes, [
        `${name} is "${wrong}", expected a number from 1 to 2147483647; ${usual} is used`,
      ]);
      assertEquals(used({ [name]: wrong }), used({}));
    }
    for (const right of ["1", "2147483647"]) {
      assertEquals(settingsOf({ [name]: right }).mistakes, []);
      assert(used({ [name]: right }).includes(right), name);
    }
  }
  // A number of spans is not a time.
  assertEquals(settingsOf({ OTEL_BSP_MAX_QUEUE_SIZE: "1e10" }).mostSpans, 1e10);
});

Deno.test("otlp: a setting that cannot be used is named by the variable that counts, without secrets", () => {
  const own = "OTEL_EXPORTER_OTLP_METRICS";
  for (
    const [env, mistake] of [
      [
        { [`${own}_PROTOCOL`]: "http", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
        `${own}_PROTOCOL is "http", expected one of http/protobuf, http/json, grpc; metrics are not exported`,
      ],
      [
        { [`${own}_ENDPOINT`]: "canary", OTEL_EXPORTER_OTLP_ENDPOINT: "http://c.test" },
        `${own}_ENDPOINT is no address, expected one like http://localhost:4318; metrics are not exported`,
      ],
      [
        { [`${own}_HEADERS`]: "x-a=b, Authorization: Bearer canary==", OTEL_EXPORTER_OTLP_HEADERS: "c=d" },
        `${own}_HEADERS: entry 2 is no header, expected NAME=VALUE with commas between them; it is left out`,
      ],
      [
        { OTEL_EXPORTER_OTLP_HEADERS: "authorization: canary" },
        "OTEL_EXPORTER_OTLP_HEADERS: entry 1 is no header, expected NAME=VALUE with commas between them; " +
        "it is left out",
      ],
      [
        { OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: "/cert.pem" },
        "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE is set alone, expected a certificate and its key " +
        "(OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY); it is ignored",
      ],
      [
        { [`${own}_CLIENT_KEY`]: "/key.pem" },
        `${own}_CLIENT_KEY is set alone, expected a certificate and its key ` +
        "(OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY); it is ignored",
      ],
    ] as [Record<string, string>, string][]
  ) {
    const { mistakes, metrics } = settingsOf(env);
    assertEquals(mistakes, [mistake]);
    assertEquals(metrics?.clientKey, undefined);
    assert(!mistakes.join().includes("canary"));
  }
  const { mistakes, traces } = settingsOf({
    OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: "/cert.pem",
    OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: "/key.pem",
    OTEL_METRICS_EXPORTER: "none",
  });
  assertEquals([mistakes, traces?.clientCertificate, traces?.clientKey], [[], "/cert.pem", "/key.pem"]);
});

Deno.test("otlp: the login of an address is sent once, in every way to a collector", async () => {
  const address = "http://ad%C3%A4:p%40ss@127.0.0.1";
  const usual = settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: address, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" });
  const login = `Basic ${new TextEncoder().encode("adä:p@ss").toBase64()}`;
  assertEquals(usual.traces?.headers, { authorization: login });
  const seen: (string | null)[] = [];
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, ({ headers }) => {
    seen.push(headers.get("authorization"));
    return new Response();
  });
  for (const headers of ["", "authorization=Bearer%20x"]) {
    const { traces } = settingsOf({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${address}:${server.addr.port}`,
      OTEL_EXPORTER_OTLP_HEADERS: headers,
    });
    for (const through of [true, false]) {
      const post = await openPost(traces!, {
        path: PATH,
        readText: Deno.readTextFileSync,
        proxied: () => through,
      });
      await post(new Uint8Array(3), new AbortController().signal);
    }
  }
  assertEquals(seen, [login, login, "Bearer x", "Bearer x"]);
});

/** An exporter to a collector on this machine, with a counter. */
async function exporting(
  answer: (request: Request) => Response | Promise<Response>,
  test: (of: {
    exporter: Exporter;
    count(): void;
    span(): void;
    logged: string[];
  }) => Promise<void>,
): Promise<void> {
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, answer);
  const env: Record<string, string> = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${server.addr.port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_METRIC_EXPORT_INTERVAL: "20",
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "1",
  };
  const logged: string[] = [];
  const exporter = new Exporter({
    env: (name) => env[name],
    version: "1",
    now: () => 1_800_000_000_000,
    random: () => 0,
    log: (line) => logged.push(line),
    lost: () => {},
    untraced: (work) => work(),
    proxied: () => false,
  });
  const counter = new Counter({ name: "calls", unit: "1", description: "" });
  const point = counter.point(fixedOf({}));
  exporter.measure([counter]);
  await test({
    exporter,
    logged,
    count: () => point.add(1),
    span() {
      exporter.spans!.begin({
        trace: newTraceId(),
        id: newSpanId(),
        parent: null,
        remote: false,
        state: undefined,
        name: "one",
        kind: KIND.client,
        start: 1,
        end: 2,
      });
      exporter.spans!.end(null);
      exporter.ended();
    },
  });
}

Deno.test("otlp: lost spans and lost measurements are logged apart, each with its own count", async () => {
  let asked = 0;
  await exporting(() => {
    asked++;
    return new Response("", { status: 401 });
  }, async ({ exporter, logged, count, span }) => {
    count();
    for (let i = 0; i < 3; i++) span();
    await eventually(() => asked >= 5);
    await exporter.close();
    const why = "could not be exported to the collector: it answered 401";
    assertEquals(logged.sort(), [`telemetry: 1 measurements ${why}`, `telemetry: 1 spans ${why}`]);
  });
});

Deno.test("otlp: the last export has the measurements since one that is still waiting", async () => {
  const first = Promise.withResolvers<void>();
  const values: number[] = [];
  await exporting(async (request) => {
    const { resourceMetrics: [{ scopeMetrics: [{ metrics: [metric] }] }] } = await request.json();
    values.push(Number(metric.sum.dataPoints[0].asInt));
    if (values.length === 1) await first.promise;
    return new Response("{}");
  }, async ({ exporter, count }) => {
    count();
    await eventually(() => values.length === 1);
    count();
    const closing = exporter.close();
    first.resolve();
    assertEquals(await closing, true);
    assertEquals(values, [1, 2]);
  });
});
