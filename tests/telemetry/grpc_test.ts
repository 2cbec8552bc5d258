/** Collectors over gRPC that never come to an end, or end too soon, frame by frame. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { createSecureServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import type { Destination } from "../../src/telemetry/otlp/environment.ts";
import { grpcPost } from "../../src/telemetry/otlp/grpc.ts";
import { CA, TLS } from "../support/tls.ts";

const PATH = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const destination = (url: string): Destination => ({
  url,
  headers: {},
  protocol: "grpc",
  timeoutMs: 10_000,
  certificate: undefined,
  clientCertificate: undefined,
  clientKey: undefined,
});
const SETTINGS = 4;
const HEADERS = 1;

function frame(type: number, flags: number, stream: number, payload: readonly number[] = []): Uint8Array {
  const { length } = payload;
  return Uint8Array.of(
    length >> 16,
    length >> 8 & 255,
    length & 255,
    type,
    flags,
    0,
    0,
    0,
    stream,
    ...payload,
  );
}

function repeated(one: Uint8Array): Uint8Array {
  const all = new Uint8Array(one.length * Math.ceil(65_536 / one.length));
  for (let at = 0; at < all.length; at += one.length) all.set(one, at);
  return all;
}

const BEGIN = [frame(SETTINGS, 0, 0), frame(SETTINGS, 1, 0)];
const OK_HEAD = frame(HEADERS, 4, 1, [0x88]);

/** What follows the first frames, for as long as somebody takes it; null: the end. */
const COLLECTORS: readonly [what: string, first: readonly Uint8Array[], then: Uint8Array | null][] = [
  ["interim answers", BEGIN, frame(HEADERS, 4, 1, [0x08, 3, 0x31, 0x30, 0x33])],
  ["words that it goes away", BEGIN, frame(7, 0, 0, [0, 0, 0, 1, 0, 0, 0, 0])],
  ["resets", BEGIN, frame(3, 0, 1, [0, 0, 0, 8])],
  ["other addresses", BEGIN, frame(10, 0, 0, [0, 1, 97, 98, 99])],
  ["origins", BEGIN, frame(12, 0, 0, [0, 3, 97, 98, 99])],
  ["frames of no known type", BEGIN, frame(0xfa, 0, 0, [1, 2, 3])],
  ["priorities", BEGIN, frame(2, 0, 1, [0, 0, 0, 1, 1])],
  ["settings", BEGIN, frame(SETTINGS, 0, 0)],
  ["pings", BEGIN, frame(6, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0])],
  ["heads", [...BEGIN, OK_HEAD], OK_HEAD],
  ["empty messages", [...BEGIN, OK_HEAD], frame(0, 0, 1)],
  ["a head that does not end", [...BEGIN, frame(HEADERS, 0, 1, [0x88])], frame(9, 0, 1, [0x88])],
  ["nothing, and the end", [], null],
  ["settings, and the end", BEGIN, null],
];

for (const [what, first, then] of COLLECTORS) {
  Deno.test(`otlp over gRPC: a collector that sends ${what} is left, and little is read of it`, async () => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    let sent = 0;
    const serving = (async () => {
      const conn = await listener.accept();
      const write = async (bytes: Uint8Array) => {
        for (let done = 0; done < bytes.length;) {
          const n = await conn.write(bytes.subarray(done));
          done += n;
          sent += n;
        }
      };
      try {
        await conn.read(new Uint8Array(65_536));
        for (const bytes of first) await write(bytes);
        for (const flood = then && repeated(then); flood !== null;) await write(flood);
      } catch {
        // Nobody reads any more.
      } finally {
        conn.close();
      }
    })();
    const url = `http://127.0.0.1:${listener.addr.port}/`;
    const post = grpcPost(destination(url), PATH, {});
    const outcome = await post(new Uint8Array(100), new AbortController().signal).catch((error) => error);
    // What came to no answer is sent again.
    if (then === null) assert(outcome instanceof Error, JSON.stringify(outcome));
    else if (!(outcome instanceof Error)) assertEquals(outcome.kind, "refused");
    await serving;
    // The buffers of both ends, and what is read.
    assert(sent < 16 << 20, `${sent} bytes`);
    listener.close();
  });
}

Deno.test("otlp over gRPC: a collector behind TLS is known by its certificate, and a long batch arrives whole", async () => {
  let came = 0;
  const server = createSecureServer({ ...TLS, ALPNProtocols: ["h2"] });
  server.on("stream", (stream: ServerHttp2Stream) => {
    stream.on("data", (bytes: Uint8Array) => came += bytes.length);
    stream.on("end", () => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(new Uint8Array(5));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
  const body = new Uint8Array(3_000_000);
  const post = (certificates: { ca?: string }) =>
    grpcPost(destination(url), PATH, certificates)(body, new AbortController().signal);
  assertEquals(await post({ ca: CA }), { kind: "taken" });
  assertEquals(came, body.length + 5);
  const refused = await post({}).catch((error) => error);
  assertMatch(String(refused), /certificate|issuer/i);
  assertEquals(came, body.length + 5);
  await new Promise((resolve) => server.close(resolve));
});
