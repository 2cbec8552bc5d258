import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { NO_USAGE } from "../../src/exchange/usage.ts";
import { type LabelledMetrics, prometheusPieces } from "../../src/metrics/prometheus.ts";
import { MetricRegistry } from "../../src/metrics/registry.ts";
import { type MetricRow, METRICS } from "../../src/metrics/rows.ts";
import { Metrics } from "../../src/pipeline/metrics.ts";
import { testGateway } from "../support/gateway.ts";

const prometheusText = (all: readonly LabelledMetrics[]) => [...prometheusPieces(all)].join("");

const ROWS: readonly MetricRow[] = Object.values(METRICS);

Deno.test("Metrics counts what was generated, with cumulative buckets", () => {
  const metrics = new Metrics();
  metrics.responded("messages", 200);
  for (const ttftMs of [20, 50, 80, 300_000]) {
    metrics.generated('a/"b"\n\\', {
      status: "completed",
      provider: "p",
      errorCode: null,
      usage: { ...NO_USAGE, input: 5, cached: 2, output: 3, reasoning: 1 },
      estimated: false,
      searches: 1,
      ttftMs,
      latencyMs: ttftMs,
      clientGone: false,
      dlp: null,
    });
  }
  const text = prometheusText([{ metrics: metrics.registry.collect(), common: {} }]);
  const model = 'model="a/\\"b\\"\\n\\\\"';
  for (
    const line of [
      'sluice_responses_total{surface="messages",status="200"} 1',
      `sluice_generations_total{${model},provider="p",status="completed"} 4`,
      `sluice_tokens_total{${model},kind="input"} 20`,
      `sluice_tokens_total{${model},kind="cached"} 8`,
      `sluice_tokens_total{${model},kind="output"} 12`,
      `sluice_tokens_total{${model},kind="reasoning"} 4`,
      `sluice_searches_total{${model}} 4`,
      `sluice_first_part_seconds_bucket{${model},le="0.05"} 2`,
      `sluice_first_part_seconds_bucket{${model},le="120"} 3`,
      `sluice_first_part_seconds_bucket{${model},le="+Inf"} 4`,
      `sluice_first_part_seconds_sum{${model}} 300.15`,
      `sluice_first_part_seconds_count{${model}} 4`,
      `sluice_generation_seconds_count{${model}} 4`,
    ]
  ) assertStringIncludes(text, `${line}\n`);
});

Deno.test("MetricRegistry.collect() hands over data: the rows in their order, labels in the row's order", () => {
  const registry = new MetricRegistry();
  registry.counter("generations", ["m", "p", "failed"]).value += 2;
  registry.counter("generations", ["m", "p", "completed"]).value++;
  registry.histogram("firstPart", ["m"]).observe(0.3);
  registry.observe(() => ({ inFlight: 4 }));
  registry.observe(() => ({ breakerState: [{ labels: ["p", "m"], value: 2 }] }));
  const data = registry.collect();
  assertEquals(data.map(({ row }) => row.name), ROWS.map((row) => row.name));
  const samples = (name: string) => data.find(({ row }) => row.name === name)!.samples;
  assertEquals(samples("sluice_generations_total"), [
    { labels: ["m", "p", "failed"], value: 2 },
    { labels: ["m", "p", "completed"], value: 1 },
  ]);
  assertEquals(samples("sluice_first_part_seconds"), [
    { labels: ["m"], counts: [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], sum: 0.3, count: 1 },
  ]);
  assertEquals(samples("sluice_in_flight"), [{ labels: [], value: 4 }]);
  assertEquals(samples("sluice_breaker_state"), [{ labels: ["p", "m"], value: 2 }]);
  assertEquals(samples("sluice_provider_queued"), []);
});

Deno.test("prometheusPieces() puts the common labels on every value, and HELP and TYPE on every metric", () => {
  const registry = new MetricRegistry();
  registry.observe(() => ({ inFlight: 4, breakerState: [{ labels: ["p", "m"], value: 2 }] }));
  registry.histogram("firstPart", ["m"]).observe(1);
  const text = prometheusText([
    { metrics: new MetricRegistry().collect(), common: { worker: "1" } },
    { metrics: registry.collect(), common: { worker: "2" } },
  ]);
  assertStringIncludes(text, '\nsluice_in_flight{worker="2"} 4\n');
  assertStringIncludes(text, '\nsluice_breaker_state{provider="p",model="m",worker="2"} 2\n');
  assertStringIncludes(text, '\nsluice_first_part_seconds_bucket{model="m",worker="2",le="1"} 1\n');
  for (const { name, type, help } of ROWS) {
    assertStringIncludes(text, `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
  }
});

Deno.test("prometheusPieces() divides the text of many series between two of them", () => {
  const registry = new MetricRegistry();
  for (let i = 0; i < 5000; i++) registry.counter("generations", [`m${i}`, "p", "failed"]).value = i;
  for (let i = 0; i < 500; i++) registry.histogram("firstPart", [`m${i}`]).observe(i);
  const pieces = [...prometheusPieces([{ metrics: registry.collect(), common: {} }])];
  assert(pieces.length > 8 && pieces.every((piece) => piece.length < 70_000 && piece.endsWith("\n")));
  const series = pieces.join("").split("\n").filter((line) => line.startsWith("sluice_generations_total{"));
  assertEquals(
    series.slice(-5000),
    Array.from(
      { length: 5000 },
      (_, i) => `sluice_generations_total{model="m${i}",provider="p",status="failed"} ${i}`,
    ),
  );
});

Deno.test("the rows of the metrics keep the conventions of Prometheus", () => {
  assertEquals(new Set(ROWS.map((row) => row.name)).size, ROWS.length);
  for (const { name, type, help, labels, buckets, observable } of ROWS) {
    assertMatch(name, /^sluice_[a-z_]+$/);
    assertEquals(name.endsWith("_total"), type === "counter", `${name}: counters end in _total`);
    assertMatch(help, /^[A-Z][^\n\\]+\.$/, name);
    assert(labels.every((label) => /^[a-z_]+$/.test(label) && label !== "le" && label !== "worker"), name);
    assertEquals(buckets !== undefined, type === "histogram", `${name}: buckets`);
    if (buckets) assertEquals([...buckets].sort((a, b) => a - b), [...buckets], name);
    if (type === "gauge") assert(observable, `${name}: a gauge is read from where it is kept`);
  }
});

Deno.test("a gateway observes every metric whose values are kept elsewhere", async () => {
  const gateway = await testGateway({ demo: { api: "demo", url: "" } });
  try {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    for (const { name, observable } of ROWS) {
      if (observable) assertMatch(text, new RegExp(`^${name}(?:\\{.*\\})? \\S+$`, "m"));
    }
  } finally {
    await gateway.close();
  }
});
