/** Callers that speak HTTP/2, behind TLS. */
import { assert, assertEquals } from "@std/assert";
import { type ClientHttp2Session, connect, constants, type OutgoingHttpHeaders } from "node:http2";
import { Buffer } from "node:buffer";
import type { TlsServer } from "../../src/transport/server.ts";
import { HeldBody } from "../../src/transport/held_body.ts";
import { PlainResponse } from "../../src/transport/plain_response.ts";
import type { ServeOptions } from "../../src/transport/serve_options.ts";
import { PulledBody } from "../../src/transport/pulled_body.ts";
import { joined } from "../support/event_stream.ts";
import { eventually, StoppedClock, turns } from "../support/time.ts";
import { CA } from "../support/tls.ts";
import { listeningTls, passing } from "./caller.ts";

const encoder = new TextEncoder();

type Handle = ServeOptions["handle"];

const sizes: Handle = async (request) => {
  const bytes = request.body === null ? 0 : (await request.arrayBuffer()).byteLength;
  const { pathname } = new URL(request.url);
  const fields = {
    "x-path": pathname,
    "x-host": request.headers.get("host") ?? "none",
    connection: "keep-alive",
  };
  return new Response(`${request.method} ${bytes}`, { headers: fields });
};

async function withServer(
  use: (secure: TlsServer, session: () => ClientHttp2Session) => Promise<void>,
  options: Partial<ServeOptions> = {},
): Promise<void> {
  const secure = await listeningTls({
    handle: sizes,
    ...options,
  });
  const sessions: ClientHttp2Session[] = [];
  try {
    await use(secure, () => {
      const session = connect(`https://localhost:${secure.server.addr.port}`, { ca: CA });
      session.on("error", () => {});
      sessions.push(session);
      return session;
    });
  } finally {
    for (const session of sessions) session.destroy();
    await secure.server.shutdown();
  }
}

interface Answer {
  headers: Record<string, unknown>;
  text: string;
  /** What the stream ended with. */
  code: number;
}

/** @param body absent: there is none */
function ask(session: ClientHttp2Session, fields: OutgoingHttpHeaders, body?: string): Promise<Answer> {
  return new Promise((resolve) => {
    const stream = session.request(fields, { endStream: body === undefined });
    let headers = {};
    const pieces: Uint8Array[] = [];
    stream.on("response", (fields) => headers = fields);
    stream.on("data", (bytes: Uint8Array) => pieces.push(bytes));
    stream.on("error", () => {});
    stream.on(
      "close",
      () => resolve({ headers, text: Buffer.concat(pieces).toString(), code: stream.rstCode ?? 0 }),
    );
    if (body !== undefined) stream.end(body);
  });
}

Deno.test("many requests share a connection that speaks HTTP/2, with bodies and answers of all sizes", () =>
  withServer(async ({ server }, open) => {
    const session = open();
    const { headers, text } = await ask(session, { ":path": "/a?b=c", ":method": "POST" }, "hello");
    assertEquals(text, "POST 5");
    assertEquals(headers[":status"], 200);
    assertEquals([headers["x-path"], headers["x-host"]], ["/a", `localhost:${server.addr.port}`]);
    assertEquals([headers.connection, typeof headers.date], [undefined, "string"]);
    const large = "x".repeat(3_000_000);
    const sent = [undefined, "ab", large, "", "abc"];
    const answers = await Promise.all(
      sent.map((body) => ask(session, { ":path": "/", ":method": body === undefined ? "GET" : "PUT" }, body)),
    );
    assertEquals(answers.map(({ text }) => text), ["GET 0", "PUT 2", "PUT 3000000", "PUT 0", "PUT 3"]);
    for (let i = 0; i < 6; i++) {
      const all = await Promise.all(Array.from({ length: 100 }, () => ask(session, { ":path": "/" })));
      assert(all.every(({ text, code }) => text === "GET 0" && code === 0));
    }
    const head = await ask(session, { ":path": "/", ":method": "HEAD" });
    assertEquals([head.headers[":status"], head.text], [200, ""]);
    assertEquals(server.connections, { idle: 1 });
  }));

for (const how of ["its request", "its connection"] as const) {
  Deno.test(`a caller who ends ${how} over HTTP/2 is seen to have left by who looks only afterwards`, async () => {
    const asked: Parameters<Handle>[0][] = [];
    let answer = () => {};
    const answered = new Promise<void>((resolve) => answer = resolve);
    await withServer(async ({ server }, open) => {
      const session = open();
      const streams = ["/leaves", "/stays"].map((path) => {
        const stream = session.request({ ":path": path });
        stream.on("error", () => {});
        return stream;
      });
      await eventually(() => asked.length === 2);
      if (how === "its request") {
        streams[0].close(constants.NGHTTP2_CANCEL);
        // What is asked behind it has been read after it.
        await ask(session, { ":path": "/behind" });
      } else {
        session.destroy();
        await eventually(() => Object.keys(server.connections).length === 0);
        await eventually(() => asked.every(({ signal }) => signal.aborted));
      }
      const gone = (path: string) => asked.find(({ url }) => url.endsWith(path))!.signal.aborted;
      assertEquals([gone("/leaves"), gone("/stays")], [true, how === "its connection"]);
      answer();
    }, {
      async handle(request) {
        if (request.url.endsWith("/behind")) return new Response("ok");
        asked.push(request);
        await answered;
        return new Response("late");
      },
    });
  });
}

/** A frame of HTTP/2 (RFC 9113, section 4.1). */
function frame(type: number, flags: number, stream: number, payload: Uint8Array): Uint8Array {
  return joined([Uint8Array.of(0, 0, payload.length, type, flags, 0, 0, 0, stream), payload]);
}

/** What the status of an answer is, as HPACK writes it: one byte for a common one (RFC 7541, appendix A). */
const STATUSES = new Map([[0x88, 200], [0x8c, 400]]);

/** Asks with fields that no client would write. */
async function statusOf(port: number, fields: Record<string, string>): Promise<number | undefined> {
  const conn = await Deno.connectTls({ hostname: "localhost", port, caCerts: [CA], alpnProtocols: ["h2"] });
  const counted = (text: string) => [text.length, ...encoder.encode(text)];
  const head = Object.entries({ ":method": "GET", ":scheme": "https", ":path": "/shut", ...fields })
    .flatMap(([name, value]) => [0, ...counted(name), ...counted(value)]);
  const preface = encoder.encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  await conn.write(
    joined([preface, frame(4, 0, 0, new Uint8Array()), frame(1, 5, 1, Uint8Array.from(head))]),
  );
  const buffer = new Uint8Array(4096);
  let came = new Uint8Array();
  try {
    for (let n = await conn.read(buffer); n !== null; n = await conn.read(buffer)) {
      came = joined([came, buffer.subarray(0, n)]);
      for (let at = 0; at + 9 < came.length; at += 9 + (came[at + 1] << 8 | came[at + 2])) {
        if (came[at + 3] === 1) return STATUSES.get(came[at + 9]);
      }
    }
  } finally {
    conn.close();
  }
}

Deno.test("a host over HTTP/2 is that of the address, and is refused where it holds more than one", () =>
  withServer(async ({ server }) => {
    const { port } = server.addr;
    assertEquals(await statusOf(port, { host: "h" }), 200);
    for (const host of ["h/open", "h/open?x=", "h#", "a@h", "h\\open", "h:99999"]) {
      assertEquals(await statusOf(port, { host }), 400, host);
    }
    assertEquals(await statusOf(port, { ":authority": "h", host: "o/open" }), 400);
    let told: string | null = null;
    const handle: Handle = (request) => {
      told = request.headers.get("host");
      return Promise.resolve(new Response());
    };
    await withServer(async ({ server }) => {
      assertEquals(await statusOf(server.addr.port, { ":authority": "h:8", host: "other" }), 200);
      assertEquals(told, "h:8");
    }, { handle });
  }));

Deno.test("frames of a stream arrive over HTTP/2 as they are made, and a caller who resets it is gone", async () => {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let cancelled = false;
  let signal!: AbortSignal;
  const handle: Handle = (request) => {
    signal = request.signal;
    const start = (opened: typeof controller) => void (controller = opened);
    const body = new ReadableStream({ start, cancel: () => void (cancelled = true) });
    return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
  };
  await withServer(async (_, open) => {
    const stream = open().request({ ":path": "/" });
    let text = "";
    stream.on("data", (bytes: Uint8Array) => text += Buffer.from(bytes).toString());
    stream.on("error", () => {});
    await new Promise((resolve) => stream.once("response", resolve));
    for (const frame of ["one ", "two ", "three "]) {
      const before = text;
      controller.enqueue(encoder.encode(frame));
      await eventually(() => text === before + frame);
    }
    assertEquals([cancelled, signal.aborted], [false, false]);
    stream.close(constants.NGHTTP2_CANCEL);
    await eventually(() => cancelled && signal.aborted);
  }, { handle });
});

Deno.test("a body that is not as long as it says ends its stream, and no other caller's", () =>
  withServer(async (_, open) => {
    const session = open();
    const short = await ask(open(), { ":path": "/", ":method": "POST", "content-length": "9" }, "abc");
    assert(short.code !== 0 || short.headers[":status"] !== 200, JSON.stringify(short));
    assertEquals((await ask(session, { ":path": "/", ":method": "POST" }, "abc")).text, "POST 3");
  }));

Deno.test("a caller over HTTP/2 who takes nothing holds its answer back, and is gone when it closes", async () => {
  let frames = 0;
  let cancelled = false;
  const handle: Handle = () => {
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      controller.enqueue(new Uint8Array(65536));
      frames++;
    };
    const body = new ReadableStream({ pull, cancel: () => void (cancelled = true) }, { highWaterMark: 0 });
    return Promise.resolve(new Response(body));
  };
  await withServer(async (_, open) => {
    const session = open();
    const stream = session.request({ ":path": "/" });
    stream.on("error", () => {});
    await new Promise((resolve) => stream.once("response", resolve));
    await eventually(() => frames > 0);
    session.destroy();
    await eventually(() => cancelled);
    assert(frames < 256, `${frames}`);
  }, { handle });
});

Deno.test("a stopping server answers what goes on over HTTP/2, and takes nothing new", async () => {
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const handle: Handle = async () => {
    begun.resolve();
    await go.promise;
    return new Response("late");
  };
  await withServer(async ({ server }, open) => {
    const session = open();
    const answer = ask(session, { ":path": "/" });
    await begun.promise;
    const away = new Promise((resolve) => session.once("goaway", resolve));
    const stopped = server.shutdown();
    await away;
    go.resolve();
    assertEquals((await answer).text, "late");
    await stopped;
  }, { handle });
});

Deno.test("a connection whose bodies do not come gives its place to who comes, and one that is answered keeps it", async () => {
  const { promise: going, resolve: go } = Promise.withResolvers<void>();
  const handle: Handle = async (request) => {
    if (request.method === "POST") return new Response(`${(await request.arrayBuffer()).byteLength}`);
    if (new URL(request.url).pathname === "/late") await going;
    return new Response("answered");
  };
  await withServer(async ({ server }, open) => {
    const answered = open();
    const late = ask(answered, { ":path": "/late" });
    await eventually(() => server.connections.handling === 1);
    for (let i = 0; i < 3; i++) {
      const silent = open();
      const stream = silent.request({ ":path": "/", ":method": "POST", "content-length": "9" }, {
        endStream: false,
      });
      stream.on("error", () => {});
      stream.write("abc");
      await eventually(() => server.connections.body === 1);
      // It is silent for long enough after a while; before, whoever comes is turned away.
      await eventually(async () => (await ask(open(), { ":path": "/" })).text === "answered");
      await eventually(() => silent.destroyed || silent.closed);
    }
    go();
    assertEquals((await late).text, "answered");
  }, { handle, maxConnections: { most: 2 } });
});

Deno.test("a connection over HTTP/2 counts with the files that it takes", async () => {
  await withServer(async ({ server }, open) => {
    const sessions: ClientHttp2Session[] = [];
    for (let i = 0; i < 3; i++) {
      const session = open();
      sessions.push(session);
      await ask(session, { ":path": "/" });
    }
    await eventually(() => sessions.filter((session) => session.destroyed || session.closed).length === 1);
    assertEquals(server.connections, { idle: 2 });
  }, { maxConnections: { most: 100, mostFiles: 6 } });
});

Deno.test("connections that speak HTTP/2 are bounded in number and in how long they rest", async () => {
  await withServer(async ({ server }, open) => {
    const first = open();
    assertEquals((await ask(first, { ":path": "/" })).text, "GET 0");
    const second = open();
    assertEquals((await ask(second, { ":path": "/" })).text, "GET 0");
    await eventually(() => first.closed || first.destroyed);
    assertEquals(server.connections, { idle: 1 });
  }, { maxConnections: { most: 1 } });
  const clock = new StoppedClock();
  await withServer(async ({ server }, open) => {
    const session = open();
    assertEquals((await ask(session, { ":path": "/" })).text, "GET 0");
    await passing(server, clock, () => session.closed || session.destroyed);
    await eventually(() => Object.keys(server.connections).length === 0);
  }, { idleMs: 200, clock, looking: false });
});

Deno.test("a caller who opens streams only to reset them loses its connection", async () => {
  const never: Handle = () => new Promise(() => {});
  await withServer(async ({ server }, open) => {
    const session = open();
    let asked = 0;
    while (!session.destroyed && !session.closed && asked < 2000) {
      const streams = Array.from({ length: 50 }, () => session.request({ ":path": "/" }));
      asked += streams.length;
      for (const stream of streams) {
        stream.on("error", () => {});
        stream.close(constants.NGHTTP2_CANCEL);
      }
      await turns(5);
    }
    await eventually(() => Object.keys(server.connections).length === 0);
  }, { handle: never });
});

const LARGE = 3 << 20;
const held = () => new HeldBody(Array.from({ length: LARGE >> 16 }, () => new Uint8Array(1 << 16).fill(120)));
const LARGE_ANSWERS: Record<string, () => Response> = {
  "a text": () => new PlainResponse("x".repeat(LARGE), { headers: {} }),
  "pieces": () => new PlainResponse(held(), { headers: { "content-length": String(LARGE) } }),
};

for (const [name, make] of Object.entries(LARGE_ANSWERS)) {
  Deno.test(`who takes nothing of large answers over HTTP/2 is given up for those who do: ${name}`, async () => {
    await withServer(async (_, open) => {
      const slow = open();
      const stream = slow.request({ ":path": "/" });
      stream.on("error", () => {});
      await new Promise((resolve) => stream.once("response", resolve));
      assertEquals((await ask(open(), { ":path": "/" })).text.length, LARGE);
      await eventually(() => slow.destroyed || slow.closed);
    }, { handle: () => Promise.resolve(make()), heldBytes: LARGE + 1 });
  });
}

const EVENTS = { headers: { "content-type": "text/event-stream" } };
const SMALL_ANSWERS: Record<string, () => Response> = {
  "a text": () => new PlainResponse("small", { headers: {} }),
  "a stream that has ended": () => new Response("data: 1\n\n", EVENTS),
  "a stream that is made as it is read": () =>
    new PlainResponse(
      new PulledBody({
        start(sink) {
          sink.enqueue(encoder.encode("data: 1\n\n"));
          sink.close();
        },
        pull: () => Promise.resolve(),
        cancel: () => Promise.resolve(),
      }),
      EVENTS,
    ),
};

for (const [name, make] of Object.entries(SMALL_ANSWERS)) {
  Deno.test(`a caller over HTTP/2 who takes nothing of a small answer is left after a while: ${name}`, async () => {
    const clock = new StoppedClock();
    await withServer(async ({ server }) => {
      const session = connect(`https://localhost:${server.addr.port}`, {
        ca: CA,
        settings: { initialWindowSize: 0 },
      });
      session.on("error", () => {});
      const stream = session.request({ ":path": "/" });
      stream.on("error", () => {});
      await new Promise((resolve) => stream.once("response", resolve));
      await passing(server, clock, () => session.destroyed || session.closed);
      await eventually(() => Object.keys(server.connections).length === 0);
    }, { idleMs: 500, clock, looking: false, handle: () => Promise.resolve(make()) });
  });
}
