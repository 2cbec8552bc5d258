/** How long connections may take, and how many there may be. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { LARGE_BYTES } from "../../src/transport/unsent_answers.ts";
import type { Phase } from "../../src/transport/host.ts";
import { PlainResponse } from "../../src/transport/plain_response.ts";
import { type BodySink, PulledBody } from "../../src/transport/pulled_body.ts";
import { WebSocketUpgrade } from "../../src/transport/websocket/upgrade.ts";
import { eventually, StoppedClock } from "../support/time.ts";
import { Caller, CLOSE, echo, get, HANDSHAKE, listening, once, passing } from "./caller.ts";

Deno.test("serve() ends heads and bodies that do not come, and idle connections, and gives up what they held", async () => {
  const failed: string[] = [];
  const clock = new StoppedClock();
  const server = listening({
    headerMs: 100,
    idleMs: 300,
    clock,
    looking: false,
    handle: async (request) => {
      try {
        return await echo(request);
      } catch (thrown) {
        failed.push(String(thrown));
        throw thrown;
      }
    },
  });
  /** What a caller gets who says only this, and is in this phase then. */
  const given = async (text: string, phase: Phase) => {
    const caller = await Caller.to(server);
    await caller.send(text);
    if (text.startsWith(get("/x"))) await caller.sees(/GET \/x /);
    await eventually(() => server.connections[phase] === 1);
    await passing(server, clock, () => Object.keys(server.connections).length === 0);
    return await caller.end();
  };
  assertMatch(await given(`${get("/x")}GET / HTTP/1.1\r\nhos`, "head"), /GET \/x HTTP\/1\.1 408 /);
  // A connection that is new waits for a head.
  assertEquals(await given("", "head"), "");
  for (const body of ["content-length: 500\r\n\r\n{", "transfer-encoding: chunked\r\n\r\n5\r\nab"]) {
    assertMatch(
      await given(`POST / HTTP/1.1\r\nhost: h\r\n${body}`, "body"),
      /^HTTP\/1\.1 408 [^]*connection: close\r\n/,
    );
  }
  assertEquals(failed.length, 2);
  assertMatch(await given(get("/x"), "idle"), /GET \/x $/);
  assertEquals(server.connections, {});
  await server.shutdown();
});

Deno.test("serve() lets a body take its time as long as it goes on", async () => {
  const clock = new StoppedClock();
  const came = { bytes: 0 };
  const server = listening({
    headerMs: 1000,
    clock,
    looking: false,
    async handle(request) {
      for await (const bytes of request.body!) came.bytes += bytes.length;
      return new Response("whole");
    },
  });
  const caller = await Caller.to(server);
  await caller.send(`POST /slow HTTP/1.1\r\nhost: h\r\n${CLOSE}content-length: 10\r\n\r\n`);
  for (let i = 1; i <= 10; i++) {
    await caller.send("x");
    await eventually(() => came.bytes === i);
    clock.move(900);
    server.look();
  }
  assertMatch(await caller.end(), /whole$/);
  await server.shutdown();
});

Deno.test("serve() gives the place of a body that does not come to who comes, and keeps one that comes", async () => {
  const clock = new StoppedClock();
  let came = 0;
  const server = listening({
    maxConnections: { most: 3 },
    clock,
    looking: false,
    async handle(request) {
      for await (const bytes of request.body ?? []) came += bytes.length;
      return new Response("whole");
    },
  });
  const post = `POST / HTTP/1.1\r\nhost: h\r\n${CLOSE}content-length: 3\r\n\r\nx`;
  const callers: Caller[] = [];
  for (let i = 1; i <= 3; i++) {
    const caller = await Caller.to(server);
    await caller.send(post);
    callers.push(caller);
    await eventually(() => came === i);
  }
  const [going, silent, later] = callers;
  clock.move(199);
  const early = await Caller.to(server);
  await eventually(() => server.refused === 1);
  early.close();
  await going.send("y");
  await eventually(() => came === 4);
  clock.move(1);
  assertMatch(await once(server, `GET / HTTP/1.1\r\nhost: h\r\n${CLOSE}\r\n`), /^HTTP\/1\.1 200 [^]*whole$/);
  assertEquals(server.refused, 1);
  assertMatch(await silent.end(), /^HTTP\/1\.1 408 /);
  await going.send("z");
  assertMatch(await going.end(), /whole$/);
  await later.send("yz");
  assertMatch(await later.end(), /whole$/);
  await server.shutdown();
});

Deno.test("serve() gives the place of who has waited longest to who comes, and keeps those with a request", async () => {
  const { promise: going, resolve: go } = Promise.withResolvers<void>();
  let held = 0;
  const server = listening({
    maxConnections: { most: 4 },
    handle: async (request) => {
      if (request.url.endsWith("/hold")) {
        held++;
        await going;
      }
      return await echo(request);
    },
  });
  const holding: Caller[] = [];
  for (let i = 0; i < 3; i++) {
    const caller = await Caller.to(server);
    await caller.send(get("/hold", CLOSE));
    holding.push(caller);
  }
  const idle = await Caller.to(server);
  await idle.send(get("/idle"));
  assert(await idle.sees(/GET \/idle $/));
  // The connections of the three are looked at before those of the forty that come now.
  await eventually(() => held === 3);
  for (let i = 0; i < 40; i++) (await Caller.to(server)).close();
  assertMatch(await once(server, get("/x", CLOSE)), /GET \/x $/);
  assertEquals(await idle.sees(/(?!)/), false);
  idle.close();
  const fourth = await Caller.to(server);
  await fourth.send(get("/hold", CLOSE));
  await eventually(() => held === 4);
  const fifth = await Caller.to(server);
  await fifth.send(get("/x"));
  assert(await fifth.sees(/^HTTP\/1\.1 503 [^]*retry-after: 1\r\n[^]*\}$/));
  fifth.close();
  go();
  for (const caller of [...holding, fourth]) assertMatch(await caller.end(), /GET \/hold $/);
  assertEquals(server.refused, 1);
  await server.shutdown();
});

Deno.test("serve() takes no handshake of a WebSocket with a body or over HTTP/1.0, and what follows is no frame", async () => {
  let open = 0;
  const user = {
    mostMessageBytes: 100,
    pingMs: 60_000,
    take: () => Promise.resolve(),
    over: () => void open--,
  };
  const server = listening({
    handle: (request) => {
      open++;
      return Promise.resolve(WebSocketUpgrade.of(request, user)!);
    },
  });
  const ping = "\x09\x00";
  for (
    const handshake of [
      HANDSHAKE.replace("\r\n\r\n", "\r\ncontent-length: 2\r\n\r\n") + ping,
      HANDSHAKE.replace("\r\n\r\n", `\r\ntransfer-encoding: chunked\r\n\r\n2\r\n${ping}\r\n0\r\n\r\n`),
      HANDSHAKE.replace("HTTP/1.1", "HTTP/1.0"),
    ]
  ) {
    const caller = await Caller.to(server);
    await caller.send(handshake);
    assert(await caller.sees(/^HTTP\/1\.1 400 [^]*\}$/), caller.text);
    await caller.half();
    assertEquals((await caller.end()).match(/HTTP\/1\.1 \d/g)?.length, 1);
  }
  await eventually(() => open === 0);
  await server.shutdown();
});

Deno.test("serve() has room for WebSockets at rest beside the connections that it may have", async () => {
  let rest = 0;
  const server = listening({
    maxConnections: { most: 2, resting: 3 },
    handle: (request) => {
      const socket = WebSocketUpgrade.of(
        request,
        {
          mostMessageBytes: 100,
          pingMs: 60_000,
          opened: () => void rest++,
          take: () => Promise.resolve(),
          over: () => void rest--,
        },
      );
      return socket === null ? echo(request) : Promise.resolve(socket);
    },
  });
  const sockets: Caller[] = [];
  for (let i = 1; i <= 3; i++) {
    const socket = await Caller.to(server);
    await socket.send(HANDSHAKE);
    assert(await socket.sees(/^HTTP\/1\.1 101 /));
    sockets.push(socket);
    await eventually(() => rest === i);
  }
  const idle = await Caller.to(server);
  await idle.send(get("/idle"));
  assert(await idle.sees(/GET \/idle $/));
  assertMatch(await once(server, get("/x", CLOSE)), /GET \/x $/);
  assertEquals(server.connections, { upgraded: 3, idle: 1 });
  // Another one would take the place of a connection at work: now they are one too many.
  const fourth = await Caller.to(server);
  await fourth.send(HANDSHAKE);
  assert(await fourth.sees(/^HTTP\/1\.1 101 /));
  await eventually(() => rest === 4);
  assertMatch(await once(server, get("/y", CLOSE)), /GET \/y $/);
  assertEquals(await idle.sees(/(?!)/), false);
  assertEquals(rest, 4);
  for (const caller of [...sockets, fourth, idle]) caller.close();
  await server.shutdown();
});

Deno.test("serve() says that a WebSocket is over also where its caller left, or the server stopped, before it was one", async () => {
  const gate = Promise.withResolvers<void>();
  const told: string[] = [];
  let asked = 0;
  const server = listening({
    handle: async (request) => {
      const name = new URL(request.url).pathname;
      asked++;
      await gate.promise;
      return WebSocketUpgrade.of(request, {
        mostMessageBytes: 100,
        pingMs: 60_000,
        opened: () => void told.push(`opened ${name}`),
        take: () => Promise.resolve(),
        disconnected: () => void told.push(`gone ${name}`),
        over: () => void told.push(`over ${name}`),
      })!;
    },
  });
  const left = await Caller.to(server);
  await left.send(HANDSHAKE.replace("/", "/left"));
  const stopped = await Caller.to(server);
  await stopped.send(HANDSHAKE.replace("/", "/stopped"));
  await eventually(() => asked === 2);
  left.close();
  const down = server.shutdown();
  gate.resolve();
  await down;
  await eventually(() => told.length >= 2);
  // Each is told once, whichever of the two was noticed first.
  assertEquals(told.sort(), ["over /left", "over /stopped"]);
  stopped.close();
});

Deno.test("serve() gives the place of a caller back that leaves right behind its handshake", async () => {
  let over = 0;
  let opened = 0;
  const server = listening({
    handle: (request) =>
      Promise.resolve(
        WebSocketUpgrade.of(request, {
          mostMessageBytes: 100,
          pingMs: 60_000,
          opened: () => void opened++,
          take: () => Promise.resolve(),
          over: () => void over++,
        })!,
      ),
  });
  for (let i = 0; i < 50; i++) {
    const caller = await Caller.to(server);
    await caller.send(HANDSHAKE);
    caller.close();
  }
  await eventually(() => over === 50);
  assert(opened <= 50);
  await server.shutdown();
  assertEquals(over, 50);
});

Deno.test("connectionBound() leaves a quarter of the files to WebSockets at rest, unless it is told a bound", async () => {
  const module = new URL("../../src/transport/connection_bound.ts", import.meta.url);
  const script = `const { connectionBound } = await import(${JSON.stringify(module.href)});
    for (const configured of [null, 40]) {
      const bound = connectionBound(configured, 1, () => {});
      await bound.find();
      console.log(JSON.stringify([bound.most, bound.resting, bound.files, bound.leavesFiles(4096)]));
    }
    Deno.exit();`;
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", 'ulimit -n 300; exec "$0" eval "$1"', Deno.execPath(), script],
    stderr: "null",
  }).output();
  const [free, bounded] = new TextDecoder().decode(stdout).trim().split("\n").map((line) => JSON.parse(line));
  const [most, resting, files] = free;
  assert(files > 200 && files < 300, `${files}`);
  assertEquals([most, resting], [Math.floor(files / 2), Math.floor(files / 4)]);
  assertEquals(bounded.slice(0, 2), [40, 0]);
  assertEquals(free[3], false);
});

Deno.test("connectionBound() knows whether callers and calls may take all files", async () => {
  const module = new URL("../../src/transport/connection_bound.ts", import.meta.url);
  const script = `const { connectionBound } = await import(${JSON.stringify(module.href)});
    const bound = connectionBound(null, 1, () => {});
    await bound.find();
    console.log(JSON.stringify([bound.files, bound.leavesFiles(1738), bound.leavesFiles(1739)]));
    Deno.exit();`;
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", 'ulimit -n 9000; exec "$0" eval "$1"', Deno.execPath(), script],
    stderr: "null",
  }).output();
  // A quarter of them is 2,250, of which 512 are for all else.
  assertEquals(JSON.parse(new TextDecoder().decode(stdout)), [9000, true, false]);
});

Deno.test("connectionBound() knows the files of its connections where no other file is free", async () => {
  const module = new URL("../../src/transport/connection_bound.ts", import.meta.url);
  const script = `const { connectionBound } = await import(${JSON.stringify(module.href)});
    const bound = connectionBound(null, 1, () => {});
    try {
      while (true) Deno.openSync("/dev/null");
    } catch {
      await bound.find(() => 80);
    }
    console.log(JSON.stringify([bound.files, bound.most]));`;
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", 'ulimit -n 160; exec "$0" eval "$1"', Deno.execPath(), script],
    stderr: "null",
  }).output();
  assertEquals(JSON.parse(new TextDecoder().decode(stdout)), [80, 40]);
});

Deno.test("serve() waits for the next bytes of a stream past which a large piece was written", async () => {
  const clock = new StoppedClock();
  const taken = Promise.withResolvers<void>();
  const large = new Uint8Array(LARGE_BYTES).fill(97);
  let sink: BodySink | undefined;
  const server = listening({
    idleMs: 1000,
    clock,
    looking: false,
    handle: () =>
      Promise.resolve(
        new PlainResponse(
          new PulledBody({
            start(body) {
              sink = body;
              body.enqueue(new TextEncoder().encode("first"));
            },
            pull: () => new Promise<void>(() => {}),
            cancel: () => Promise.resolve(),
          }),
          { headers: { "content-type": "text/event-stream" } },
        ),
      ),
  });
  const caller = await Caller.to(server);
  await caller.send(get("/", CLOSE));
  const direct = await eventually(() => sink?.direct ?? null);
  void direct!(large, taken.resolve);
  assert(await caller.sees(/aa\r\n$/));
  await taken.promise;
  for (let i = 0; i < 10; i++) {
    clock.move(1000);
    server.look();
  }
  sink!.enqueue(new TextEncoder().encode("last"));
  sink!.close();
  assert((await caller.end()).endsWith("a\r\n4\r\nlast\r\n0\r\n\r\n"));
  await server.shutdown();
});
