/** Two workers of one gateway that export to one collector: each is an instance, and together they measure every call. */
import { assert, assertEquals } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { SECRET } from "../support/gateway.ts";
import { serveProgram } from "../support/program.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually, inTime } from "../support/time.ts";
import config from "../../deno.json" with { type: "json" };
import { exporting, otlpReceiver, silentCollector } from "./receiver.ts";

const CALLS = 40;

interface Exported {
  resource: { attributes: { key: string; value: { stringValue?: string } }[] };
  scopeMetrics: { metrics: { name: string; histogram?: { dataPoints: { count: string }[] } }[] }[];
}

/** Calls that an instance has measured by its last export, by the instance's resource as JSON. */
function measuredBy(raw: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of raw) {
    for (const { resource, scopeMetrics } of (JSON.parse(text).resourceMetrics ?? []) as Exported[]) {
      const durations = scopeMetrics.flatMap(({ metrics }) => metrics).find(({ name }) =>
        name === "gen_ai.client.operation.duration"
      );
      if (!durations) continue;
      const attributes = Object.fromEntries(
        resource.attributes.map(({ key, value }) => [key, value.stringValue]),
      );
      counts.set(
        JSON.stringify(attributes),
        durations.histogram!.dataPoints.reduce((sum, { count }) => sum + Number(count), 0),
      );
    }
  }
  return counts;
}

Deno.test("telemetry: two workers are two instances of one service, and what they measure adds up", async () => {
  const receiver = otlpReceiver();
  const provider = loopbackProvider(leastAnswer);
  const cwd = await Deno.makeTempDir();
  const gateway = await serveProgram(["serve", "--workers", "2"], {
    cwd,
    env: {
      ...exporting(receiver),
      OTEL_SERVICE_NAME: "gate",
      SLUICE_CONFIG: JSON.stringify({
        store: { url: "sqlite:./s.db" },
        providers: { up: { api: "openai-chat", base_url: `${provider.url}/v1`, api_key: "k" } },
        models: [{
          id: "v/m",
          routes: [{ provider: "up", model: "m" }],
          pricing: { prompt: "0", completion: "0" },
        }],
        keys: [{ name: "test", secret: SECRET }],
      }),
    },
  });
  let asked = 0;
  try {
    let calls = 0;
    const ask = async () => {
      // A connection of its own, so that either worker may get it.
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${SECRET}`, connection: "close" },
        body: JSON.stringify({ model: "v/m", messages: [{ role: "user", content: "hi" }] }),
      });
      await response.text();
      assertEquals(response.status, 200);
      calls++;
    };
    // Both have had calls once both have measured some.
    while (calls < CALLS || (calls < 1000 && measuredBy(receiver.raw).size < 2)) {
      await Promise.all(Array.from({ length: 8 }, ask));
    }
    const total = () => [...measuredBy(receiver.raw).values()].reduce((sum, count) => sum + count, 0);
    await receiver.until(() => total() === calls);
    const measured = measuredBy(receiver.raw);
    const resources = [...measured.keys()].map((text) => JSON.parse(text));
    assertEquals(resources.length, 2);
    const ids = resources.map((resource) => resource["service.instance.id"]);
    assert(ids[0] !== ids[1] && ids.every((id) => /^[0-9a-f-]{36}$/.test(id)), `${ids}`);
    for (const resource of resources) {
      assertEquals([resource["service.name"], resource["service.version"]], ["gate", config.version]);
    }
    assert([...measured.values()].every((count) => count > 0));
    asked = calls;
  } finally {
    gateway.kill("SIGTERM");
    await gateway.ended;
    await provider.close();
    await receiver.close();
    await Deno.remove(cwd, { recursive: true });
  }
  // What was not exported by then was with the ends of the processes.
  assertEquals(receiver.spans.filter(({ kind }) => kind === 2).length, asked);
});

Deno.test("telemetry: the process that starts workers does not wait for a collector that does not answer either", async () => {
  const silent = silentCollector();
  const cwd = await Deno.makeTempDir();
  const gateway = await serveProgram(["serve", "--workers", "2"], {
    cwd,
    env: {
      ...exporting(silent),
      SLUICE_CONFIG: JSON.stringify({
        store: { url: "sqlite:./s.db" },
        providers: { demo: { api: "demo" } },
        models: [{
          id: "demo/small",
          routes: [{ provider: "demo", model: "small" }],
          pricing: { prompt: "0", completion: "0" },
        }],
        keys: [{ name: "test", secret: SECRET }],
      }),
    },
  });
  await eventually(() => silent.accepted() > 0);
  gateway.kill("SIGTERM");
  // It kills itself, or this waits for Deno, which exits with 0, if ever.
  assertEquals(await inTime(gateway.ended), 137);
  await silent.close();
  await Deno.remove(cwd, { recursive: true });
});
