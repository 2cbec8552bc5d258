/** Servers that agree on HTTP/2 and answer nothing over it: they are asked over HTTP/1.1. */
import { assert, assertEquals } from "@std/assert";
import { CODE } from "../../../src/outgoing/http2/connection_error.ts";
import { goaway } from "../../../src/outgoing/http2/frames.ts";
import { Ticker } from "../../../src/timing/ticker.ts";
import { eventually, stoppedTicker } from "../../support/time.ts";
import { begin, head, outcomeOf, type RawConnection, rawServer, reset, whole } from "./raw_server.ts";

const LOST = "provider_unavailable";
const SILENT = "provider_timeout";
const HTTP1 = "200 http/1.1";

/** What a server does for a request over HTTP/2, and what the requests come to. */
const WAYS: Record<
  string,
  { act: (connection: RawConnection, id: number) => Promise<unknown>; comesTo: string }
> = {
  "sends nothing, not even SETTINGS": { act: () => Promise.resolve(), comesTo: SILENT },
  "sends SETTINGS alone": { act: (connection) => connection.write(begin), comesTo: SILENT },
  "resets each stream": {
    act: (connection, id) => connection.write(begin, reset(id, CODE.protocolError)),
    comesTo: LOST,
  },
  "closes each connection": { act: () => Promise.reject(new Error("closed")), comesTo: LOST },
  "sends invalid headers": {
    act: (connection, id) => connection.write(begin, head(id, [[":status", "200"], ["Server", "x"]])),
    comesTo: LOST,
  },
};

for (const [name, { act, comesTo }] of Object.entries(WAYS)) {
  Deno.test(`a server that ${name} over HTTP/2 is asked over HTTP/1.1 after three requests`, async () => {
    const { ticker, pass } = stoppedTicker();
    let asked = 0;
    const server = rawServer(async (connection) => {
      await connection.preface();
      for (let next = await connection.request(); next !== null; next = await connection.request()) {
        asked++;
        await act(connection, next.id);
      }
    }, ["h2", "http/1.1"]);
    const outcome = async () => {
      pass(100);
      const before = asked;
      const coming = outcomeOf(server.url, ticker);
      let ended = false;
      coming.finally(() => ended = true);
      await eventually(() => ended || (comesTo === SILENT && asked > before));
      pass(60_001);
      return await coming;
    };
    try {
      for (let i = 0; i < 3; i++) assertEquals(await outcome(), comesTo);
      for (let i = 0; i < 3; i++) assertEquals(await outcome(), HTTP1);
      assertEquals(asked, 3);
      // Later one request is enough to see that nothing has changed.
      pass(600_000);
      assertEquals([await outcome(), await outcome(), asked], [comesTo, HTTP1, 4]);
    } finally {
      await server.close();
    }
  });
}

Deno.test("requests that end unanswered at the same time are one sign that a server answers nothing over HTTP/2", async () => {
  const { ticker, pass } = stoppedTicker();
  let silent = true;
  const open: number[] = [];
  const server = rawServer(async (connection) => {
    await connection.preface();
    await connection.write(begin);
    for (let next = await connection.request(); next !== null; next = await connection.request()) {
      open.push(next.id);
      if (!silent) await connection.write(...whole(next.id, "over HTTP/2"));
    }
  }, ["h2", "http/1.1"]);
  try {
    for (let round = 1; round <= 2; round++) {
      pass(100);
      const all = Promise.all(Array.from({ length: 10 }, () => outcomeOf(server.url, ticker)));
      await eventually(() => open.length === round * 10);
      pass(60_001);
      assertEquals(new Set(await all), new Set([SILENT]));
    }
    silent = false;
    assertEquals(await outcomeOf(server.url, ticker), "200 over HTTP/2");
    silent = true;
    for (let i = 0; i < 2; i++) {
      pass(100);
      const late = outcomeOf(server.url, ticker);
      await eventually(() => open.length === 22 + i);
      pass(60_001);
      assertEquals(await late, SILENT);
    }
    silent = false;
    assertEquals(await outcomeOf(server.url, ticker), "200 over HTTP/2");
  } finally {
    await server.close();
  }
});

Deno.test("a server that has answered over HTTP/2 is asked over it however slow it becomes, until it has not answered for long", async () => {
  const { ticker, pass } = stoppedTicker();
  let asked = 0;
  const server = rawServer(async (connection) => {
    await connection.preface();
    await connection.write(begin);
    for (let next = await connection.request(); next !== null; next = await connection.request()) {
      if (++asked === 1) await connection.write(...whole(next.id, "over HTTP/2"));
    }
  }, ["h2", "http/1.1"]);
  const slow = async () => {
    pass(100);
    const before = asked;
    const late = outcomeOf(server.url, ticker);
    await eventually(() => asked > before);
    pass(60_001);
    assertEquals(await late, SILENT);
  };
  try {
    assertEquals(await outcomeOf(server.url, ticker), "200 over HTTP/2");
    for (let i = 0; i < 9; i++) await slow();
    pass(600_000);
    for (let i = 0; i < 3; i++) await slow();
    assertEquals(await outcomeOf(server.url, ticker), HTTP1);
  } finally {
    await server.close();
  }
});

Deno.test("a server with HTTP/2 alone is asked over it, however many requests it leaves unanswered", async () => {
  const { ticker, pass } = stoppedTicker();
  let asked = 0;
  const server = rawServer(async (connection) => {
    await connection.preface();
    await connection.write(begin);
    for (let next = await connection.request(); next !== null; next = await connection.request()) {
      if (++asked > 6) await connection.write(...whole(next.id, "at last"));
    }
  });
  try {
    for (let i = 1; i <= 6; i++) {
      const late = outcomeOf(server.url, ticker);
      await eventually(() => asked === i);
      pass(60_001);
      assertEquals(await late, SILENT);
    }
    assertEquals(await outcomeOf(server.url, ticker), "200 at last");
  } finally {
    await server.close();
  }
});

/** What a server does whose first frames are in the same packets as the end of the handshake, as they may be with TLS 1.2. */
async function withHandshake<T>(work: () => Promise<T>): Promise<T> {
  const { startTls } = Deno;
  Deno.startTls = async (...args) => {
    const conn = await startTls(...args);
    const handshake = conn.handshake.bind(conn);
    const read = conn.read.bind(conn);
    const first = new Uint8Array(1000);
    let arrived = 0;
    conn.handshake = async () => {
      const done = await handshake();
      if (done.alpnProtocol === "h2") arrived = await read(first) ?? 0;
      return done;
    };
    conn.read = (into) => {
      if (arrived === 0) return read(into);
      into.set(first.subarray(0, arrived));
      const n = arrived;
      arrived = 0;
      return Promise.resolve(n);
    };
    return conn;
  };
  try {
    return await work();
  } finally {
    Deno.startTls = startTls;
  }
}

for (const [protocols, comesTo] of [[["h2", "http/1.1"], HTTP1], [["h2"], LOST]] as const) {
  Deno.test(`a server with ${protocols} that closes each connection before it is used is not called without end`, async () => {
    const ticker = new Ticker();
    const server = rawServer(
      async (connection) => {
        await connection.write(begin, goaway(CODE.noError));
        while (await connection.frame() !== null);
      },
      [...protocols],
    );
    const calls = () => Promise.all(Array.from({ length: 5 }, () => outcomeOf(server.url, ticker)));
    try {
      assertEquals(await withHandshake(calls), Array(5).fill(comesTo));
      assert(server.connections.length < 30, `${server.connections.length} connections`);
    } finally {
      await server.close();
    }
  });
}
