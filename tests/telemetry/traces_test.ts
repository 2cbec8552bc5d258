/** Traces as a collector gets them from a gateway that runs as a process of its own. */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { SECRET } from "../support/gateway.ts";
import { eventually } from "../support/time.ts";
import { type Receiver, type SpanSeen } from "./receiver.ts";
import { ANSWER, assertTree, PARENT, PROMPT, TRACE, TRACEPARENT, whole, withRig } from "./rig.ts";

Deno.test("telemetry: a whole and a streamed call continue the caller's trace and hand it on", async () => {
  await withRig(async ({ ask, trace, seen, receiver }) => {
    const response = await ask({}, { traceparent: TRACEPARENT, tracestate: "vendor=1" });
    const { id } = await response.json();
    const first = await trace();
    assertTree(first);
    const { server } = first;
    assertEquals([server.name, server.parentSpanId, server.status], ["POST /v1/chat/completions", PARENT, 0]);
    // All of these a server's span must have.
    assertEquals(
      ["http.request.method", "http.route", "url.path", "url.scheme", "http.response.status_code"].map((
        name,
      ) => server.attributes[name]),
      ["POST", "/v1/chat/completions", "/v1/chat/completions", "http", 200],
    );
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

Deno.test("telemetry: calls refused for what they cost or how many they are have whole traces", async () => {
  const keys = {
    spent: "sk_live_spentspentspentspentspent01",
    poor: "sk_live_poorpoorpoorpoorpoorpoor01",
    fast: "sk_live_fastfastfastfastfastfast01",
  };
  const cases = [
    { key: keys.fast, status: 429, type: "provider_rate_limited" },
    { key: keys.spent, status: 429, type: "api_key_limit_exceeded" },
    { key: keys.poor, status: 402, type: "insufficient_funds" },
  ];
  await withRig(async ({ ask, trace, seen }) => {
    await (await ask({}, { authorization: `Bearer ${keys.fast}` })).json();
    assertEquals(seen.length, 1);
    const traceOf = (nth: number, stream: boolean) => String(2 * nth + (stream ? 2 : 1)).repeat(32);
    // All are asked before the first trace is waited for: the key's minute must not be over.
    for (const [nth, { key, status }] of cases.entries()) {
      for (const stream of [false, true]) {
        const traceparent = `00-${traceOf(nth, stream)}-${PARENT}-01`;
        const response = await ask({ stream }, { traceparent, authorization: `Bearer ${key}` });
        const said = await response.text();
        assertEquals(response.status, status, said);
      }
    }
    for (const [nth, { status, type }] of cases.entries()) {
      for (const stream of [false, true]) {
        const refused = await trace(traceOf(nth, stream));
        assertTree(refused);
        const { server } = refused;
        assertEquals([server.name, server.parentSpanId, server.status], [
          "POST /v1/chat/completions",
          PARENT,
          0,
        ]);
        assertEquals(server.attributes["http.response.status_code"], status);
        assertEquals(server.attributes["error.type"], type);
        assertEquals(server.attributes["sluice.team"], "crew");
        const [admission, ...more] = refused.of("admission");
        assertEquals([admission.parentSpanId, admission.attributes["error.type"]], [server.spanId, type]);
        assertEquals([more, refused.of("chat m")], [[], []]);
      }
    }
    assertEquals(seen.length, 1);
  }, {
    config: {
      keys: [
        {
          name: "spent",
          secret: keys.spent,
          team: "crew",
          spend_limit: { amount: "0.0000001", period: "total" },
        },
        { name: "poor", secret: keys.poor, team: "crew", account: "poor" },
        { name: "fast", secret: keys.fast, team: "crew", rate_limit: { requests_per_minute: 1 } },
      ],
      accounts: [{ name: "default", credits: null }, { name: "poor", credits: "0" }],
      models: [{
        id: "v/m",
        routes: [{ provider: "up", model: "m" }],
        pricing: { prompt: "0.000001", completion: "0.000001" },
      }],
    },
  });
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
