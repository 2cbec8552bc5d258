/** Callers that speak HTTP/2, send PING frames and take nothing of their answers. */
import { assertEquals } from "@std/assert";
import { type ClientHttp2Session, connect } from "node:http2";
import { PlainResponse } from "../../src/transport/plain_response.ts";
import { AnswerFrames } from "../../src/transport/http2_watch.ts";
import { joined } from "../support/event_stream.ts";
import { eventually, StoppedClock } from "../support/time.ts";
import { CA } from "../support/tls.ts";
import { listeningTls, passing } from "./caller.ts";

const small = () => Promise.resolve(new PlainResponse("small", { headers: {} }));

/** Longer answers are only reported as delivered when the client has taken them. */
const LARGE = "x".repeat(100_000);

/** Sends PING frames until the connection is closed. */
function pinging(session: ClientHttp2Session): void {
  session.on("error", () => {});
  const timer = setInterval(() => session.destroyed ? clearInterval(timer) : session.ping(() => {}), 20);
  session.on("close", () => clearInterval(timer));
}

for (const [name, settings] of [["of a small answer", { initialWindowSize: 0 }], ["further", {}]] as const) {
  Deno.test(`a caller over HTTP/2 who only sends PING and takes nothing ${name} is left after a while`, async () => {
    const clock = new StoppedClock();
    const { server } = await listeningTls({ idleMs: 300, clock, looking: false, handle: small });
    const session = connect(`https://localhost:${server.addr.port}`, { ca: CA, settings });
    pinging(session);
    const stream = session.request({ ":path": "/" });
    stream.on("error", () => {});
    stream.resume();
    await new Promise((resolve) => stream.once("response", resolve));
    await passing(server, clock, () => session.destroyed || session.closed);
    await eventually(() => Object.keys(server.connections).length === 0);
    await server.shutdown();
  });
}

Deno.test("callers over HTTP/2 who take nothing of their answers make place for who comes", async () => {
  const handle = () => Promise.resolve(new PlainResponse(LARGE, { headers: {} }));
  const { server } = await listeningTls({ maxConnections: { most: 2 }, handle });
  const address = `https://localhost:${server.addr.port}`;
  const sessions: ClientHttp2Session[] = [];
  for (let i = 0; i < 2; i++) {
    const session = connect(address, { ca: CA, settings: { initialWindowSize: 0 } });
    sessions.push(session);
    pinging(session);
    const stream = session.request({ ":path": "/" });
    stream.on("error", () => {});
    await new Promise((resolve) => stream.once("response", resolve));
  }
  await eventually(() => server.connections.writing === 2);
  const client = Deno.createHttpClient({ caCerts: [CA], http2: false, http1: true });
  await eventually(async () => await fetch(address, { client }).then((r) => r.text(), () => "") === LARGE);
  client.close();
  for (const session of sessions) session.destroy();
  await server.shutdown();
});

function frame(type: number, length: number): Uint8Array {
  const bytes = new Uint8Array(9 + length);
  bytes.set([length >> 16, length >> 8, length, type, 0, 0, 0, 0, 1]);
  return bytes;
}

Deno.test("AnswerFrames tells parts of answers from other frames, however the bytes are cut", () => {
  const [DATA, HEADERS, SETTINGS, PING, GOAWAY, WINDOW] = [0, 1, 4, 6, 7, 8];
  const none = [frame(SETTINGS, 18), frame(SETTINGS, 0), frame(PING, 8), frame(WINDOW, 4), frame(GOAWAY, 8)];
  assertEquals(new AnswerFrames().carry(joined(none)), false);
  const bytes = joined([...none, frame(HEADERS, 30), ...none, frame(DATA, 70_000), ...none]);
  for (const length of [1, 7, 9, 16_384]) {
    const frames = new AnswerFrames();
    let carrying = 0;
    for (let at = 0; at < bytes.length; at += length) {
      if (frames.carry(bytes.subarray(at, at + length))) carrying++;
    }
    // With single bytes: the payloads and the last byte of each frame's head.
    if (length === 1) assertEquals(carrying, 70_000 + 30 + 2);
    assertEquals(frames.carry(frame(PING, 8)), false);
    assertEquals(frames.carry(frame(DATA, 1)), true);
  }
});
