import { assertEquals, assertRejects } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { openSend } from "../../src/outgoing/send.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";
import { stoppedTicker } from "../support/time.ts";

const send = openSend();
const exchange = (url: string) => ({ url, headers: {}, body: "{}", firstByteMs: 60_000, idleMs: 60_000 });

Deno.test("send() hands on every byte of a stream, also when the reader is slow", async () => {
  const big = "x".repeat(300_000);
  const provider = loopbackProvider(() => sseResponse(["data: a\n\n", big, "ü".repeat(5000), "end"]));
  const reply = await send(exchange(provider.url), stoppedTicker().ticker);
  let text = "";
  const decoder = new TextDecoder();
  for (let bytes = await reply.read(); bytes !== null; bytes = await reply.read()) {
    text += decoder.decode(bytes, { stream: true });
  }
  reply.close();
  assertEquals(text, `data: a\n\n${big}${"ü".repeat(5000)}end`);
  await provider.close();
});

Deno.test("send() gives up a provider that sends no first byte", async () => {
  const { ticker, clock } = stoppedTicker();
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  const provider = loopbackProvider(async () => {
    clock.move(60_001);
    await held;
    return new Response();
  });
  const failure = await assertRejects(() => send(exchange(provider.url), ticker), Failure);
  assertEquals(failure.code, "provider_timeout");
  release();
  await provider.close();
});

Deno.test("send() gives up a stream that falls silent, and not one whose reader does", async () => {
  const { ticker, clock } = stoppedTicker();
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  const provider = loopbackProvider(() =>
    new Response(
      new ReadableStream({
        async start(controller) {
          controller.enqueue(new TextEncoder().encode("one"));
          await held;
          controller.close();
        },
      }),
    )
  );
  const reply = await send(exchange(provider.url), ticker);
  assertEquals((await reply.read())?.length, 3);
  clock.move(1_000_000);
  ticker.tick();
  const second = reply.read();
  clock.move(60_001);
  const failure = await assertRejects(() => second, Failure);
  assertEquals(failure.code, "provider_timeout");
  reply.close();
  release();
  await provider.close();
});

Deno.test("send() says that nobody listens", async () => {
  const failure = await assertRejects(
    () => send(exchange("http://127.0.0.1:9"), stoppedTicker().ticker),
    Failure,
  );
  assertEquals(failure.code, "provider_unavailable");
});
