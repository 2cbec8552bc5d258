/** Resumed streams over every way of serving, and with what changes a stream on its way: searches and mended calls. */
import { assert, assertEquals } from "@std/assert";
import { assemble } from "../../src/assemble.ts";
import { loadValue } from "../../src/config/load.ts";
import { serveByHost } from "../../src/transport/host_server.ts";
import { serveTls } from "../../src/transport/server.ts";
import { searchStage } from "../clients/search_stage.ts";
import { chatChunk } from "../support/answers.ts";
import { hosted } from "../support/deploy_shape.ts";
import { SECRET, testConfig, testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";
import { scriptedProvider } from "../support/script/mod.ts";
import { CA, TLS } from "../support/tls.ts";
import { eventually, PATIENCE_MS, steadyClock } from "../support/time.ts";

const BODIES = {
  "/v1/chat/completions": { messages: [{ role: "user", content: "hi" }] },
  "/v1/messages": { messages: [{ role: "user", content: "hi" }], max_tokens: 100 },
  "/v1/responses": { input: "hi" },
};

interface Way {
  url: string;
  model?: string;
  /** Fields of the bodies, by path. */
  more?: Record<string, Record<string, unknown>>;
  client?: Deno.HttpClient;
}

/** Asks in each format, and has the rest of the stream behind its start, its middle and its end. Answers the streams. */
async function comesBack(
  { url, model = "p/model", more = {}, client }: Way,
): Promise<string[]> {
  const authorization = `Bearer ${SECRET}`;
  const texts: string[] = [];
  for (const [path, body] of Object.entries(BODIES)) {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { authorization, "content-type": "application/json", "x-svc-resume": "true" },
      body: JSON.stringify({ model, stream: true, ...body, ...more[path] }),
      client,
    });
    const text = (await response.text()).replaceAll(/^:.*\n\n/gm, "");
    assertEquals([response.status, response.headers.get("x-svc-resume")], [200, "300"], text);
    const events = text.split(/(?<=\n\n)/);
    const ids = events.map((event) => event.match(/^id: (.*)$/m)![1]);
    for (const at of [-1, 0, Math.floor(ids.length / 2), ids.length - 1]) {
      const rest = await fetch(`${url}/v1/generations/${response.headers.get("x-request-id")}/stream`, {
        headers: { authorization, ...(at >= 0 && { "last-event-id": ids[at] }) },
        client,
      });
      const got = (await rest.text()).replaceAll(/^:.*\n\n/gm, "");
      assertEquals(got, events.slice(at + 1).join(""), `${path} behind ${at}`);
    }
    texts.push(text);
  }
  return texts;
}

const SAID = { text: "Good morning, all of you." };
const frames = () => scriptedProvider("openai-chat", [SAID, SAID, SAID]);

Deno.test("a stream with searches comes back", async () => {
  await using stage = await searchStage();
  const texts = await comesBack({
    url: stage.url,
    model: stage.model,
    more: {
      "/v1/chat/completions": { web_search_options: {} },
      "/v1/messages": { tools: [{ type: "web_search_20250305", name: "web_search" }] },
      "/v1/responses": { tools: [{ type: "web_search" }] },
    },
  });
  for (const text of texts) assert(text.includes("site.test/one"), text);
});

Deno.test("a stream with a mended call comes back as it was mended", async () => {
  const call = (part: string, first = false) =>
    chatChunk({
      tool_calls: [{
        index: 0,
        ...(first && { id: "call_1", type: "function" }),
        function: { ...(first && { name: "book" }), arguments: part },
      }],
    });
  const provider = loopbackProvider(() =>
    sseResponse([
      call('{"seat', true),
      call('s": "2", "to": "Oslo"'),
      chatChunk({}, "tool_calls"),
      "data: [DONE]\n\n",
    ])
  );
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
  const parameters = {
    type: "object",
    properties: { seats: { type: "integer" }, to: { type: "string" } },
    required: ["seats", "to"],
  };
  const said = await gateway.post("/v1/chat/completions", {
    model: "p/model",
    stream: true,
    messages: [{ role: "user", content: "hi" }],
    tools: [{ type: "function", function: { name: "book", parameters } }],
  }, { headers: { "x-svc-resume": "true", "x-svc-repair": "true" } });
  const text = await said.text();
  const parts = [...text.matchAll(/^data: (\{.*)$/gm)].flatMap(([, data]) =>
    JSON.parse(data).choices[0]?.delta.tool_calls?.[0].function.arguments ?? []
  );
  assertEquals(JSON.parse(parts.join("")), { seats: 2, to: "Oslo" });
  const ids = [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id);
  const again = await fetch(`${gateway.url}/v1/generations/${said.headers.get("x-request-id")}/stream`, {
    headers: { authorization: `Bearer ${SECRET}`, "last-event-id": ids[1] },
  });
  assertEquals(await again.text(), text.slice(text.indexOf(`id: ${ids[2]}`)));
  await gateway.close();
  await provider.close();
});

Deno.test("a stream comes back over TLS, and on Deno.serve", { ignore: hosted }, async () => {
  for (const way of ["tls", "deno"] as const) {
    const provider = frames();
    const { config } = loadValue(testConfig({ p: { api: "openai-chat", url: provider.url } }), {
      env: () => undefined,
    });
    const gateway = await assemble(config, {
      now: Date.now,
      log: () => {},
      clock: steadyClock(),
      storeWaitMs: PATIENCE_MS,
    });
    const client = Deno.createHttpClient({ caCerts: [CA] });
    const options = {
      hostname: "127.0.0.1",
      port: 0,
      maxConnections: { most: 100 },
      headerMs: 60_000,
      idleMs: 60_000,
      handle: gateway.handle,
    };
    if (way === "tls") {
      const { server } = await serveTls(options, TLS);
      await comesBack({ url: `https://localhost:${server.addr.port}`, client });
      await server.shutdown();
    } else {
      const server = serveByHost(options);
      await comesBack({ url: `http://127.0.0.1:${server.addr.port}` });
      await server.shutdown();
    }
    client.close();
    await gateway.idle();
    await gateway.close();
    await provider.close();
  }
});

Deno.test("a stream whose caller was cut off is read to its end while the server drains", async () => {
  const gate = Promise.withResolvers<void>();
  const provider = loopbackProvider(() => {
    const encoder = new TextEncoder();
    const data = (content: string) =>
      encoder.encode(`data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content } }] })}\n\n`);
    return new Response(
      new ReadableStream({
        async start(controller) {
          controller.enqueue(data("one "));
          await gate.promise;
          controller.enqueue(data("two"));
          controller.enqueue(encoder.encode("data: [DONE]\n\n"));
          controller.close();
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  });
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
  const asked = await gateway.post("/v1/chat/completions", {
    model: "p/model",
    stream: true,
    messages: [{ role: "user", content: "hi" }],
  }, { headers: { "x-svc-resume": "true" } });
  const reader = asked.body!.getReader();
  await reader.read();
  await reader.cancel();
  const rest = await fetch(`${gateway.url}/v1/generations/${asked.headers.get("x-request-id")}/stream`, {
    headers: { authorization: `Bearer ${SECRET}` },
  });
  let text = "";
  const reading = (async () => {
    for await (const part of rest.body!.pipeThrough(new TextDecoderStream())) text += part;
  })();
  await eventually(() => text.includes("one"));
  const closed = gateway.close();
  gate.resolve();
  await Promise.all([reading, closed]);
  assert(text.includes("two") && text.includes("[DONE]"), text);
  await provider.close();
});

/** A stream is kept up to 8 MiB. */
const CHUNKS = 40;
const CHUNK_CHARS = 1 << 18;

Deno.test("who comes back to a stream of which not all was kept has what had ids, then the format's error", async () => {
  const chunk = (delta: unknown, finish: string | null = null) => ({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const usage = { prompt_tokens: 5, completion_tokens: 30, total_tokens: 35 };
  const provider = loopbackProvider(() =>
    sseResponse([
      ...Array.from({ length: CHUNKS }, (_, i) => chunk({ content: `${i} ${"x".repeat(CHUNK_CHARS)}` })),
      { ...chunk({}, "stop"), usage },
      "[DONE]",
    ].map((data) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`))
  );
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
  const authorization = `Bearer ${SECRET}`;
  for (const [path, body] of Object.entries(BODIES)) {
    const response = await gateway.post(path, { model: "p/model", stream: true, ...body }, {
      headers: { "x-svc-resume": "true" },
    });
    const [promised, rest] = (await response.text()).split(": resumption ended: the stream is too long\n\n");
    assertEquals([promised.match(/^id: /gm)!.length > 10, /^id: /m.test(rest)], [true, false], path);
    assert(rest.includes(`${CHUNKS - 1} xxx`), path);
    const again = async (last?: string) => {
      const got = await fetch(
        `${gateway.url}/v1/generations/${response.headers.get("x-request-id")}/stream`,
        {
          headers: { authorization, ...(last !== undefined && { "last-event-id": last }) },
        },
      );
      return { status: got.status, text: (await got.text()).replaceAll(/^:.*\n\n/gm, "") };
    };
    const kept = promised.replaceAll(/^:.*\n\n/gm, "");
    // The loss may still have to be written.
    const whole = (await eventually(async () => {
      const { status, text } = await again();
      return status === 200 && text.includes("was not stored to its end") ? text : null;
    }))!;
    assert(whole.startsWith(kept), path);
    const ids = [...kept.matchAll(/^id: (.*)$/gm)].map(([, id]) => id);
    const error = await again(ids.at(-1));
    assertEquals(error, { status: 200, text: whole.slice(kept.length) }, path);
    const last = [...error.text.matchAll(/^id: (.*)$/gm)].at(-1)![1];
    assertEquals(await again(last), { status: 204, text: "" }, path);
  }
  await gateway.close();
  await provider.close();
});
