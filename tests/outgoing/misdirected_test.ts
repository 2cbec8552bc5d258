/** Status 421 (RFC 9110, section 15.5.20): the request may be sent again over another connection, whatever its method is. */
import { assertEquals } from "@std/assert";
import { addressOf } from "../../src/outgoing/address.ts";
import { openSend } from "../../src/outgoing/send.ts";
import { eventually, stoppedTicker, turns } from "../support/time.ts";
import { CA, TLS } from "../support/tls.ts";
import { begin, head, last, outcomeOf, rawServer, whole } from "./http2/raw_server.ts";

const { ticker } = stoppedTicker();
const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const WRONG = [
  "HTTP/1.1 421 Misdirected Request\r\ncontent-length: 2\r\n\r\nno",
  "HTTP/1.1 421 Misdirected Request\r\ncontent-length: 0\r\n\r\n",
  "HTTP/1.1 421\r\ntransfer-encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n",
];

/** A server over HTTP/1.1. @param answers by connection and by request on it; the last one is repeated */
function server1(listener: Deno.Listener, answers: readonly (readonly string[])[]) {
  const requests: string[] = [];
  const open: Deno.Conn[] = [];
  let accepted = 0;
  const serving = (async () => {
    for await (const conn of listener) {
      open.push(conn);
      const mine = answers[Math.min(accepted++, answers.length - 1)];
      const number = accepted;
      void (async () => {
        const buffer = new Uint8Array(65_536);
        for (let i = 0; await conn.read(buffer) !== null; i++) {
          requests.push(`${number}.${i + 1}`);
          await conn.write(new TextEncoder().encode(mine[Math.min(i, mine.length - 1)]));
        }
      })().catch(() => {});
    }
  })().catch(() => {});
  return {
    requests,
    async close() {
      listener.close();
      for (const conn of open) conn.close();
      await serving;
      await turns(10);
    },
  };
}

async function callOf(url: string): Promise<string> {
  const reply = await openSend({ caCerts: [CA] })(
    { url, headers: {}, body: "{}", firstByteMs: 60_000, idleMs: 60_000 },
    ticker,
  );
  let text = `${reply.status} `;
  for (let bytes = await reply.read(); bytes !== null; bytes = await reply.read()) {
    text += new TextDecoder().decode(bytes);
  }
  reply.close();
  return text;
}

for (const secure of [false, true]) {
  const listen = () => {
    const at = { hostname: "127.0.0.1", port: 0 };
    const listener = secure
      ? Deno.listenTls({ ...at, ...TLS, alpnProtocols: ["http/1.1"] })
      : Deno.listen(at);
    const { port } = listener.addr as Deno.NetAddr;
    return { listener, url: secure ? `https://localhost:${port}/` : `http://127.0.0.1:${port}/` };
  };
  const name = secure ? "HTTP/1.1 over TLS" : "HTTP/1.1";

  for (const wrong of WRONG) {
    Deno.test(`over ${name}, a request that a reused connection answers with ${JSON.stringify(wrong.slice(9, 40))} is sent on a new one`, async () => {
      const { listener, url } = listen();
      const server = server1(listener, [[OK, wrong], [OK]]);
      try {
        assertEquals(await callOf(url), "200 ok");
        assertEquals(await callOf(url), "200 ok");
        // The new connection is reused, and the other one is closed.
        assertEquals(await callOf(url), "200 ok");
        assertEquals(server.requests, ["1.1", "1.2", "2.1", "2.2"]);
        assertEquals(addressOf(url).pool.size, 1);
      } finally {
        await server.close();
      }
    });
  }

  Deno.test(`over ${name}, status 421 on a new connection is the answer, and the connection is not reused`, async () => {
    const { listener, url } = listen();
    const server = server1(listener, [[OK, WRONG[0]], [WRONG[0]], [WRONG[0]], [OK]]);
    try {
      assertEquals(await callOf(url), "200 ok");
      assertEquals(await callOf(url), "421 no");
      assertEquals(await callOf(url), "421 no");
      assertEquals(await callOf(url), "200 ok");
      assertEquals(server.requests, ["1.1", "1.2", "2.1", "3.1", "4.1"]);
    } finally {
      await server.close();
    }
  });
}

Deno.test("over HTTP/2, a request that a shared connection answers with 421 is sent on a new one, and open requests go on", async () => {
  const asked: string[] = [];
  let finish: (() => Promise<void>) | undefined;
  const server = rawServer(async (connection, number) => {
    await connection.preface();
    await connection.write(begin);
    for (let next = await connection.request(); next !== null; next = await connection.request()) {
      const { id } = next;
      asked.push(`${number}.${id}`);
      if (number === 1 && id === 3) finish = () => connection.write(last(id, "slow"));
      if (number === 1 && id === 3) await connection.write(head(id));
      else if (number === 1 && id === 5) {
        await connection.write(head(id, [[":status", "421"]]), last(id, "no"));
      } else await connection.write(...whole(id, "ok"));
    }
  });
  try {
    assertEquals(await outcomeOf(server.url, ticker), "200 ok");
    const slow = outcomeOf(server.url, ticker);
    await eventually(() => finish !== undefined);
    assertEquals(await outcomeOf(server.url, ticker), "200 ok");
    assertEquals(await outcomeOf(server.url, ticker), "200 ok");
    await finish!();
    assertEquals(await slow, "200 slow");
    assertEquals(asked, ["1.1", "1.3", "1.5", "2.1", "2.3"]);
    assertEquals(addressOf(server.url).http2.size, 1);
  } finally {
    await server.close();
  }
});

Deno.test("over HTTP/2, status 421 of the second connection too is the answer", async () => {
  const asked: string[] = [];
  const server = rawServer(async (connection, number) => {
    await connection.preface();
    await connection.write(begin);
    for (let next = await connection.request(); next !== null; next = await connection.request()) {
      asked.push(`${number}.${next.id}`);
      if (number === 1 && next.id === 1) await connection.write(...whole(1, "ok"));
      else await connection.write(head(next.id, [[":status", "421"]]), last(next.id, "no"));
    }
  });
  try {
    assertEquals(await outcomeOf(server.url, ticker), "200 ok");
    assertEquals(await outcomeOf(server.url, ticker), "421 no");
    assertEquals(asked, ["1.1", "1.3", "2.1"]);
    assertEquals(addressOf(server.url).http2.size, 0);
  } finally {
    await server.close();
  }
});
