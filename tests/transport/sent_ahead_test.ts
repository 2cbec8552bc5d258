/** What callers send ahead while a request of theirs is handled. */
import { assert, assertEquals } from "@std/assert";
import type { ServeOptions } from "../../src/transport/server.ts";
import { Caller, encoder, listening } from "./caller.ts";
import { eventually, turns } from "../support/time.ts";

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: h\r\n\r\n`;
const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nhost: h\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const EVENTS = { headers: { "content-type": "text/event-stream" } };

/** What is sent before a caller leaves, in pieces. */
const AHEAD: Record<string, string[]> = {
  "nothing": [get("/waits")],
  "an empty line behind its body": [post("/waits", "abc") + "\r\n"],
  "the next request with its own": [get("/waits") + get("/next")],
  "the next requests in pieces": [
    get("/waits"),
    "GET /ne",
    "xt HTTP/1.1\r\nho",
    `st: h\r\n\r\n${get("/third")}`,
  ],
  "what fills its buffer": [get("/waits"), ...Array.from({ length: 9 }, () => "x".repeat(450))],
  "the next request behind a stream": [get("/stream"), get("/next")],
};

for (const [name, pieces] of Object.entries(AHEAD)) {
  Deno.test(`a caller who leaves while its request is handled is seen to, with this sent ahead: ${name}`, async () => {
    let signal: AbortSignal | undefined;
    const handle: ServeOptions["handle"] = async (request) => {
      if (request.method === "POST") await request.arrayBuffer();
      signal ??= request.signal;
      if (!request.url.endsWith("/stream")) await new Promise(() => {});
      return new Response(new ReadableStream(), EVENTS);
    };
    const server = listening({ handle });
    const caller = await Caller.to(server);
    for (const piece of pieces) {
      await caller.send(piece);
      await eventually(() => signal !== undefined);
      await turns(5);
    }
    caller.close();
    await eventually(() => signal!.aborted);
    await eventually(() => Object.keys(server.connections).length === 0);
    await server.shutdown();
  });
}

Deno.test("requests that are sent ahead in pieces while others are handled are read as they were sent", async () => {
  for (const size of [1, 7, 100, 511, 512, 513, 4096, 5000]) {
    let go = () => {};
    const held = new Promise<void>((resolve) => go = resolve);
    const server = listening({
      async handle(request) {
        await held;
        const { pathname } = new URL(request.url);
        const body = request.method === "POST" ? new TextDecoder().decode(await request.arrayBuffer()) : "";
        const text = `${pathname} ${body.length} ${new Set(body).size};`;
        return pathname.startsWith("/stream")
          ? new Response(new Blob([encoder.encode(text)]).stream(), EVENTS)
          : new Response(text);
      },
    });
    const requests = [get("/0"), get("/stream1"), post("/2", "a".repeat(30)), get("/3"), get("/stream4")];
    for (let i = 5; i < 40; i++) {
      requests.push(i % 4 === 0 ? get(`/stream${i}`) : post(`/${i}`, "b".repeat(i)));
    }
    const text = requests.join("") + post("/end", "c".repeat(6000));
    const caller = await Caller.to(server);
    for (let at = 0; at < text.length; at += size) {
      await caller.send(text.slice(at, at + size));
      if (at / size < 200) await turns(1);
    }
    go();
    await caller.sees(/\/end 6000 1;/);
    const seen = [...caller.text.matchAll(/(\/\w+) (\d+) (\d);/g)].map(([, path, length]) =>
      `${path} ${length}`
    );
    const sent = requests.map((r) => {
      const [, path, body] = /^\w+ (\S+) [^]*?\r\n\r\n([^]*)$/.exec(r)!;
      return `${path} ${body.length}`;
    });
    assertEquals(seen, [...sent, "/end 6000"], `pieces of ${size}`);
    caller.close();
    await server.shutdown();
  }
});

Deno.test("a head may come in pieces, with line feeds in the body behind it", async () => {
  const server = listening();
  const body = '{\n  "a": 1\n}\n\n';
  const text = post("/x", body) + post("/y", body);
  for (let cut = 1; cut < text.length; cut++) {
    const caller = await Caller.to(server);
    await caller.send(text.slice(0, cut));
    await turns(1);
    await caller.send(text.slice(cut));
    assert(await caller.sees(/POST \/x [^]*POST \/y /), `${cut} ${caller.text}`);
    caller.close();
  }
  await server.shutdown();
});
