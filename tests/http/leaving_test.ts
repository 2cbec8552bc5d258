import { assertEquals } from "@std/assert";
import type { IncomingRequest } from "../../src/http/endpoint.ts";
import { chatChunk, leastAnswer } from "../support/answers.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { eventually, nextTurn, StoppedClock } from "../support/time.ts";

const USAGE = `data: ${
  JSON.stringify({
    id: "c",
    choices: [],
    usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
  })
}\n\n`;

/** Sees that a caller leaves, as the gateway does: now and then a call looks at its connection. */
function leaving() {
  const clock = new StoppedClock();
  const left = Promise.withResolvers<void>();
  return {
    options: {
      clock,
      onRequest: (request: Request) => request.signal.addEventListener("abort", () => left.resolve()),
    },
    async seen() {
      await left.promise;
      // Not so far that the process counts as one that stood still.
      await clock.moveOn(200);
    },
  };
}

const BODY = (stream: boolean) => ({ model: "p/model", stream, messages: [{ role: "user", content: "hi" }] });

for (const stream of [true, false]) {
  Deno.test(`a caller who leaves before the first byte is still billed, stream ${stream}`, async () => {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const { options, seen } = leaving();
    const provider = loopbackProvider(async () => {
      asked.resolve();
      await opened;
      if (stream) {
        return sseResponse([
          chatChunk({ content: "hello" }),
          chatChunk({}, "stop"),
          USAGE,
          "data: [DONE]\n\n",
        ]);
      }
      return Response.json({
        id: "c",
        object: "chat.completion",
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
      });
    });
    const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url + "/v1" } }, {}, options);
    const abort = new AbortController();
    const gone = fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${SECRET}` },
      body: JSON.stringify(BODY(stream)),
      signal: abort.signal,
    }).then((r) => r.text()).catch(() => "gone");
    await asked.promise;
    abort.abort();
    assertEquals(await gone, "gone");
    await seen();
    open();
    await gateway.gateway.idle();
    const { data } = await gateway.gateway.accounts.generations({});
    assertEquals(data.map((g) => [g.status, g.usage?.output_tokens, g.client_gone]), [[
      "completed",
      7,
      true,
    ]]);
    await gateway.close();
    await provider.close();
  });
}

Deno.test("a caller who leaves in the middle of a stream is still billed, and recorded as gone", async () => {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const { options, seen } = leaving();
  const provider = loopbackProvider(() => {
    const pieces = [
      chatChunk({ role: "assistant", content: "hello" }),
      chatChunk({ content: " there" }),
      chatChunk({}, "stop"),
      USAGE,
      "data: [DONE]\n\n",
    ];
    const encoder = new TextEncoder();
    return new Response(
      new ReadableStream({
        async start(controller) {
          controller.enqueue(encoder.encode(pieces[0]));
          await opened;
          for (const piece of pieces.slice(1)) controller.enqueue(encoder.encode(piece));
          controller.close();
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  });
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url + "/v1" } }, {}, options);
  const abort = new AbortController();
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${SECRET}` },
    body: JSON.stringify(BODY(true)),
    signal: abort.signal,
  });
  const reader = response.body!.getReader();
  await reader.read();
  abort.abort();
  await reader.read().catch(() => {});
  await seen();
  open();
  await gateway.gateway.idle();
  const { data } = await gateway.gateway.accounts.generations({});
  assertEquals(data.map((g) => [g.status, g.usage?.output_tokens, g.client_gone]), [["completed", 7, true]]);
  await gateway.close();
  await provider.close();
});

/** A request whose body came with its head. @param signal asked for each time that the gateway looks at it */
function requestOf(body: unknown, signal: () => AbortSignal): IncomingRequest {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  return {
    method: "POST",
    url: "http://127.0.0.1/v1/chat/completions",
    headers: new Headers({ authorization: `Bearer ${SECRET}`, "content-length": `${bytes.length}` }),
    body: null,
    get signal() {
      return signal();
    },
    arrayBuffer: () => Promise.resolve(bytes.buffer),
    atHand: (read) => read(bytes),
  };
}

/** Calls that are there in one turn of the event loop, more than begin in one. */
const CROWDS = {
  "its stream waits for its turn": { stream: true, calls: 20 },
  "it waits in line": { stream: false, calls: 60 },
};
for (const [what, { stream, calls }] of Object.entries(CROWDS)) {
  Deno.test(`a caller who leaves while ${what} is not asked for, and keeps no place`, async () => {
    const asked: string[] = [];
    const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
    const message = { role: "assistant", content: "hello" };
    const provider = loopbackProvider(({ body }) => {
      asked.push((body as { messages: { content: string }[] }).messages[0].content);
      return stream
        ? sseResponse([chatChunk({ content: "hello" }), chatChunk({}, "stop"), USAGE, "data: [DONE]\n\n"])
        : Response.json({ id: "c", choices: [{ index: 0, message, finish_reason: "stop" }], usage });
    });
    const { url, gateway, close } = await testGateway({
      p: { api: "openai-chat", url: provider.url + "/v1" },
    });
    // Those who leave do so once the gateway looks whether they are there.
    const request = (content: string, leaves: boolean) => {
      const caller = new AbortController();
      return requestOf({ model: "p/model", stream, messages: [{ role: "user", content }] }, () => {
        if (leaves) queueMicrotask(() => caller.abort());
        return caller.signal;
      });
    };
    const stay = calls - 8;
    const names = Array.from({ length: calls }, (_, i) => `call ${i}`);
    const answers = names.map((name, i) => gateway.handle(request(name, i >= stay)));
    const texts = await Promise.all(answers.map(async (answer) => await (await answer).text()));
    assertEquals(texts.filter((text) => text.includes("hello")).length, stay);
    assertEquals(asked.toSorted(), names.slice(0, stay).toSorted());
    await gateway.idle();
    assertEquals((await gateway.accounts.generations({ limit: 100 })).data.length, stay);
    const metrics = await fetch(`${url}/metrics`).then((r) => r.text());
    assertEquals(/^sluice_in_flight (\d+)$/m.exec(metrics)?.[1], "0");
    await close();
    await provider.close();
  });
}

Deno.test("a caller who leaves while its call waits for money is not asked for, and pays nothing", async () => {
  const begun = Promise.withResolvers<void>();
  const { promise: going, resolve: go } = Promise.withResolvers<void>();
  const provider = loopbackProvider(async (seen) => {
    begun.resolve();
    await going;
    return leastAnswer(seen);
  });
  // One call is expected to cost some 0.6, until it has ended.
  const { gateway, close } = await testGateway({
    p: {
      api: "openai-chat",
      url: provider.url + "/v1",
      model: { max_completion_tokens: 60, pricing: { prompt: "0", completion: "0.01" } },
    },
  }, { keys: [{ name: "test", secret: SECRET, spend_limit: { amount: "1", period: "day" } }] });
  const stays = new AbortController();
  const leaves = new AbortController();
  const answered = gateway.handle(requestOf(BODY(false), () => stays.signal));
  await begun.promise;
  let looked = false;
  const left = gateway.handle(requestOf(BODY(false), () => {
    looked = true;
    return leaves.signal;
  }));
  await eventually(() => looked);
  leaves.abort();
  go();
  assertEquals((await answered).status, 200);
  await (await left).text();
  await gateway.idle();
  assertEquals(provider.seen.length, 1);
  assertEquals((await gateway.accounts.generations({})).data.length, 1);
  await close();
  await provider.close();
});

for (const stream of [false, true]) {
  Deno.test(`a caller who leaves while its call waits for a place at the provider is not asked for, stream ${stream}`, async () => {
    const begun = Promise.withResolvers<void>();
    const { promise: going, resolve: go } = Promise.withResolvers<void>();
    const provider = loopbackProvider(async (seen) => {
      begun.resolve();
      await going;
      return leastAnswer(seen);
    });
    const { gateway, logged, url, close } = await testGateway({
      p: { api: "openai-chat", url: provider.url + "/v1", more: { max_concurrent: 1 } },
    });
    const stays = new AbortController();
    const leaves = new AbortController();
    const answered = gateway.handle(requestOf(BODY(false), () => stays.signal));
    await begun.promise;
    let looked = false;
    const left = gateway.handle(requestOf(BODY(stream), () => {
      looked = true;
      return leaves.signal;
    }));
    await eventually(() => looked);
    // By now it waits for the place.
    for (let turns = 0; turns < 20; turns++) await nextTurn();
    leaves.abort();
    go();
    assertEquals((await answered).status, 200);
    await (await left).text();
    await gateway.idle();
    assertEquals(provider.seen.length, 1);
    assertEquals((await gateway.accounts.generations({})).data.length, 1);
    assertEquals(logged, []);
    // The place is free again.
    const next = await gateway.handle(requestOf(BODY(false), () => stays.signal));
    assertEquals(next.status, 200, url);
    await next.text();
    await close();
    await provider.close();
  });
}
