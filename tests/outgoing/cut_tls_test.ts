/** Connections over TLS that end without the alert that says so (close_notify): whoever is on the way may have cut them. */
import { assertEquals } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { sendByFetch } from "../../src/outgoing/fetch_reply.ts";
import { sendHttp1 } from "../../src/outgoing/http1.ts";
import type { Exchange } from "../../src/outgoing/reply.ts";
import { Ticker } from "../../src/timing/ticker.ts";
import { CA, TLS } from "../support/tls.ts";

const LOST = "provider_unavailable";

/** What has come of an answer when the connection is cut, and what it comes to. */
const CASES: readonly [name: string, written: string, comesTo: string][] = [
  ["a body without a length", "\r\nab", LOST],
  ["half a body", "content-length: 9\r\n\r\nab", LOST],
  ["a body", "content-length: 2\r\n\r\nab", "ab"],
  ["chunks without their end", "transfer-encoding: chunked\r\n\r\n2\r\nab\r\n", LOST],
  ["chunks without the last line", "transfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n", LOST],
  ["chunks", "transfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", "ab"],
];

/** A server that answers one request and keeps the connection open, behind a relay that can cut it. */
function behindRelay(written: string) {
  const at = { hostname: "127.0.0.1", port: 0 };
  const server = Deno.listenTls({ ...at, ...TLS, alpnProtocols: ["http/1.1"] });
  const relay = Deno.listen(at);
  const open: Deno.Conn[] = [];
  const copy = async (from: Deno.Conn, to: Deno.Conn) => {
    const buffer = new Uint8Array(4096);
    for (let n = await from.read(buffer); n !== null; n = await from.read(buffer)) {
      for (let done = 0; done < n;) done += await to.write(buffer.subarray(done, n));
    }
  };
  const serving = (async () => {
    const inner = await relay.accept();
    const outer = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
    open.push(inner, outer);
    const copying = [copy(inner, outer), copy(outer, inner)].map((all) => all.catch(() => {}));
    const conn = await server.accept();
    open.push(conn);
    await conn.read(new Uint8Array(4096));
    await conn.write(new TextEncoder().encode(`HTTP/1.1 200 OK\r\n${written}`));
    await Promise.all(copying);
  })();
  return {
    url: `https://localhost:${relay.addr.port}/`,
    async cut() {
      for (const conn of open) conn.close();
      await serving;
      relay.close();
      server.close();
    },
  };
}

for (const client of ["the own client", "fetch"]) {
  for (const [name, written, comesTo] of CASES) {
    Deno.test(`with ${client}, a connection that is cut behind ${name} comes to ${comesTo}`, async () => {
      const relay = behindRelay(written);
      using fetchClient = Deno.createHttpClient({ caCerts: [CA] });
      const ticker = new Ticker();
      const exchange: Exchange = {
        url: relay.url,
        headers: {},
        body: "{}",
        firstByteMs: 60_000,
        idleMs: 60_000,
      };
      const reply = await (client === "fetch"
        ? sendByFetch(exchange, ticker, { client: fetchClient })
        : sendHttp1(exchange, ticker, [CA]));
      let text = new TextDecoder().decode((await reply.read())!);
      await relay.cut();
      try {
        for (let bytes = await reply.read(); bytes !== null; bytes = await reply.read()) {
          text += new TextDecoder().decode(bytes);
        }
      } catch (thrown) {
        const failure = Failure.from(thrown);
        assertEquals([text, failure.begun], ["ab", true]);
        text = failure.code;
      }
      assertEquals(text, comesTo);
      reply.close();
      ticker.close();
    });
  }
}
