/** When new calls are refused: the limits of a body, too many calls, too many bytes, a process that is late or stops. */
import { assertEquals } from "@std/assert";
import { leastAnswer } from "../support/answers.ts";
import { type TestGateway, testGateway } from "../support/gateway.ts";
import { loopbackProvider } from "../support/provider.ts";
import { eventually } from "../support/time.ts";
import { ask, AUTH, HI, running } from "./running.ts";

Deno.test("the limits of the service, each with its code", () =>
  running({
    server: { max_body_bytes: 100_000, max_file_bytes: 3000, max_text_chars: 5000, max_messages: 5 },
  }, async (gateway) => {
    const chat = (content: unknown, more: object = {}) =>
      gateway.post("/v1/chat/completions", {
        model: "p/model",
        messages: [{ role: "user", content }],
        ...more,
      });
    const code = async (response: Promise<Response>) => {
      const { status, body } = await response.then(async (r) => ({ status: r.status, body: await r.json() }));
      return [status, body.error?.code];
    };
    const image = (bytes: number) => [{
      type: "image_url",
      image_url: { url: `data:image/png;base64,${btoa("x".repeat(bytes))}` },
    }];
    assertEquals(await code(chat("x".repeat(4990))), [200, undefined]);
    assertEquals(await code(chat("x".repeat(5001))), [413, "text_content_too_large"]);
    assertEquals(await code(chat("x".repeat(100_001))), [413, "payload_too_large"]);
    assertEquals(await code(chat(image(3000))), [200, undefined]);
    assertEquals(await code(chat(image(3001))), [413, "file_too_large"]);
    assertEquals(await code(chat("hi", { messages: Array(5).fill(HI[0]) })), [200, undefined]);
    assertEquals(await code(chat("hi", { messages: Array(6).fill(HI[0]) })), [422, "validation_error"]);
    assertEquals(
      await code(gateway.post("/v1/messages", { model: "p/model", max_tokens: 9, messages: [] })),
      [422, "validation_error"],
    );
    const tools = (n: number) =>
      Array.from(
        { length: n },
        (_, i) => ({ type: "function", function: { name: `f${i}`, parameters: {} } }),
      );
    assertEquals(await code(chat("hi", { tools: tools(256) })), [200, undefined]);
    assertEquals(await code(chat("hi", { tools: tools(300) })), [422, "validation_error"]);
    const search = [{ type: "web_search" }];
    assertEquals(await code(chat("hi", { tools: [...tools(256), ...search] })), [200, undefined]);
    assertEquals(await code(chat("hi", { tools: [...tools(257), ...search] })), [422, "validation_error"]);
    const native = tools(300).map((t) => ({ name: t.function.name, input_schema: {} }));
    const ask = { model: "p/model", max_tokens: 9, messages: HI };
    for (const list of [native, tools(300)]) {
      assertEquals(await code(gateway.post("/v1/messages", { ...ask, tools: list })), [200, undefined]);
    }
    const flat = tools(300).map((t) => ({ type: "function", ...t.function }));
    assertEquals(await code(gateway.post("/v1/responses", { model: "p/model", input: "hi", tools: flat })), [
      422,
      "validation_error",
    ]);
  }));

Deno.test("limits may be as small as an operator likes, and a refusal names the caller's field", () =>
  running({ server: { max_body_bytes: 500, max_file_bytes: 10, max_messages: 1 } }, async (gateway) => {
    const ask = async (input: unknown) => {
      const response = await gateway.post("/v1/responses", { model: "p/model", input });
      return [response.status, (await response.json()).error?.message];
    };
    const image = (bytes: number) => [{
      role: "user",
      content: [{
        type: "input_image",
        image_url: `data:image/png;base64,${new Uint8Array(bytes).toBase64()}`,
      }],
    }];
    assertEquals(await ask(image(10)), [200, undefined]);
    assertEquals(await ask(image(11)), [
      413,
      "An attachment of type image is too large: expected at most 10 bytes, got 11.",
    ]);
    assertEquals(await ask([...HI, ...HI]), [422, "Cannot read input: expected at most 1, got 2."]);
    assertEquals((await ask("x".repeat(500)))[0], 413);
  }));

Deno.test("too many calls under way are refused with a time to come back", async () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => open = resolve);
  const provider = loopbackProvider(async (seen) => {
    await opened;
    return leastAnswer(seen);
  });
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } }, {
    server: { max_in_flight: 1 },
  });
  const body = { model: "p/model", messages: HI };
  const first = gateway.post("/v1/chat/completions", body);
  await eventually(() => provider.seen.length > 0);
  const second = await gateway.post("/v1/messages", { ...body, max_tokens: 9 });
  assertEquals([second.status, second.headers.get("retry-after")], [503, "1"]);
  assertEquals((await second.json()).error.code, "service_unavailable");
  assertEquals((await ask(gateway, "GET", "/v1/models")).status, 200, "lists are no calls");
  open();
  assertEquals((await first).status, 200);
  await (await first).body?.cancel();
  await gateway.gateway.idle();
  const third = await gateway.post("/v1/chat/completions", body);
  assertEquals(third.status, 200);
  await third.body?.cancel();
  await gateway.close();
  await provider.close();
});

Deno.test("a body counts while it is there, a quarter of it while it is answered, and not at all afterwards", async () => {
  const answering = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const event = (data: object) => new TextEncoder().encode(`data: ${JSON.stringify(data)}\n\n`);
  const provider = loopbackProvider(async () => {
    await answering.promise;
    const chunk = { id: "c", object: "chat.completion.chunk", model: "model" };
    const events = async function* () {
      yield event({ ...chunk, choices: [{ index: 0, delta: { role: "assistant", content: "hi" } }] });
      await ended.promise;
      yield event({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
      yield event({
        ...chunk,
        choices: [],
        usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
      });
    };
    return new Response(ReadableStream.from(events()), { headers: { "content-type": "text/event-stream" } });
  });
  const body = JSON.stringify({
    model: "p/model",
    stream: true,
    messages: [{ role: "user", content: "x".repeat(4000) }],
  });
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } }, {
    server: { max_in_flight_bytes: body.length + 2000 },
  });
  const held = async () => {
    const page = await (await fetch(`${gateway.url}/metrics`)).text();
    return Number(/^sluice_in_flight_body_bytes (\d+)$/m.exec(page)![1]);
  };
  const send = () => gateway.post("/v1/chat/completions", body);
  try {
    const first = send();
    await eventually(() => provider.seen.length === 1);
    assertEquals(await held(), body.length);
    const refused = await send();
    assertEquals([refused.status, (await refused.json()).error.code], [503, "service_unavailable"]);
    answering.resolve();
    const reader = (await first).body!.getReader();
    await reader.read();
    assertEquals(await held(), Math.floor(body.length / 4));
    const second = await send();
    assertEquals(second.status, 200, "room for another while the first is answered");
    ended.resolve();
    await second.text();
    while (!(await reader.read()).done);
    await gateway.gateway.idle();
    assertEquals(await held(), 0);
  } finally {
    answering.resolve();
    ended.resolve();
    await gateway.close();
    await provider.close();
  }
});

Deno.test("a body that does not tell its size counts by what has come, at least 64 KiB, and one call alone is let in whatever its size", async () => {
  const provider = loopbackProvider(leastAnswer);
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } }, {
    server: { max_in_flight_bytes: 1024 },
  });
  const { inFlightBytes, release, abort } = holdUpload(gateway);
  try {
    assertEquals(await inFlightBytes(), 1 << 16);
    const body = JSON.stringify({ model: "p/model", messages: HI });
    const send = () => ask(gateway, "POST", "/v1/chat/completions", { body });
    assertEquals((await send()).status, 503);
    assertEquals(await release(body), 200);
    await gateway.gateway.idle();
    assertEquals((await send()).status, 200);
  } finally {
    await abort();
    await gateway.close();
    await provider.close();
  }
});

Deno.test("new calls are refused while the process is late with everything, and taken again when it is not", async () => {
  let time = 0;
  let late = true;
  const provider = loopbackProvider(leastAnswer);
  const gateway = await testGateway(
    { p: { api: "openai-chat", url: `${provider.url}/v1` } },
    {},
    // While it is late, each tick of the gateway's timer, due after 50 ms, comes after 600.
    { clock: { now: () => late ? time += 600 : time } },
  );
  const { abort } = holdUpload(gateway);
  const body = JSON.stringify({ model: "p/model", messages: HI });
  const send = () => ask(gateway, "POST", "/v1/chat/completions", { body });
  try {
    await eventually(async () => {
      const { status, code, headers } = await send();
      return status === 503 && code === "service_unavailable" && headers.get("retry-after") === "1";
    });
    late = false;
    await eventually(async () => (await send()).status === 200);
  } finally {
    await abort();
    await gateway.close();
    await provider.close();
  }
});

/** A call whose body comes in chunks, of which the last waits. */
function holdUpload(gateway: TestGateway) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const response = fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: AUTH,
    body: readable,
  });
  response.catch(() => {});
  return {
    inFlightBytes: () =>
      eventually(async () => {
        const page = await (await fetch(`${gateway.url}/metrics`)).text();
        return Number(/^sluice_in_flight_body_bytes (\d+)$/m.exec(page)![1]);
      }),
    abort: () => writer.abort().catch(() => {}),
    async release(body: string) {
      await writer.write(new TextEncoder().encode(body));
      await writer.close();
      const { status, body: rest } = await response;
      await rest?.cancel();
      return status;
    },
  };
}

Deno.test("GET /readyz turns 503 when stopping, and new calls are refused", () =>
  running({}, async (gateway) => {
    assertEquals((await ask(gateway, "GET", "/readyz")).status, 200);
    gateway.gateway.stop();
    assertEquals((await ask(gateway, "GET", "/readyz")).status, 503);
    assertEquals((await ask(gateway, "GET", "/healthz")).status, 200);
    const refused = await gateway.post("/v1/chat/completions", { model: "p/model", messages: HI });
    assertEquals([refused.status, (await refused.json()).error.code], [503, "service_unavailable"]);
  }));
