/** Spans and measurements of calls during which the system's clock is set. */
import { assertEquals } from "@std/assert";
import type { Route, Upstream } from "../../src/providers/provider.ts";
import { openTelemetry } from "../../src/telemetry/mod.ts";

const DAY = 86_400_000;
const UPSTREAM = {
  provider: { name: "p", baseUrl: "https://p.test", preset: null },
  api: { name: "openai-chat" },
} as unknown as Upstream;

interface Span {
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
}

Deno.test("a clock that is set during a call changes no duration, and moves no span out of its parent", async () => {
  const spans: Span[] = [];
  const sums: Record<string, number> = {};
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { resourceSpans, resourceMetrics } = await request.json();
    if (resourceSpans) spans.push(...resourceSpans[0].scopeSpans[0].spans);
    for (const { name, histogram } of resourceMetrics?.[0].scopeMetrics[0].metrics ?? []) {
      if (histogram) sums[name] = histogram.dataPoints[0].sum;
    }
    return new Response("{}");
  });
  const env: Record<string, string> = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${server.addr.port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  };
  const own = { wall: Date.now, steady: performance.now };
  for (const jump of [DAY, -DAY]) {
    const telemetry = openTelemetry({
      env: (name) => env[name],
      version: "1",
      now: own.wall,
      random: () => 0,
      log: () => {},
      lost: () => {},
      proxied: () => false,
    });
    // The steady clock goes on where it is, in both rounds.
    let steady = own.steady.call(performance) + (jump > 0 ? 1e6 : 2e6);
    let wall = Date.UTC(2026, 0, 1);
    Date.now = () => wall;
    performance.now = () => steady;
    try {
      const follow = telemetry.following({ sample: 1, langfuse: false });
      const call = follow.follow({ id: "gen_1", route: "/v1/messages", scheme: "http", header: () => null });
      steady += 100;
      const step = call.begin("attempt", "p");
      const attempt = call.attempt(UPSTREAM, { model: "m" } as Route, true);
      wall += jump;
      steady += 2000;
      attempt.begun(null, 200);
      steady += 1000;
      attempt.close();
      step!.end("ok");
      // It sees that the clock was set, which concerns the calls after it alone.
      follow.follow({ id: "gen_2", route: "/v1/messages", scheme: "http", header: () => null }).close(200);
      steady += 400;
      call.close(200);
    } finally {
      Date.now = own.wall;
      performance.now = own.steady;
    }
    await telemetry.close();
    const ms = (time: string) => Number(BigInt(time) / 1_000_000n) - Date.UTC(2026, 0, 1);
    const times = spans.splice(0).map(({ name, startTimeUnixNano, endTimeUnixNano }) =>
      [name, ms(startTimeUnixNano), ms(endTimeUnixNano)] as const
    );
    assertEquals(
      times.map(([name, from, to]) => [name, Math.round(from / 10) * 10, Math.round(to / 10) * 10]),
      [
        ["chat m", 100, 3100],
        ["attempt", 100, 3100],
        ["POST /v1/messages", jump, jump],
        ["POST /v1/messages", 0, 3500],
      ],
    );
    assertEquals(
      [
        Math.round(sums["gen_ai.client.inference.duration"]),
        Math.round(sums["gen_ai.client.inference.time_to_first_chunk"]),
      ],
      [3, 2],
    );
  }
});
