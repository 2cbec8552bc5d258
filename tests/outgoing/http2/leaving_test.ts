/** Callers that leave a request over HTTP/2, and what is kept of it. */
import { assertEquals } from "@std/assert";
import { nextTurn, stoppedTicker } from "../../support/time.ts";
import { outcomeOf } from "./raw_server.ts";

const { ticker } = stoppedTicker();

Deno.test("a caller that left before a connection was asked for leaves no rejection behind, where there is none", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `https://localhost:${listener.addr.port}/v1`;
  listener.close();
  const unhandled: unknown[] = [];
  const note = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    unhandled.push(event.reason);
  };
  addEventListener("unhandledrejection", note);
  try {
    assertEquals(await outcomeOf(url, ticker, { signal: AbortSignal.abort() }), "provider_unavailable");
    // The one that waits for the same connection is told when there is none.
    assertEquals(await outcomeOf(url, ticker), "provider_unavailable");
    for (let i = 0; i < 10; i++) await nextTurn();
    assertEquals(unhandled, []);
  } finally {
    removeEventListener("unhandledrejection", note);
  }
});

Deno.test("a call with less time than the one that opened the connection waits no longer than its own time", async () => {
  const { ticker, clock } = stoppedTicker();
  // It takes connections, and never shakes hands.
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `https://localhost:${(listener.addr as Deno.NetAddr).port}/v1`;
  const long = outcomeOf(url, ticker, { firstByteMs: 60_000 });
  const short = outcomeOf(url, ticker, { firstByteMs: 1000 });
  using _conn = await listener.accept();
  clock.move(1001);
  ticker.tick();
  assertEquals(await short, "provider_timeout");
  clock.move(60_000);
  ticker.tick();
  assertEquals(await long, "provider_timeout");
  listener.close();
});
