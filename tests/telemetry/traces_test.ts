/** Traces and metrics as a collector gets them from a gateway that runs as a process of its own. */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { loopbackProvider, SECRET, serveProgram, type Serving, sseResponse } from "../support/mod.ts";
import { eventually } from "../support/time.ts";
import { exporting, otlpReceiver, type Receiver, type SpanSeen } from "./receiver.ts";

const PROMPT = "canary-prompt";
const ANSWER = "canary-answer";
const PROVIDER_KEY = "canary-provider-key-000001";
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const TRACEPARENT = `00-${TRACE}-${PARENT}-01`;

const USAGE = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };

const whole = (message: Record<string, unknown>, finish = "stop") =>
  Response.json({
    id: "c",
    object: "chat.completion",
    model: "model-2026",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }],
    usage: USAGE,
  });

const frame = (delta: unknown, finish: string | null = null) =>
  `data: ${
    JSON.stringify({
      id: "c",
      object: "chat.completion.chunk",
      model: "model-2026",
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...(finish && { usage: USAGE }),
    })
  }\n\n`;

interface Rig {
  receiver: Receiver;
  gateway: Serving;
  /** Headers that the provider got, with the request's text. */
  seen: { headers: Headers; text: string }[];
  ask(body: Record<string, unknown>, headers?: Record<string, string>): Promise<Response>;
  /** All spans of a trace, once its server span is there. */
  trace(traceId?: string): Promise<{ server: SpanSeen; of(name: string): SpanSeen[]; all: SpanSeen[] }>;
}

async function withRig(
  test: (rig: Rig) => Promise<void>,
  { config = {}, provider = {}, env = {}, answer }: {
    config?: Record<string, unknown>;
    provider?: Record<string, unknown>;
    env?: Record<string, string>;
    answer?: () => Response | Promise<Response>;
  } = {},
): Promise<void> {
  const receiver = otlpReceiver(answer);
  const hanging = Promise.withResolvers<void>();
  const upstream = loopbackProvider(async ({ text, body }, nth) => {
    if (text.includes("please fail") || (text.includes("please retry") && nth === 0)) {
      return Response.json({ error: { message: `no place for ${PROVIDER_KEY}` } }, { status: 503 });
    }
    if (text.includes("please hang")) await hanging.promise;
    if (text.includes("please search") && !text.includes("call_1")) {
      const call = { name: "web_search", arguments: `{"query":"${PROMPT} weather"}` };
      return whole(
        { content: null, tool_calls: [{ id: "call_1", type: "function", function: call }] },
        "tool_calls",
      );
    }
    if (body.stream !== true) return whole({ content: ANSWER });
    return sseResponse([
      frame({ role: "assistant", content: ANSWER }),
      frame({}, "stop"),
      "data: [DONE]\n\n",
    ]);
  });
  const engine = loopbackProvider(() =>
    Response.json({ results: [{ url: "https://site.test/a", title: "A", content: ANSWER }] })
  );
  const cwd = await Deno.makeTempDir();
  const gateway = await serveProgram(["serve"], {
    cwd,
    env: {
      ...exporting(receiver),
      ...env,
      SLUICE_CONFIG: JSON.stringify({
        store: { url: "sqlite::memory:" },
        providers: {
          up: {
            api: "openai-chat",
            base_url: upstream.url,
            api_key: PROVIDER_KEY,
            trace_context: true,
            ...provider,
          },
        },
        models: [{
          id: "v/m",
          capabilities: { features: ["tools"] },
          routes: [{ provider: "up", model: "m" }],
          pricing: { prompt: "0", completion: "0" },
        }],
        search: { engine: "searxng", base_url: engine.url, price: "0" },
        dlp_policies: { strict: { mode: "block", entity_types: ["EMAIL_ADDRESS"] } },
        keys: [
          { name: "test", secret: SECRET, team: "crew" },
          { name: "strict", secret: "sk_live_strictstrictstrictstrict01", dlp_policy: "strict" },
        ],
        teams: [{ name: "crew" }],
        ...config,
      }),
    },
  });
  try {
    await test({
      receiver,
      gateway,
      seen: upstream.seen,
      ask: (body, headers = {}) =>
        fetch(`${gateway.url}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json", ...headers },
          body: JSON.stringify({ model: "v/m", messages: [{ role: "user", content: PROMPT }], ...body }),
        }),
      async trace(traceId = TRACE) {
        const isServer = (span: SpanSeen) => span.kind === 2 && span.traceId === traceId;
        await receiver.until(({ spans }) => spans.some(isServer));
        const all = receiver.spans.filter((span) => span.traceId === traceId);
        return { server: all.find(isServer)!, of: (name) => all.filter((span) => span.name === name), all };
      },
    });
    for (const canary of [PROMPT, ANSWER, PROVIDER_KEY, SECRET]) {
      assertEquals(receiver.raw.filter((text) => text.includes(canary)), [], canary);
    }
  } finally {
    hanging.resolve();
    gateway.kill("SIGTERM");
    await gateway.ended;
    await upstream.close();
    await engine.close();
    await receiver.close();
    await Deno.remove(cwd, { recursive: true });
  }
}

/** Every span but the first has a parent in the trace that was there when it began. */
function assertTree({ server, all }: { server: SpanSeen; all: SpanSeen[] }): void {
  const byId = new Map(all.map((span) => [span.spanId, span]));
  for (const span of all) {
    if (span === server) continue;
    const parent = byId.get(span.parentSpanId);
    assert(parent !== undefined, `${span.name} has no parent`);
    assert(span.start >= parent!.start - 1 && span.end >= span.start, span.name);
  }
}

Deno.test("telemetry: a whole and a streamed call continue the caller's trace and hand it on", async () => {
  await withRig(async ({ ask, trace, seen, receiver }) => {
    const response = await ask({}, { traceparent: TRACEPARENT, tracestate: "vendor=1" });
    const { id } = await response.json();
    const first = await trace();
    assertTree(first);
    const { server } = first;
    assertEquals([server.name, server.parentSpanId, server.status], ["POST /v1/chat/completions", PARENT, 0]);
    assertEquals(server.attributes["http.response.status_code"], 200);
    assertEquals(server.attributes["sluice.generation.id"], id);
    assertEquals([server.attributes["sluice.key.name"], server.attributes["sluice.team"]], ["test", "crew"]);
    assertEquals(first.of("admission").map((span) => span.parentSpanId), [server.spanId]);
    const [chat] = first.of("chat m");
    assertEquals([chat.parentSpanId, chat.kind, chat.status, chat.scope], [server.spanId, 3, 0, "sluice"]);
    assertEquals(seen[0].headers.get("traceparent"), `00-${TRACE}-${chat.spanId}-01`);
    assertEquals(seen[0].headers.get("tracestate"), "vendor=1");
    const { "server.port": port, ...attributes } = chat.attributes;
    assert(Number.isInteger(port));
    assertEquals(attributes, {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "m",
      "gen_ai.response.model": "model-2026",
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.usage.input_tokens": 10,
      "gen_ai.usage.output_tokens": 2,
      "server.address": "127.0.0.1",
      "sluice.provider": "up",
      "sluice.api": "openai-chat",
    });

    const other = "1".repeat(32);
    await (await ask({ stream: true }, { traceparent: `00-${other}-${PARENT}-01` })).text();
    const second = await trace(other);
    assertTree(second);
    const [streamed] = second.of("chat m");
    assertEquals(streamed.attributes["gen_ai.request.stream"], true);
    assert((streamed.attributes["gen_ai.response.time_to_first_chunk"] as number) > 0);
    assertEquals(streamed.attributes["gen_ai.usage.output_tokens"], 2);
    assertEquals(second.server.attributes["sluice.status"], "completed");

    const counted = ({ metrics }: Receiver) =>
      (metrics.get("gen_ai.client.operation.duration") ?? []).reduce((sum, { count }) => sum + count, 0);
    await receiver.until((r) => counted(r) === 2 && r.metrics.has("gen_ai.server.time_to_first_token"));
    assertEquals(
      receiver.metrics.get("gen_ai.client.token.usage")!.map(({ sum, attributes }) => [
        attributes["gen_ai.token.type"],
        attributes["gen_ai.request.model"],
        sum,
      ]).sort(),
      [["input", "m", 20], ["output", "m", 4]],
    );
  });
});

Deno.test("telemetry: a searched, a retried, a failed and a refused call show each of their steps", async () => {
  await withRig(async ({ ask, trace }) => {
    const id = (digit: string) => digit.repeat(32);
    const in_ = (digit: string) => ({ traceparent: `00-${id(digit)}-${PARENT}-01` });
    const says = (text: string) => ({ messages: [{ role: "user", content: `${PROMPT} ${text}` }] });

    await (await ask({ ...says("please retry") }, in_("4"))).json();
    const retried = await trace(id("4"));
    assertTree(retried);
    const attempts = retried.of("chat m").toSorted((a, b) => a.start - b.start);
    assertEquals(attempts.map((span) => span.status), [2, 0]);
    assertEquals(attempts[0].attributes["http.response.status_code"], 503);
    assert(typeof attempts[0].attributes["error.type"] === "string");
    assertEquals([retried.server.status, retried.server.attributes["sluice.status"]], [0, "completed"]);

    await (await ask({ ...says("please search"), web_search_options: {} }, in_("2"))).json();
    const searched = await trace(id("2"));
    assertTree(searched);
    assertEquals(searched.of("chat m").length, 2);
    const [search] = searched.of("search");
    assertEquals(search.parentSpanId, searched.server.spanId);
    assertEquals([search.attributes["sluice.step"], search.attributes["sluice.hits"]], ["searxng", 1]);

    const failed = await ask({ ...says("please fail") }, in_("3"));
    await failed.text();
    const { server, of } = await trace(id("3"));
    assertEquals([server.status, server.attributes["http.response.status_code"]], [2, failed.status]);
    assert(of("chat m").length > 1 && of("chat m").every((span) => span.status === 2));

    await (await ask({ model: `${PROMPT}/none` }, in_("5"))).text();
    const refused = await trace(id("5"));
    assertEquals([refused.server.status, refused.server.attributes["error.type"]], [0, "model_not_found"]);
    assertEquals(refused.server.attributes["http.response.status_code"], 404);
    assertEquals(refused.of("admission")[0].attributes["error.type"], "model_not_found");

    await (await ask({}, { ...in_("6"), authorization: "Bearer sk_live_nobody" })).text();
    const nobody = await trace(id("6"));
    assertEquals(nobody.server.attributes["http.response.status_code"], 401);

    const strict = { ...in_("7"), authorization: "Bearer sk_live_strictstrictstrictstrict01" };
    await (await ask(says("to canary-prompt@example.org"), strict)).text();
    const blocked = await trace(id("7"));
    assertTree(blocked);
    assertEquals(blocked.server.attributes["error.type"], "dlp_violation");
    assertEquals(blocked.of("screening")[0].attributes["error.type"], "dlp_violation");
    assertEquals(blocked.of("chat m"), []);
  }, { provider: { retries: 1 } });
});

Deno.test("telemetry: the spans of a caller who left end with the call", async () => {
  await withRig(async ({ ask, trace, seen, receiver }) => {
    const response = await ask({ stream: true }, { traceparent: TRACEPARENT });
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    const left = await trace();
    assertTree(left);
    assertEquals(left.of("chat m").length, 1);
    assertEquals(seen.length, 1);
    assertEquals(
      receiver.spans.filter((span) => span.name === "chat m")[0].attributes["error.type"],
      undefined,
    );
  });
});

Deno.test("telemetry: what is no trace counts for none, and what callers do not record is not recorded", async () => {
  await withRig(async ({ ask, trace, seen, receiver }) => {
    const bad = [
      "garbage",
      `ff-${TRACE}-${PARENT}-01`,
      `00-${"0".repeat(32)}-${PARENT}-01`,
      `00-${TRACE}-${"0".repeat(16)}-01`,
      `00-${TRACE}-${PARENT}-01-more`,
      `00-${TRACE.toUpperCase()}-${PARENT}-01`,
      `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
      `01-${TRACE}-${PARENT}-01-${"x".repeat(1000)}`,
    ];
    for (const traceparent of bad) {
      assertEquals((await ask({}, { traceparent, tracestate: "vendor=1" })).status, 200, traceparent);
    }
    await receiver.until(({ spans }) => spans.filter(({ kind }) => kind === 2).length === bad.length);
    for (const { traceId, parentSpanId, kind } of receiver.spans) {
      assertNotEquals(traceId, TRACE);
      if (kind === 2) assertEquals(parentSpanId, "");
    }
    assertEquals(seen.filter(({ headers }) => headers.get("tracestate") !== null), []);

    // Not recorded, and handed on as it came; a list that is too long is not.
    const unsampled = `00-${TRACE}-${PARENT}-00`;
    const long = { traceparent: unsampled, tracestate: `vendor=${"x".repeat(600)}` };
    assertEquals((await ask({}, long)).status, 200);
    assertEquals(seen.at(-1)!.headers.get("traceparent"), unsampled);
    assertEquals(seen.at(-1)!.headers.get("tracestate"), null);
    // A version to come may say more.
    const later = "2".repeat(32);
    assertEquals((await ask({}, { traceparent: `01-${later}-${PARENT}-01-more` })).status, 200);
    await trace(later);
    assertEquals(receiver.spans.filter(({ traceId }) => traceId === TRACE), []);
  });
});

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

Deno.test("telemetry: Langfuse's names are there where they are wanted", async () => {
  await withRig(async ({ ask, trace }) => {
    await (await ask({}, { traceparent: TRACEPARENT, "x-svc-session": "s-1", "x-svc-tags": "app=x" })).json();
    const { server, of } = await trace();
    assertEquals(server.attributes["langfuse.user.id"], "test");
    assertEquals(server.attributes["langfuse.session.id"], "s-1");
    assertEquals(server.attributes["gen_ai.conversation.id"], "s-1");
    assertEquals(server.attributes["langfuse.trace.tags"], ["app=x"]);
    const [chat] = of("chat m");
    assertEquals(chat.attributes["langfuse.observation.type"], "generation");
    assertEquals(JSON.parse(chat.attributes["langfuse.observation.usage_details"] as string), {
      input: 10,
      output: 2,
      total: 12,
    });
  }, { config: { telemetry: { langfuse: true } } });
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

Deno.test("telemetry: what Deno traces by itself joins the tree of a call, and nothing else that it traces says a word", async () => {
  // A provider behind a proxy is called by `fetch`.
  const passed: { url: string; headers: Headers }[] = [];
  const proxy = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    passed.push({ url: request.url, headers: new Headers(request.headers) });
    await request.text();
    if (passed.at(-1)!.url.includes("hooks.test")) return new Response();
    return whole({ content: ANSWER });
  });
  try {
    await withRig(async ({ ask, trace, receiver }) => {
      await (await ask({}, { traceparent: TRACEPARENT })).text();
      const traced = await trace();
      assertTree(traced);
      const [chat] = traced.of("chat m");
      const isFetch = ({ scope, traceId }: SpanSeen) => scope !== "sluice" && traceId === TRACE;
      await receiver.until(({ spans }) => spans.some(isFetch));
      const fetched = receiver.spans.filter(isFetch);
      assertEquals(fetched.map(({ parentSpanId }) => parentSpanId), [chat.spanId]);
      assertEquals(
        fetched[0].attributes["url.full"],
        "http://provider.test/v1/chat/completions",
      );
      // One, and ours.
      assertEquals(passed[0].headers.get("traceparent"), `00-${TRACE}-${chat.spanId}-01`);

      // A call whose trace is not recorded, and an event for a receiver whose address is a secret.
      await (await ask({}, { traceparent: `00-${"9".repeat(32)}-${PARENT}-00` })).text();
      await eventually(async () => {
        await (await ask({})).text();
        return passed.some(({ url }) => url.includes("hooks.test"));
      });
      await (await ask({}, { traceparent: `00-${"8".repeat(32)}-${PARENT}-01` })).text();
      await trace("8".repeat(32));
      assertEquals(receiver.spans.filter(({ traceId }) => traceId === "9".repeat(32)), []);
      assert(!receiver.raw.join("\n").includes("hooks.test"));
      assert(
        passed.filter(({ url }) => url.includes("hooks.test")).every((r) => !r.headers.has("traceparent")),
      );
    }, {
      provider: { base_url: "http://provider.test/v1" },
      config: {
        webhooks: [{ url: "http://hooks.test/canary-provider-key-000001", secret: "whsec_0123456789abcdef" }],
        keys: [{
          name: "test",
          secret: SECRET,
          spend_limit: { amount: "0.0003", period: "total" },
        }],
        models: [{
          id: "v/m",
          routes: [{ provider: "up", model: "m" }],
          pricing: { prompt: "0.000001", completion: "0" },
        }],
        teams: [],
      },
      env: { HTTP_PROXY: `http://127.0.0.1:${proxy.addr.port}`, NO_PROXY: "127.0.0.1,localhost" },
    });
  } finally {
    await proxy.shutdown();
  }
});

Deno.test("telemetry: a process that is told to end does not wait for a collector that does not answer", async () => {
  // It accepts connections and never says a word.
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const conns: Deno.Conn[] = [];
  const accepting = (async () => {
    for await (const conn of silent) conns.push(conn);
  })();
  for (const protocol of ["http/protobuf", "http/json", "grpc"]) {
    // It ends, or this waits for good: Deno itself would.
    await withRig(async ({ ask }) => {
      for (let i = 0; i < 20; i++) assertEquals((await ask({})).status, 200);
      await eventually(() => conns.length > 0);
    }, {
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${silent.addr.port}`,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      },
    });
  }
  silent.close();
  await accepting.catch(() => {});
  for (const conn of conns) conn.close();
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

Deno.test("telemetry: a turn over a WebSocket has a trace too", async () => {
  await withRig(async ({ gateway, trace, seen }) => {
    const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/v1/responses`, {
      headers: { authorization: `Bearer ${SECRET}`, traceparent: TRACEPARENT },
    } as unknown as string[]);
    socket.onopen = () =>
      socket.send(JSON.stringify({ type: "response.create", model: "v/m", input: PROMPT }));
    await new Promise<void>((resolve) => {
      socket.onmessage = ({ data }) => {
        if (data.includes('"response.completed"')) resolve();
      };
    });
    socket.close();
    const turn = await trace();
    assertTree(turn);
    assertEquals([turn.server.name, turn.server.parentSpanId], ["POST /v1/responses", PARENT]);
    assertEquals(seen[0].headers.get("traceparent"), `00-${TRACE}-${turn.of("chat m")[0].spanId}-01`);
  });
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
  }, { env: { OTEL_DENO: "" } });
});
