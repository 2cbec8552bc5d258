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
