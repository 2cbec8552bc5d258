/** Attempts to connect that are given up: what they leave open, and which of them count. */
import { assertEquals } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { Attempts, dial } from "../../src/outgoing/dial.ts";
import { eventually, nextTurn, stoppedTicker } from "../support/time.ts";
import { filesTo } from "./files_to.ts";

/** Takes connections, and closes those that their client has closed. */
function listening() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let open = 0;
  const serving = (async () => {
    for await (const conn of listener) {
      open++;
      void (async () => {
        while (await conn.read(new Uint8Array(100)).catch(() => null) !== null);
        conn.close();
        open--;
      })();
    }
  })();
  return {
    port: listener.addr.port,
    open: () => open,
    async close() {
      listener.close();
      await serving;
    },
  };
}

/** Keeps the event loop busy, so that what it waits for comes all at once behind it. */
function busy(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

Deno.test("an attempt that is given up as its connection opens leaves no file open", async () => {
  const { ticker } = stoppedTicker();
  const server = listening();
  const attempts = new Attempts();
  try {
    for (let i = 0; i < 400; i++) {
      const hostname = i % 2 === 0 ? "127.0.0.1" : "localhost";
      const leaving = new AbortController();
      const dialed = dial(
        { secure: false, hostname, port: server.port, attempts },
        { firstByteMs: 60_000, signal: leaving.signal },
        ticker,
        { protocols: [] },
      ).then(({ conn }) => conn.close(), () => {});
      await nextTurn();
      busy(i % 5);
      leaving.abort();
      await dialed;
    }
    await eventually(() => server.open() === 0 && filesTo(server.port) === 0, {
      what: () => `${server.open()} connections, ${filesTo(server.port)} files`,
    });
  } finally {
    await server.close();
  }
});

Deno.test("attempts that time out before a handshake has begun do not count as handshakes that have not ended", async () => {
  const { ticker, pass } = stoppedTicker();
  const server = listening();
  try {
    for (const secure of [false, true]) {
      const attempts = new Attempts();
      const attempt = () =>
        dial(
          { secure, hostname: "127.0.0.1", port: server.port, attempts },
          { firstByteMs: 20 },
          ticker,
          { protocols: ["h2"] },
        ).then(({ conn }) => conn.close(), (thrown) => Failure.from(thrown).code);
      const all = Array.from({ length: 70 }, attempt);
      pass(30);
      assertEquals(new Set(await Promise.all(all)), new Set(["provider_timeout"]));
      assertEquals(attempts.stuck, 0);
    }
    await eventually(() => server.open() === 0);
  } finally {
    await server.close();
  }
});

Deno.test("behind 64 handshakes that have not ended, a server is tried by one attempt at a time", async () => {
  const { ticker } = stoppedTicker();
  const server = listening();
  try {
    const attempts = new Attempts();
    const attempt = () =>
      dial(
        { secure: false, hostname: "127.0.0.1", port: server.port, attempts },
        { firstByteMs: 60_000 },
        ticker,
        { protocols: [] },
      ).then(({ conn }) => conn.close(), (thrown) => Failure.from(thrown).code);
    const outcomes = async (stuck: number) => {
      attempts.stuck = stuck;
      return await Promise.all(Array.from({ length: 5 }, attempt));
    };
    assertEquals(await outcomes(63), [undefined, undefined, undefined, undefined, undefined]);
    assertEquals(await outcomes(64), [undefined, ...Array(4).fill("provider_unavailable")]);
    // One that succeeds ends the caution.
    assertEquals(attempts.stuck, 0);
    await eventually(() => server.open() === 0);
  } finally {
    await server.close();
  }
});
