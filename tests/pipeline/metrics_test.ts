import { assertStringIncludes } from "@std/assert";
import { NO_USAGE } from "../../src/exchange/usage.ts";
import { Metrics } from "../../src/pipeline/metrics.ts";

Deno.test("Metrics.render() counts what was generated, with cumulative buckets", () => {
  const metrics = new Metrics();
  metrics.responded("messages", 200);
  for (const ttftMs of [20, 80, 300_000]) {
    metrics.generated('a/"b"', {
      status: "completed",
      provider: "p",
      errorCode: null,
      usage: { ...NO_USAGE, input: 5, cached: 2, output: 3 },
      estimated: false,
      searches: 1,
      ttftMs,
      latencyMs: ttftMs,
      clientGone: false,
      dlp: null,
    });
  }
  const text = metrics.render({ sluice_in_flight: 4 });
  for (
    const line of [
      'sluice_responses_total{surface="messages",status="200"} 1',
      'sluice_generations_total{model="a/\\"b\\"",provider="p",status="completed"} 3',
      'sluice_tokens_total{model="a/\\"b\\"",kind="input"} 15',
      'sluice_searches_total{model="a/\\"b\\""} 3',
      'sluice_first_part_seconds_bucket{model="a/\\"b\\"",le="0.05"} 1',
      'sluice_first_part_seconds_bucket{model="a/\\"b\\"",le="120"} 2',
      'sluice_first_part_seconds_bucket{model="a/\\"b\\"",le="+Inf"} 3',
      'sluice_first_part_seconds_sum{model="a/\\"b\\""} 300.1',
      "sluice_in_flight 4",
    ]
  ) assertStringIncludes(text, `${line}\n`);
});

Deno.test("Metrics.render() adds values that somebody else keeps, with their labels", () => {
  const text = new Metrics().render({}, [{
    name: "sluice_breaker_state",
    type: "gauge",
    help: "Circuit breaker.",
    samples: [{ labels: { provider: "p", model: 'm"' }, value: 2 }],
  }]);
  assertStringIncludes(text, "# TYPE sluice_breaker_state gauge\n");
  assertStringIncludes(text, 'sluice_breaker_state{provider="p",model="m\\""} 2\n');
});
