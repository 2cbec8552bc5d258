/** How much of a body is read, and for how long. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import type { Reply } from "../../src/outgoing/reply.ts";
import { readBody, readRefusal } from "../../src/providers/reply_body.ts";
import { nextTurn, stoppedTicker } from "../support/time.ts";

/** A reply that gives a piece at each of so many reads; `null`: it keeps the reader waiting until it is closed. */
function replyOf(piece: Uint8Array | null, most = 1000) {
  const seen = { reads: 0, closed: false };
  const closing = Promise.withResolvers<never>();
  closing.promise.catch(() => {});
  const reply = {
    ended: false,
    read() {
      if (seen.reads++ === most) return null;
      return piece ?? closing.promise;
    },
    close() {
      seen.closed = true;
      closing.reject(new Error("closed"));
    },
  };
  return { reply: reply as unknown as Reply, seen };
}

Deno.test("readBody() gives up an answer of more than 64 MiB", async () => {
  const { reply, seen } = replyOf(new Uint8Array(1 << 20), 80);
  const reported: number[] = [];
  const failure = await assertRejects(
    async () =>
      await readBody(reply, new Uint8Array(0), (bytes) => {
        reported.push(bytes);
        return Promise.resolve();
      }),
    Failure,
  );
  assertEquals([failure.code, seen.reads], ["provider_unavailable", 65]);
  assertEquals(reported, Array(64).fill(1 << 20));
});

Deno.test("readBody() reports what it reads in portions, and waits after each", async () => {
  const { reply, seen } = replyOf(new Uint8Array(1000));
  const waiting = Promise.withResolvers<void>();
  void Promise.resolve(readBody(reply, new Uint8Array(0), () => waiting.promise)).catch(() => {});
  await nextTurn();
  // 128 KiB.
  assertEquals(seen.reads, 132);
});

Deno.test("readRefusal() reads 64 KiB of an error without end, and closes it", async () => {
  const { ticker } = stoppedTicker();
  const { reply, seen } = replyOf(new TextEncoder().encode("0123456789abcdef".repeat(64)));
  const text = await readRefusal(reply, ticker);
  assertEquals([text.length, seen.reads, seen.closed], [65_536, 64, true]);
});

Deno.test("readRefusal() waits five seconds for an error that does not come", async () => {
  const { ticker, pass } = stoppedTicker();
  const { reply, seen } = replyOf(null);
  let text: string | null = null;
  readRefusal(reply, ticker).then((read) => text = read);
  for (let i = 0; i < 49; i++) pass(100);
  await nextTurn();
  assert(text === null && !seen.closed);
  for (let i = 0; i < 3; i++) pass(100);
  await nextTurn();
  assertEquals([text, seen.closed], ["", true]);
});
