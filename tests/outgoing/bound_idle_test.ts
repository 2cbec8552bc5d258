/** A shorter idle timeout for the rest of an answer, in each client of providers. */
import { assertEquals, assertMatch } from "@std/assert";
import { createServer, type ServerResponse } from "node:http";
import { createSecureServer, type Http2ServerResponse } from "node:http2";
import type { AddressInfo } from "node:net";
import { sendByFetch } from "../../src/outgoing/fetch_reply.ts";
import { sendHttp1 } from "../../src/outgoing/http1.ts";
import type { Exchange, Reply } from "../../src/outgoing/reply.ts";
import type { Ticker } from "../../src/timing/ticker.ts";
import { eventually, stoppedTicker, turns } from "../support/time.ts";
import { TLS } from "../support/tls.ts";
import { ask } from "./http2/raw_server.ts";

const CLIENTS: Record<string, (exchange: Exchange, ticker: Ticker) => Promise<Reply>> = {
  "HTTP/1.1": (exchange, ticker) => sendHttp1(exchange, ticker),
  "HTTP/2": ({ url, ...exchange }, ticker) => ask(url, ticker, exchange),
  "fetch": (exchange, ticker) => sendByFetch(exchange, ticker),
};

for (const [name, send] of Object.entries(CLIENTS)) {
  Deno.test(`${name}: a read waits for the idle timeout, and no longer than the bound that was set last`, async () => {
    const begin = (_: unknown, response: ServerResponse | Http2ServerResponse) => {
      response.setHeader("content-type", "text/event-stream");
      (response as ServerResponse).write("ab");
    };
    const secure = name === "HTTP/2";
    const server = secure ? createSecureServer(TLS, begin) : createServer(begin);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http${secure ? "s" : ""}://localhost:${(server.address() as AddressInfo).port}/`;
    const { ticker, pass } = stoppedTicker();
    const reply = await send({ url, headers: {}, body: "{}", firstByteMs: 60_000, idleMs: 60_000 }, ticker);
    try {
      assertEquals(new TextDecoder().decode((await reply.read())!), "ab");
      for (const ms of [2000, 100, Infinity, 1000]) reply.boundIdle!(ms);
      let failure: unknown = null;
      const reading = Promise.resolve(reply.read()).catch((thrown) => failure = thrown);
      pass(900);
      await turns(5);
      assertEquals(failure, null);
      pass(200);
      await eventually(() => failure, { what: "the end of a read after its bound" });
      assertMatch(String(failure), /nothing came for 1 second/);
      await reading;
    } finally {
      reply.close();
      server.close();
    }
  });
}
