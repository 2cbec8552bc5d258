/** Idle connections to a server that is not called again. */
import { assertEquals } from "@std/assert";
import { addressOf } from "../../src/outgoing/address.ts";
import { IdleSweep, idleSweep } from "../../src/outgoing/idle_sweep.ts";
import { openSend } from "../../src/outgoing/send.ts";
import { eventually, stoppedTicker } from "../support/time.ts";
import { begin, outcomeOf, rawServer, whole } from "./http2/raw_server.ts";

Deno.test("idle connections over HTTP/1.1 are closed when their time is over, although the server is not called again", async () => {
  const open = new Set<Deno.Conn>();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const release = Promise.withResolvers<void>();
  let asked = 0;
  const serving = (async () => {
    for await (const conn of listener) {
      open.add(conn);
      void (async () => {
        const buffer = new Uint8Array(4096);
        while (await conn.read(buffer).catch(() => null) !== null) {
          asked++;
          await release.promise;
          await conn.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"));
        }
        open.delete(conn);
        conn.close();
      })();
    }
  })().catch(() => {});
  const url = `http://127.0.0.1:${listener.addr.port}/`;
  const { ticker, pass } = stoppedTicker();
  const send = openSend();
  const call = async () => {
    const reply = await send(
      { url, headers: {}, body: "{}", firstByteMs: 60_000, idleMs: 60_000 },
      ticker,
    );
    while (await reply.read() !== null);
    reply.close();
  };
  const calls = [call(), call(), call()];
  await eventually(() => asked === 3);
  release.resolve();
  await Promise.all(calls);
  const { pool } = addressOf(url);
  idleSweep.sweep();
  assertEquals([pool.size, open.size], [3, 3]);
  pass(29_000);
  // The last one is used again.
  await call();
  pass(2000);
  idleSweep.sweep();
  assertEquals(pool.size, 1);
  await eventually(() => open.size === 1);
  pass(30_000);
  idleSweep.sweep();
  assertEquals(pool.size, 0);
  await eventually(() => open.size === 0);
  listener.close();
  await serving;
});

Deno.test("an idle connection over HTTP/2 is closed when its time is over, and one with an open request is not", async () => {
  const { ticker, pass } = stoppedTicker();
  let held: (() => Promise<void>) | undefined;
  let left = 0;
  const server = rawServer(async (connection) => {
    await connection.preface();
    await connection.write(begin);
    for (let next = await connection.request(); next !== null; next = await connection.request()) {
      const { id } = next;
      if (id === 3) held = () => connection.write(...whole(id, "late"));
      else await connection.write(...whole(id, "ok"));
    }
    left++;
  });
  const { http2 } = addressOf(server.url);
  try {
    assertEquals(await outcomeOf(server.url, ticker), "200 ok");
    const slow = outcomeOf(server.url, ticker, { firstByteMs: 600_000 });
    await eventually(() => held !== undefined);
    pass(100_000);
    idleSweep.sweep();
    assertEquals(http2.size, 1);
    await held!();
    assertEquals(await slow, "200 late");
    pass(89_000);
    idleSweep.sweep();
    assertEquals([http2.size, left], [1, 0]);
    pass(1000);
    idleSweep.sweep();
    assertEquals(http2.size, 0);
    await eventually(() => left === 1);
  } finally {
    await server.close();
  }
});

Deno.test("pools are watched while they have connections, and not after that", () => {
  const sweep = new IdleSweep();
  let [looks, has] = [0, true];
  sweep.watch({
    closeOld() {
      looks++;
      return has;
    },
  });
  sweep.sweep();
  has = false;
  sweep.sweep();
  sweep.sweep();
  assertEquals(looks, 2);
});
