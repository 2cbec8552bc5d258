/** The files for Prometheus and Grafana: read by the real programs, about metrics that exist, scraped from a running gateway. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { parse } from "@std/yaml/parse.js";
import { z } from "zod";
import { PROMETHEUS_TYPE } from "../../src/metrics/prometheus.ts";
import { type MetricRow, METRICS } from "../../src/metrics/rows.ts";
import { FILES } from "../../src/manual/files.ts";
import { leastAnswer } from "../support/answers.ts";
import { testGateway } from "../support/gateway.ts";
import { isInstalled } from "../support/installed.ts";
import { prometheusHere, startPrometheus } from "../support/prometheus.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually } from "../support/time.ts";

const promtool = await isInstalled("promtool", "--version");
const skipped = (program: string, here: boolean) => here ? "" : ` (skipped: ${program} is not installed)`;

async function written(): Promise<string> {
  const folder = await Deno.makeTempDir();
  for (const [name, { text }] of Object.entries(FILES)) {
    await Deno.writeTextFile(`${folder}/${name}`, text);
  }
  await Deno.writeTextFile(`${folder}/sluice.token`, "the-admin-key-of-tests");
  return folder;
}

Deno.test({
  name: `promtool takes the rules and the configuration${skipped("promtool", promtool)}`,
  ignore: !promtool,
  async fn() {
    const folder = await written();
    try {
      for (const args of [["check", "rules", "sluice.rules.yml"], ["check", "config", "prometheus.yml"]]) {
        const { success, stdout, stderr } = await new Deno.Command("promtool", { args, cwd: folder })
          .output();
        assert(success, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

/** Names in series of a histogram have an end of their own. */
const SERIES = new Map(
  (Object.values(METRICS) as MetricRow[]).flatMap(({ name, type, labels }): [string, readonly string[]][] =>
    type === "histogram"
      ? [[`${name}_bucket`, [...labels, "le"]], [`${name}_sum`, labels], [`${name}_count`, labels]]
      : [[name, labels]]
  ),
);
/** Labels that Prometheus, or several workers, add to all. */
const COMMON = ["instance", "job", "worker"];

for (const name of ["sluice.rules.yml", "grafana.json"]) {
  Deno.test(`every metric and label of ${name} exists`, () => {
    const text = FILES[name].text.replaceAll('\\"', '"');
    const names = [...text.matchAll(/\bsluice_\w+/g)].map(([found]) => found);
    assert(names.length > 10);
    assertEquals([...new Set(names)].filter((found) => !SERIES.has(found)), []);
    for (const [, metric, matchers] of text.matchAll(/\b(sluice_\w+)\{([^}]*)\}/g)) {
      const labels = [...matchers.matchAll(/(\w+)\s*(?:=~|!=|!~|=)/g)].map(([, label]) => label);
      const known = [...SERIES.get(metric)!, ...COMMON];
      assertEquals(labels.filter((label) => !known.includes(label)), [], `${metric} of ${name}`);
    }
  });
}

Deno.test("panels of the dashboard have places and ids of their own", () => {
  const { panels, templating } = JSON.parse(FILES["grafana.json"].text);
  const ids = panels.map(({ id }: { id: number }) => id);
  assertEquals(new Set(ids).size, ids.length);
  for (const { gridPos: { x, w } } of panels) assert(x + w <= 24);
  const variables = templating.list.map(({ name }: { name: string }) => name);
  for (const [, used] of FILES["grafana.json"].text.matchAll(/\$\{?([a-z]\w*)/g)) {
    assert(variables.includes(used), used);
  }
});

Deno.test("a gateway serves the files", async () => {
  const gateway = await testGateway({ p: { api: "demo", url: "" } });
  try {
    for (const [name, { text, type }] of Object.entries(FILES)) {
      const response = await fetch(`${gateway.url}/docs/files/${name}`);
      assertEquals([response.status, response.headers.get("content-type")], [200, type]);
      assertEquals(await response.text(), text);
    }
    for (const wrong of ["nothing", "constructor", "..%2fstyle.css"]) {
      const response = await fetch(`${gateway.url}/docs/files/${wrong}`);
      await response.body?.cancel();
      assertEquals(response.status, 404, wrong);
    }
  } finally {
    await gateway.close();
  }
});

Deno.test({
  name: `Prometheus scrapes a gateway and its rules are evaluated${skipped("prometheus", prometheusHere)}`,
  ignore: !prometheusHere,
  async fn() {
    const provider = loopbackProvider(leastAnswer);
    const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } }, {
      admin_key: "the-admin-key-of-tests",
    });
    const { ask, stop } = await startPrometheus(gateway.url, "the-admin-key-of-tests");
    try {
      const page = await fetch(`${gateway.url}/metrics`, {
        headers: { authorization: "Bearer the-admin-key-of-tests" },
      });
      assertEquals(page.headers.get("content-type"), PROMETHEUS_TYPE);
      assertMatch(await page.text(), /^# HELP sluice_responses_total/);
      const body = { model: "p/model", messages: [{ role: "user", content: "hi" }] };
      await (await gateway.post("/v1/chat/completions", body)).text();
      const found = await eventually(async () =>
        (await ask("/api/v1/query?query=sluice_generations_total"))?.result?.[0]
      );
      assertEquals(found.metric.status, "completed");
      assertEquals(found.value[1], "1");
      const groups = await eventually(async () => {
        const data = await ask("/api/v1/rules");
        return data?.groups?.every(({ rules }: { rules: { health: string }[] }) =>
            rules.every((r) => r.health !== "unknown")
          )
          ? data.groups
          : null;
      });
      for (const { name, health, lastError } of groups[0].rules) {
        assertEquals([name, health, lastError], [name, "ok", undefined]);
      }
    } finally {
      await stop();
      await gateway.close();
      await provider.close();
    }
  },
});

Deno.test("the collector's pipelines name what it has, and all of that", () => {
  const { service, ...has } = parse(FILES["otel-collector.yml"].text) as {
    service: { pipelines: Record<string, Record<string, string[]>> };
  } & Record<string, Record<string, unknown>>;
  for (const kind of ["receivers", "processors", "exporters"]) {
    const named = new Set(Object.values(service.pipelines).flatMap((pipeline) => pipeline[kind]));
    assertEquals([...named].sort(), Object.keys(has[kind]).sort(), kind);
  }
});

/**
 * Fields that the collector's parts have, of those that such a file would use, and which of them they need. From the
 * `config.schema.yaml` beside each part's source (opentelemetry-collector and -contrib, 2026): there is no collector in Debian
 * or npm that a test could start.
 */
const DURATION = z.string().regex(/^\d+(?:ms|s|m|h)$/);
const HOST_PORT = z.string().regex(/^[\w.-]+:\d{1,5}$/);
const HTTP_URL = z.string().regex(/^https?:\/\//);
const CLIENT_TLS = z.strictObject({ insecure: z.boolean(), ca_file: z.string() }).partial();
const SERVER = z.strictObject({ endpoint: HOST_PORT });
const ENABLED = z.strictObject({ enabled: z.boolean() });
const PARTS: Record<string, Record<string, z.ZodType>> = {
  receivers: {
    otlp: z.strictObject({ protocols: z.strictObject({ http: SERVER, grpc: SERVER }) }),
  },
  processors: {
    // It refuses to start without both.
    memory_limiter: z.strictObject({ check_interval: DURATION, limit_mib: z.int().positive() }),
    batch: z.strictObject({ timeout: DURATION, send_batch_size: z.int() }).partial(),
  },
  exporters: {
    // Newer collectors also know `resource_constant_labels`, older ones do not.
    prometheus: z.strictObject({ endpoint: HOST_PORT, resource_to_telemetry_conversion: ENABLED }),
    otlp: z.strictObject({ endpoint: HOST_PORT, tls: CLIENT_TLS }),
    otlphttp: z.strictObject({ endpoint: HTTP_URL, headers: z.record(z.string(), z.string()) }),
  },
};
/** What a part can be in: its stable signals. */
const SIGNALS: Record<string, readonly string[]> = { prometheus: ["metrics"] };
const IDENTIFIER = /^[a-z][a-z0-9_]*(?:\/[\w-]+)?$/;

Deno.test("the collector's configuration has only fields that its parts have, and none that they miss", () => {
  const { service, ...has } = parse(FILES["otel-collector.yml"].text) as Record<
    string,
    Record<string, unknown>
  >;
  assertEquals(Object.keys(has).sort(), Object.keys(PARTS).sort());
  for (const [kind, parts] of Object.entries(has)) {
    for (const [name, config] of Object.entries(parts)) {
      assertMatch(name, IDENTIFIER);
      const schema = PARTS[kind][name.split("/")[0]];
      assert(schema !== undefined, `there is no ${name} in ${kind}`);
      assertEquals(schema.safeParse(config).error?.issues ?? [], [], name);
    }
  }
  const PIPELINE = z.strictObject({
    receivers: z.array(z.string()).min(1),
    processors: z.array(z.string()),
    exporters: z.array(z.string()).min(1),
  });
  const { pipelines } = z.strictObject({
    pipelines: z.partialRecord(z.enum(["traces", "metrics", "logs"]), PIPELINE),
  }).parse(service);
  for (const [signal, pipeline] of Object.entries(pipelines)) {
    // It has to stand first, so that what comes later is not taken into memory.
    assertEquals(pipeline!.processors[0], "memory_limiter");
    for (const part of pipeline!.exporters) {
      assert((SIGNALS[part] ?? ["traces", "metrics"]).includes(signal), `${part} takes no ${signal}`);
    }
  }
});
