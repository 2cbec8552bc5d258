/** On which connections requests over HTTP/2 go. */
import { assert, assertEquals } from "@std/assert";
import { addressOf } from "../../../src/outgoing/address.ts";
import { CODE } from "../../../src/outgoing/http2/connection_error.ts";
import type { Http2Connection } from "../../../src/outgoing/http2/connection.ts";
import { Http2Pool } from "../../../src/outgoing/http2/pool.ts";
import { FRAME, frame, SETTING, settings } from "../../../src/outgoing/http2/frames.ts";
import { eventually, stoppedTicker } from "../../support/time.ts";
import { begin, outcomeOf, rawServer, reset, whole } from "./raw_server.ts";

const { ticker } = stoppedTicker();

/** A server without HTTP/1.1 that takes so many requests at a time on a connection, and what it was asked. */
function strictServer(most: number) {
  const seen = { refused: 0, answer: Promise.withResolvers<void>() };
  const server = rawServer(async (connection) => {
    await connection.preface();
    await connection.write(settings([[SETTING.maxConcurrentStreams, most]]));
    let open = 0;
    for (let next = await connection.request(); next !== null; next = await connection.request()) {
      const { id } = next;
      if (open >= most) {
        seen.refused++;
        await connection.write(reset(id, CODE.refusedStream));
        continue;
      }
      open++;
      void seen.answer.promise.then(() => {
        open--;
        return connection.write(...whole(id, "ok"));
      });
    }
  });
  return { server, seen };
}

Deno.test("a server's places are counted: of requests that come together, none goes where there is none", async () => {
  const { server, seen } = strictServer(2);
  try {
    seen.answer.resolve();
    assertEquals(await outcomeOf(server.url, ticker), "200 ok");
    seen.answer = Promise.withResolvers();
    const all = Promise.all(Array.from({ length: 60 }, () => outcomeOf(server.url, ticker)));
    await eventually(() => server.connections.length === 30);
    seen.answer.resolve();
    assertEquals([new Set(await all), seen.refused], [new Set(["200 ok"]), 0]);
  } finally {
    await server.close();
  }
});

Deno.test("a rush to a server of whose few places nothing is known comes to answers", async () => {
  const { server, seen } = strictServer(1);
  try {
    const all = Promise.all(Array.from({ length: 90 }, () => outcomeOf(server.url, ticker)));
    all.then(() => seen.answer.resolve());
    await eventually(() => server.connections.length >= 90);
    seen.answer.resolve();
    assertEquals(new Set(await all), new Set(["200 ok"]));
  } finally {
    await server.close();
  }
});

Deno.test("a connection that died without a word gets no more requests once it is silent to a question", async () => {
  const { ticker, clock } = stoppedTicker();
  const server = rawServer(async (connection, number) => {
    await connection.preface();
    await connection.write(begin);
    for (let next = await connection.request(); next !== null; next = await connection.request()) {
      if (number > 1 || next.id === 1) await connection.write(...whole(next.id, `on ${number}`));
    }
  });
  const move = (ms: number) => {
    clock.move(ms);
    ticker.tick();
  };
  try {
    assertEquals(await outcomeOf(server.url, ticker), "200 on 1");
    move(20_000);
    const first = outcomeOf(server.url, ticker);
    const pinged = () => server.connections[0].others.filter(({ type }) => type === FRAME.ping).length;
    await eventually(() => pinged() === 1);
    move(4000);
    const second = outcomeOf(server.url, ticker);
    await eventually(() => addressOf(server.url).http2.size === 1);
    move(2000);
    assertEquals(await outcomeOf(server.url, ticker), "200 on 2");
    // The others are not given up before their time: their answers may take it.
    assertEquals(server.connections.length, 2);
    move(60_000);
    assertEquals([await first, await second], ["provider_timeout", "provider_timeout"]);
  } finally {
    await server.close();
  }
});

Deno.test("a connection that answers the question goes on, however long the answers take", async () => {
  const { ticker, clock } = stoppedTicker();
  const server = rawServer(async (connection, number) => {
    await connection.preface();
    await connection.write(begin);
    for (let next = await connection.frame(); next !== null; next = await connection.frame()) {
      const { type, flags, id, payload } = next;
      if (type === FRAME.ping) await connection.write(frame(FRAME.ping, 1, 0, payload));
      else if (flags & 1 && type === FRAME.data && id !== 3) {
        await connection.write(...whole(id, `on ${number}`));
      }
    }
  });
  const move = (ms: number) => {
    clock.move(ms);
    ticker.tick();
  };
  try {
    assertEquals(await outcomeOf(server.url, ticker), "200 on 1");
    move(20_000);
    const slow = outcomeOf(server.url, ticker);
    for (let i = 0; i < 4; i++) {
      assertEquals(await outcomeOf(server.url, ticker), "200 on 1");
      move(10_000);
    }
    move(30_000);
    assertEquals(await slow, "provider_timeout");
    assert(server.connections.length === 1);
  } finally {
    await server.close();
  }
});

Deno.test("three requests in a row without a response decline HTTP/2, unless one is answered between them", () => {
  const pool = new Http2Pool();
  const unanswered = (at: number) => pool.unanswered(at, at + 1, false);
  for (const at of [0, 10]) unanswered(at);
  pool.answered(15);
  for (const at of [20, 30]) unanswered(at);
  assert(!pool.declined(31));
  unanswered(40);
  assert(pool.declined(41) && pool.declined(600_040) && !pool.declined(600_041));
  // Requests that were open at the same time count as one.
  const together = new Http2Pool();
  for (let i = 0; i < 9; i++) together.unanswered(0, 5 + i, false);
  assert(!together.declined(20));
  // A server that has answered in the last ten minutes is slow.
  const slow = new Http2Pool();
  slow.answered(0);
  for (const at of [1, 2, 3]) slow.unanswered(at * 10, at * 10 + 1, true);
  assert(!slow.declined(40));
  for (const at of [1, 2, 3]) slow.unanswered(600_000 + at * 10, 600_001 + at * 10, true);
  assert(slow.declined(600_040));
});

Deno.test("a pool that declines HTTP/2 keeps no connection, unless the server has no other protocol", () => {
  for (const alone of [false, true]) {
    const watched: unknown[] = [];
    const pool = new Http2Pool({ watch: (pool) => void watched.push(pool) });
    pool.alone = alone;
    const connections = [0, 1].map(() => {
      const connection = {
        size: 1,
        room: 1,
        heardAt: 0,
        idleSince: 0,
        isUnresponsive: () => false,
        retire: () => pool.remove(connection),
      } as unknown as Http2Connection;
      pool.add(connection, { now: () => 0 });
      return connection;
    });
    assertEquals(watched, [pool]);
    pool.decline(0);
    assertEquals(pool.size, alone ? connections.length : 0);
  }
});
