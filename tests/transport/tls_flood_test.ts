/** Callers over TLS who send more than is read: they have to wait, and nothing of it is lost. */
import { assert, assertEquals } from "@std/assert";
import type { Incoming } from "../../src/transport/server.ts";
import { WebSocketUpgrade } from "../../src/transport/websocket/upgrade.ts";
import { turns } from "../support/time.ts";
import { CA } from "../support/tls.ts";
import { CLOSE, encoder, get, HANDSHAKE, listeningTls } from "./caller.ts";

const dial = (port: number) =>
  Deno.connectTls({ hostname: "localhost", port, caCerts: [CA], alpnProtocols: ["http/1.1"] });

async function send(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) done += await conn.write(bytes.subarray(done));
}

async function heard(conn: Deno.Conn): Promise<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(1 << 16);
  let text = "";
  for (let n = await conn.read(buffer); n !== null; n = await conn.read(buffer)) {
    text += decoder.decode(buffer.subarray(0, n), { stream: true });
  }
  return text;
}

/** How many bytes are taken of a caller who sends a piece again and again. */
async function floodedWith(conn: Deno.Conn, piece: Uint8Array): Promise<number> {
  const most = 256 << 20;
  let sent = 0;
  const sending = (async () => {
    try {
      for (; sent < most; sent += piece.length) await send(conn, piece);
    } catch {
      // Closed below.
    }
  })();
  for (let before = -1; sent !== before && sent < most;) {
    before = sent;
    await turns(100);
  }
  conn.close();
  await sending;
  return sent;
}

Deno.test("a caller over TLS who sends without end while its request is handled has to wait", async () => {
  const over = Promise.withResolvers<Response>();
  const { server } = await listeningTls({ handle: () => over.promise });
  const conn = await dial(server.addr.port);
  await send(conn, encoder.encode(get("/")));
  const sent = await floodedWith(conn, new Uint8Array(1 << 20).fill(120));
  assert(sent < 64 << 20, `${sent} bytes were received`);
  over.resolve(new Response("ok"));
  await server.shutdown();
});

Deno.test("a caller over TLS who sends messages without end while one is handled has to wait", async () => {
  const handled = Promise.withResolvers<void>();
  const { server } = await listeningTls({
    handle: (request) =>
      Promise.resolve(
        WebSocketUpgrade.of(request as Incoming, {
          mostMessageBytes: 1 << 20,
          pingMs: 60_000,
          take: () => handled.promise,
        })!,
      ),
  });
  const conn = await dial(server.addr.port);
  await send(conn, encoder.encode(HANDSHAKE));
  await conn.read(new Uint8Array(1000));
  const length = 20_000;
  const message = new Uint8Array(8 + length).fill(120, 8);
  message.set([0x81, 0x80 | 126, length >> 8, length & 255]);
  const sent = await floodedWith(conn, message);
  assert(sent < 64 << 20, `${sent} bytes were received`);
  handled.resolve();
  await server.shutdown();
});

Deno.test("callers over TLS who send without end while they are answered take little memory", async () => {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--no-lock", new URL("tls_program.ts", import.meta.url).pathname],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const output = child.stdout.getReader();
  const port = Number(new TextDecoder().decode((await output.read()).value));
  const memory = () => {
    const status = Deno.readTextFileSync(`/proc/${child.pid}/status`);
    return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) * 1024;
  };
  const before = memory();
  const callers = await Promise.all(Array.from({ length: 40 }, async () => {
    const conn = await dial(port);
    await send(conn, encoder.encode("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhello"));
    await conn.read(new Uint8Array(1000));
    return conn;
  }));
  const piece = new Uint8Array(1 << 16).fill(120);
  await Promise.all(callers.map(async (conn) => {
    const sending = (async () => {
      for (;;) await send(conn, piece);
    })().catch(() => {});
    // They are answered meanwhile: several words come, one after the other.
    for (let words = 0; words < 10; words++) await conn.read(new Uint8Array(1000));
    conn.close();
    await sending;
  }));
  const more = memory() - before;
  child.kill("SIGKILL");
  await output.cancel();
  await child.status;
  assert(more < 60e6, `${more} bytes`);
});

Deno.test("a body over TLS that is read slowly arrives whole, and so do the next request and the end", async () => {
  const { server } = await listeningTls({
    async handle(request) {
      let bytes = 0;
      let sum = 0;
      if (request.body !== null) {
        for await (const piece of request.body) {
          for (let i = 0; i < piece.length; i++) sum = (sum * 31 + piece[i]) | 0;
          bytes += piece.length;
          if (bytes % 7 === 0) await turns(2);
        }
      }
      return new Response(`${bytes} ${sum} `);
    },
  });
  const body = new Uint8Array(3_000_000);
  for (let i = 0; i < body.length; i++) body[i] = i * 7 + (i >> 9);
  const sum = body.reduce((sum, byte) => (sum * 31 + byte) | 0, 0);
  const conn = await dial(server.addr.port);
  const answers = heard(conn);
  const head = `POST / HTTP/1.1\r\nhost: h\r\ncontent-length: ${body.length}\r\n\r\n`;
  for (let i = 0; i < 2; i++) {
    await send(conn, encoder.encode(head));
    await send(conn, body);
  }
  await send(conn, encoder.encode(get("/", CLOSE)));
  const told = [...(await answers).matchAll(/\r\n\r\n(\d+ -?\d+) /g)].map(([, answer]) => answer);
  assertEquals(told, [`${body.length} ${sum}`, `${body.length} ${sum}`, "0 0"]);
  conn.close();
  await server.shutdown();
});
