/** What is exported beside the traces, how, and what becomes of calls when the collector does not take it. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { runProgram } from "../support/program.ts";
import { eventually } from "../support/time.ts";
import { type Receiver, silentCollector } from "./receiver.ts";
import { assertTree, PARENT, TRACEPARENT, withRig } from "./rig.ts";

Deno.test("telemetry: sampling leaves out traces and no measurement, and names of callers are no labels", async () => {
  await withRig(async ({ ask, receiver, seen }) => {
    for (let i = 0; i < 20; i++) {
      await (await ask({ messages: [{ role: "user", content: "please search" }], web_search_options: {} }))
        .text();
      await (await ask({ model: `none-${i}/x` })).text();
    }
    const counted = ({ metrics }: Receiver) =>
      (metrics.get("gen_ai.client.operation.duration") ?? []).reduce((sum, { count }) => sum + count, 0);
    await receiver.until((r) => counted(r) === 40);
    assertEquals(receiver.spans.filter(({ scope }) => scope === "sluice"), []);
    assertEquals(seen.filter(({ headers }) => headers.get("traceparent") !== null), []);
    for (const [name, points] of receiver.metrics) {
      if (name.startsWith("gen_ai.")) assert(points.length <= 2, name);
      assert(!JSON.stringify(points).includes("none-"), name);
    }
  }, { config: { telemetry: { sample: 0 } } });
});

Deno.test("telemetry: OTEL_TRACES_SAMPLER decides where the configuration says nothing", async () => {
  const unsampled = TRACEPARENT.replace(/01$/, "00");
  // The end of a trace id is its random part: the more, the sooner the trace belongs to a share.
  const ids = { low: `${"0".repeat(31)}1`, high: "f".repeat(32) };
  const cases: [name: string, recorded: (string | null)[], sample?: number][] = [
    ["always_on", [null, TRACEPARENT, unsampled]],
    ["always_off", []],
    ["parentbased_always_off", [TRACEPARENT]],
    ["traceidratio", [`00-${ids.high}-${PARENT}-00`]],
    ["always_on", [TRACEPARENT], 0],
  ];
  await Promise.all(cases.map(([name, recorded, sample]) =>
    withRig(async ({ ask, receiver }) => {
      const asked = [
        null,
        TRACEPARENT,
        unsampled,
        `00-${ids.low}-${PARENT}-01`,
        `00-${ids.high}-${PARENT}-00`,
      ];
      const wanted = name === "traceidratio" ? asked.slice(3) : asked.slice(0, 3);
      for (const traceparent of wanted) {
        await (await ask({}, traceparent === null ? {} : { traceparent })).text();
      }
      const counted = ({ metrics }: Receiver) =>
        (metrics.get("gen_ai.client.operation.duration") ?? []).reduce((sum, { count }) => sum + count, 0);
      const servers = ({ spans }: Receiver) => spans.filter(({ kind }) => kind === 2);
      await receiver.until((r) => counted(r) === wanted.length && servers(r).length >= recorded.length);
      assertEquals(
        servers(receiver).map(({ parentSpanId, traceId }) => parentSpanId && traceId).sort(),
        recorded.map((parent) => parent?.split("-")[1] ?? "").sort(),
        name,
      );
    }, {
      config: sample === undefined ? {} : { telemetry: { sample } },
      env: { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: "0.5", OTEL_DENO_TRACING: "false" },
    })
  ));
});

Deno.test("telemetry: calls of providers have the settings of the request", async () => {
  const SETTINGS = {
    max_tokens: 50,
    temperature: 0.5,
    top_p: 1,
    seed: 7,
    frequency_penalty: -0.5,
    presence_penalty: 0,
    n: 2,
    response_format: { type: "json_object" },
  };
  for (const protocol of ["http/json", "http/protobuf"]) {
    await withRig(async ({ ask, trace }) => {
      await (await ask(SETTINGS, { traceparent: TRACEPARENT, "x-svc-session": "s1" })).text();
      const [{ attributes }] = (await trace()).of("chat m");
      const asked = Object.entries(attributes).filter(([name]) =>
        /^gen_ai\.(?:request|output|conversation)\./.test(name)
      );
      assertEquals(Object.fromEntries(asked), {
        "gen_ai.conversation.id": "s1",
        "gen_ai.output.type": "json",
        "gen_ai.request.model": "m",
        "gen_ai.request.max_tokens": 50,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.top_p": 1,
        "gen_ai.request.seed": 7,
        "gen_ai.request.frequency_penalty": -0.5,
        "gen_ai.request.presence_penalty": 0,
        "gen_ai.request.choice.count": 2,
      });
    }, { env: { OTEL_EXPORTER_OTLP_PROTOCOL: protocol } });
    // The encoding has no negative numbers, and no setting is made up.
    await withRig(async ({ ask, trace }) => {
      await (await ask({ seed: -1 }, { traceparent: TRACEPARENT })).text();
      const [{ attributes }] = (await trace()).of("chat m");
      assertEquals(Object.keys(attributes).filter((name) => name.startsWith("gen_ai.request.")), [
        "gen_ai.request.model",
      ]);
    }, { env: { OTEL_EXPORTER_OTLP_PROTOCOL: protocol } });
  }
});

Deno.test("telemetry: bytes say what JSON says", async () => {
  await withRig(async ({ ask, trace, receiver }) => {
    await (await ask({ stream: true }, { traceparent: TRACEPARENT })).text();
    const traced = await trace();
    assertTree(traced);
    assertEquals(traced.server.parentSpanId, PARENT);
    assertEquals(traced.of("chat m")[0].attributes["gen_ai.usage.output_tokens"], 2);
    await receiver.until(({ counters }) => counters.has("gen_ai.client.inference.usage.input_tokens"));
    const own = receiver.heads.filter((head) => head.get("user-agent") === "sluice");
    assertEquals(new Set(own.map((head) => head.get("content-type"))), new Set(["application/x-protobuf"]));
    assertEquals(new Set(own.map((head) => head.get("authorization"))), new Set(["Bearer canary"]));
  }, {
    env: {
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20canary",
    },
  });
});

Deno.test("telemetry: metrics have the newest names, and those of before unless only the newest are wanted", async () => {
  const NEWEST = [
    "gen_ai.client.inference.duration",
    "gen_ai.client.inference.operation.input_tokens",
    "gen_ai.client.inference.operation.output_tokens",
    "gen_ai.client.inference.time_to_first_chunk",
  ];
  const BEFORE = [
    "gen_ai.client.operation.duration",
    "gen_ai.client.token.usage",
    "gen_ai.server.time_to_first_token",
  ];
  for (const newestOnly of [false, true]) {
    await withRig(async ({ ask, receiver }) => {
      await (await ask({ stream: true })).text();
      await receiver.until(({ metrics }) => metrics.has(NEWEST[3]));
      const names = [...receiver.metrics.keys()].filter((name) => name.startsWith("gen_ai.")).sort();
      assertEquals(names, newestOnly ? NEWEST : [...NEWEST, ...BEFORE].sort());
      const [input] = receiver.counters.get("gen_ai.client.inference.usage.input_tokens")!;
      assertEquals([input.sum, input.attributes["gen_ai.token.modality"]], [10, "unknown"]);
      assertEquals(input.attributes["server.address"], "127.0.0.1");
    }, { env: newestOnly ? { OTEL_SEMCONV_STABILITY_OPT_IN: "gen_ai_latest_experimental" } : {} });
  }
});

Deno.test("telemetry: the process says who it is", async () => {
  await withRig(async ({ ask, trace, receiver }) => {
    await (await ask({}, { traceparent: TRACEPARENT })).text();
    await trace();
    await receiver.until(({ metrics }) => metrics.size > 0);
    // Deno exports measurements of its own.
    const [{ "service.instance.id": id, "service.version": version, ...rest }] = receiver.resources.filter(
      (resource) => resource["telemetry.sdk.name"] === "sluice",
    );
    assert(/^[0-9a-f-]{36}$/.test(String(id)) && /^\d+\.\d+/.test(String(version)));
    assertEquals([rest["service.name"], rest["deployment.environment.name"]], ["gate", "a,b"]);
  }, {
    env: {
      OTEL_SERVICE_NAME: "gate",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=a%2Cb",
    },
  });
});

Deno.test("telemetry: a process that is told to end does not wait for a collector that does not answer", async () => {
  await Promise.all(["http/protobuf", "http/json", "grpc"].map(async (protocol) => {
    const silent = silentCollector();
    // It ends, or this waits for good: Deno itself would.
    await withRig(async ({ ask }) => {
      for (let i = 0; i < 20; i++) assertEquals((await ask({})).status, 200);
      await eventually(() => silent.accepted() > 0);
    }, {
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: silent.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      },
    });
    await silent.close();
  }));
});

Deno.test("telemetry: a command, and a mistake at the start, end beside a collector that does not answer", async () => {
  const silent = silentCollector();
  const cwd = await Deno.makeTempDir();
  const ends = async (config: object, args: string[]) => {
    const file = await Deno.makeTempFile({ dir: cwd });
    await Deno.writeTextFile(file, JSON.stringify(config));
    const { out, err } = await runProgram([...args, "--config", file], {
      cwd,
      env: {
        OTEL_DENO: "true",
        OTEL_EXPORTER_OTLP_ENDPOINT: silent.url,
        // Exports that are as frequent as these keep Deno itself waiting for good.
        OTEL_METRIC_EXPORT_INTERVAL: "500",
      },
    });
    return out + err;
  };
  const demo = {
    providers: { d: { api: "demo" } },
    models: [{ id: "a/b", routes: [{ provider: "d", model: "m" }] }],
  };
  const [mistake, refused, checked] = await Promise.all([
    ends({ nonsense: 1 }, ["check"]),
    ends({ nonsense: 1 }, ["serve"]),
    ends(demo, ["check"]),
  ]);
  assertStringIncludes(mistake, "nonsense");
  assertStringIncludes(refused, "nonsense");
  assertStringIncludes(checked, "a/b");
  await Deno.remove(cwd, { recursive: true });
  await silent.close();
});

Deno.test("telemetry: a collector that hangs or refuses holds up no call", async () => {
  const stuck = Promise.withResolvers<void>();
  const answers = [() => stuck.promise.then(() => new Response()), () => new Response("no", { status: 500 })];
  for (const answer of answers) {
    await withRig(async ({ ask, receiver }) => {
      while (receiver.raw.length === 0) assertEquals((await ask({})).status, 200);
      const statuses = await Promise.all(Array.from({ length: 50 }, async () => {
        const response = await ask({});
        await response.text();
        return response.status;
      }));
      assertEquals(new Set(statuses), new Set([200]));
      stuck.resolve();
    }, { answer });
  }
});

Deno.test("telemetry: endless lists of a trace are refused with the head that holds them", async () => {
  await withRig(async ({ ask, seen }) => {
    const tracestate = `vendor=${"x".repeat(1 << 20)}`;
    const refused = await ask({}, { traceparent: TRACEPARENT, tracestate }).catch(() => null);
    assert(refused === null || refused.status === 431, `${refused?.status}`);
    assertEquals(seen.length, 0);
  });
});

Deno.test("telemetry: without OTEL_DENO a provider that wants it is told the caller's trace as it came", async () => {
  await withRig(async ({ ask, seen, receiver }) => {
    const headers = { traceparent: TRACEPARENT, tracestate: "vendor=1" };
    assertEquals((await ask({}, headers)).status, 200);
    assertEquals(seen[0].headers.get("traceparent"), TRACEPARENT);
    assertEquals(seen[0].headers.get("tracestate"), "vendor=1");
    assertEquals((await ask({}, { traceparent: "garbage", tracestate: "vendor=1" })).status, 200);
    assertEquals(seen[1].headers.get("tracestate"), null);
    assertEquals(receiver.raw, []);
    // Deno exports what is printed if this is set, whatever OTEL_DENO is.
  }, { env: { OTEL_DENO: "", OTEL_DENO_CONSOLE: "ignore" } });
});
