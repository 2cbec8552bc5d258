import { assertEquals } from "@std/assert";
import { ENDPOINTS } from "../../src/assemble.ts";
import type { ServerState } from "../../src/http/endpoint.ts";
import { bodyBytes } from "../../src/http/gate.ts";
import { handler } from "../../src/http/handler.ts";
import { InFlight } from "../../src/http/in_flight.ts";
import { Metrics } from "../../src/pipeline/metrics.ts";
import { Ticker } from "../../src/timing/ticker.ts";

/** A server whose calls wait in the queue until the test lets them go. */
function queued() {
  const admission = Promise.withResolvers<boolean>();
  const inFlight = new InFlight();
  const kit = {
    accounts: { authenticate: () => ({ id: "k" }), hasSeveralKeys: () => false },
    metrics: new Metrics(),
    ticker: new Ticker(),
    now: Date.now,
    telemetry: null,
    log: () => {},
  };
  const state: Partial<Record<keyof ServerState, unknown>> = {
    kit,
    inFlight,
    shedder: { enter: () => admission.promise },
    ready: () => true,
    maxInFlight: 10,
    maxInFlightBytes: 10_000_000,
    maxBodyBytes: 1000,
    corsOrigins: [],
  };
  const handle = handler(ENDPOINTS, () => state as ServerState);
  const call = (headers: Record<string, string>) =>
    handle(
      new Request("http://x/v1/messages", {
        method: "POST",
        body: "{}",
        headers: { "x-api-key": "sk_live_x", ...headers },
      }),
    );
  return { call, inFlight, admit: admission.resolve };
}

Deno.test("a call counts while it waits to be admitted, without its body, and is refused when it is not", async () => {
  const { call, inFlight, admit } = queued();
  const response = call({ "content-length": "2" });
  assertEquals([inFlight.count, inFlight.bytes, inFlight.entered], [1, 0, 1]);
  admit(false);
  const { status, headers } = await response;
  assertEquals([status, headers.get("retry-after")], [503, "1"]);
  assertEquals([inFlight.count, inFlight.bytes], [0, 0]);
});

Deno.test("a compressed body counts as one of unknown size until it has come: its length says nothing of what comes out of it", () => {
  const bytes = (headers: Record<string, string>) =>
    bodyBytes(new Request("http://x", { method: "POST", body: "{}", headers }), 1000);
  assertEquals(bytes({ "content-length": "2", "content-encoding": "gzip" }), 1 << 16);
  assertEquals([bytes({}), bytes({ "content-length": "2" })], [1 << 16, 2]);
  assertEquals(bytes({ "content-length": "1000000000000" }), 1000, "it will be refused");
});
