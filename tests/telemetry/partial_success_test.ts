/** Collectors that accept a request and reject some of its data (`partial_success` of OTLP). */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { Buffer } from "node:buffer";
import { createServer, type ServerHttp2Stream } from "node:http2";
import protobuf from "protobufjs";
import { partialSuccess, retryDelayMs } from "../../src/telemetry/otlp/answers.ts";
import { Exporter } from "../../src/telemetry/otlp/exporter.ts";
import { exportSettings } from "../../src/telemetry/otlp/environment.ts";
import { openPost } from "../../src/telemetry/otlp/post.ts";
import { TRACEPARENT, withRig } from "./rig.ts";

const field = (id: number, type: string, rule?: "repeated") => ({ id, type, ...(rule && { rule }) });
const ROOT = protobuf.Root.fromJSON({
  nested: {
    Answer: { fields: { partialSuccess: field(1, "Partial") } },
    Partial: { fields: { rejected: field(1, "int64"), errorMessage: field(2, "string") } },
    Status: {
      fields: { code: field(1, "int32"), message: field(2, "string"), details: field(3, "Any", "repeated") },
    },
    Any: { fields: { typeUrl: field(1, "string"), value: field(2, "bytes") } },
    RetryInfo: { fields: { retryDelay: field(1, "Duration") } },
    Duration: { fields: { seconds: field(1, "int64"), nanos: field(2, "int32") } },
  },
});
const bytesOf = (type: string, value: Record<string, unknown>) =>
  new Uint8Array(ROOT.lookupType(type).encode(ROOT.lookupType(type).fromObject(value)).finish());
const answer = (rejected: number, errorMessage: string) =>
  bytesOf("Answer", { partialSuccess: { rejected, errorMessage } });
const text = (value: string) => new TextEncoder().encode(value);

Deno.test("otlp: what a collector rejects is read from bytes and from JSON", () => {
  const cases: [Uint8Array, "json" | "protobuf", ReturnType<typeof partialSuccess>][] = [
    [answer(3, "too old"), "protobuf", { rejected: 3, message: "too old" }],
    [answer(70_000, ""), "protobuf", { rejected: 70_000, message: "" }],
    [answer(0, "use gRPC"), "protobuf", { rejected: 0, message: "use gRPC" }],
    [answer(0, ""), "protobuf", null],
    [new Uint8Array(), "protobuf", null],
    [text("{}"), "protobuf", null],
    [answer(3, "too old").subarray(0, 6), "protobuf", null],
    [text("{}"), "json", null],
    [text(""), "json", null],
    [text("[1"), "json", null],
    [text('{"partialSuccess":null}'), "json", null],
    [text('{"partialSuccess":{"rejectedSpans":"2","errorMessage":"old"}}'), "json", {
      rejected: 2,
      message: "old",
    }],
    [text('{"partialSuccess":{"rejectedDataPoints":4}}'), "json", { rejected: 4, message: "" }],
    [text('{"partial_success":{"rejected_spans":2}}'), "json", { rejected: 2, message: "" }],
    [text('{"partialSuccess":{"rejectedSpans":"-2","errorMessage":7}}'), "json", null],
  ];
  for (const [body, encoding, told] of cases) assertEquals(partialSuccess(body, encoding), told);
  assertEquals(partialSuccess(answer(1, "x".repeat(5000)), "protobuf")?.message.length, 200);
});

Deno.test("otlp: a gRPC service says when to try again", async () => {
  const value = bytesOf("RetryInfo", { retryDelay: { seconds: 2, nanos: 500_000_000 } });
  const details = [
    { typeUrl: "type.googleapis.com/google.rpc.DebugInfo", value: text("x") },
    { typeUrl: "type.googleapis.com/google.rpc.RetryInfo", value },
  ];
  const told = Buffer.from(bytesOf("Status", { code: 8, message: "slow", details })).toString("base64");
  assertEquals(retryDelayMs(told), 2500);
  assertEquals(retryDelayMs(told.replace(/=+$/, "")), 2500);
  for (const none of [undefined, "", "%%%", "AAAA", Buffer.from("x").toString("base64")]) {
    assertEquals(retryDelayMs(none), undefined);
  }

  const trailers = [{ "grpc-status": "0" }, { "grpc-status": "8", "grpc-status-details-bin": told }];
  const message = answer(1, "too old");
  const framed = new Uint8Array([0, 0, 0, 0, message.length, ...message]);
  const server = createServer();
  server.on("stream", (stream: ServerHttp2Stream) => {
    stream.resume();
    stream.on("end", () => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers(trailers.shift()!));
      // In two parts, which may be read apart.
      stream.write(framed.subarray(0, 3));
      stream.end(framed.subarray(3));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as { port: number };
  const env: Record<string, string> = {
    OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
  };
  const post = await openPost(exportSettings((name) => env[name]).traces!, {
    path: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    readText: Deno.readTextFileSync,
    proxied: () => false,
  });
  const outcomes = [];
  for (let i = 0; i < 2; i++) outcomes.push(await post(new Uint8Array(9), new AbortController().signal));
  assertEquals(outcomes, [
    { kind: "taken", partial: { rejected: 1, message: "too old" } },
    { kind: "later", why: "it answered gRPC status 8", afterMs: 2500 },
  ]);
  await new Promise<void>((resolve) => server.close(() => resolve()));
});

Deno.test("telemetry: data that a collector rejects is counted and logged, without the collector's key", async () => {
  for (const protocol of ["http/json", "http/protobuf"]) {
    const message = "quota of key canary-1234-secret is used";
    const body = protocol === "http/json"
      ? text(JSON.stringify({ partialSuccess: { rejectedSpans: "2", errorMessage: message } }))
      : answer(2, message);
    await withRig(async ({ ask, gateway, receiver }) => {
      await (await ask({}, { traceparent: TRACEPARENT })).text();
      await gateway.said("could not be exported");
      // Deno's own exporter prints what the collector says.
      const lines = `${gateway.out()}${gateway.err()}`.replaceAll(/^name="Http.*\n/gm, "");
      assert(lines.includes("it rejected them: quota of key [withheld] is used"), lines);
      assert(!lines.includes("canary-1234"), lines);
      const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
      // Spans may go in several requests, each of which is told that two are rejected.
      assertMatch(metrics, /^sluice_telemetry_lost_total\{kind="spans"\} [1-9]/m);
      // Accepted data is not sent again.
      assertEquals(new Set(receiver.raw).size, receiver.raw.length);
    }, {
      answer: () => new Response(body as Uint8Array<ArrayBuffer>),
      env: {
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_EXPORTER_OTLP_HEADERS: "x-api-key=canary-1234-secret",
        OTEL_METRICS_EXPORTER: "none",
        OTEL_DENO_TRACING: "false",
        OTEL_DENO_CONSOLE: "ignore",
      },
    });
  }
});

Deno.test("otlp: a password in an address that is not encoded correctly does not stop a start", async () => {
  const logged: string[] = [];
  const env: Record<string, string> = {
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://ada:%zz@127.0.0.1:1",
    OTEL_METRIC_EXPORT_INTERVAL: "600000",
  };
  const exporter = new Exporter({
    env: (name) => env[name],
    version: "1",
    now: Date.now,
    random: Math.random,
    log: (line) => logged.push(line),
    lost: () => {},
    untraced: (work) => work(),
    proxied: () => false,
  });
  await exporter.close();
  assert(!logged.join().includes("%zz"), logged.join());
});
