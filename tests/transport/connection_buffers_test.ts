/** How much memory a connection waits with: there may be thousands whose streams go on for long. */
import { assert, assertEquals } from "@std/assert";
import { UnsentAnswers } from "../../src/transport/unsent_answers.ts";
import type { Host } from "../../src/transport/host.ts";
import { PlainResponse } from "../../src/transport/plain_response.ts";
import { PulledBody } from "../../src/transport/pulled_body.ts";
import { ServerConnection } from "../../src/transport/server_connection.ts";
import { WebSocketUpgrade } from "../../src/transport/websocket/upgrade.ts";
import { nextTurn } from "../support/time.ts";
import { Caller, CLOSE, encoder, get, listening } from "./caller.ts";

const host = (answer: () => Response): Host => ({
  handle: () => Promise.resolve(answer()),
  headerMs: 1000,
  idleMs: 1000,
  unsent: new UnsentAnswers(undefined),
  stopping: false,
  entered() {},
  rests() {},
  closed() {},
});

/** Sizes of the buffers that a connection reads into, request by request, whose answers these are. */
async function reads(answers: (() => Response)[]): Promise<number[]> {
  const sizes: number[] = [];
  let left = answers.length;
  let next = () => {};
  const remoteAddr = { transport: "tcp", hostname: "127.0.0.1", port: 1 } as const;
  await new ServerConnection({
    remoteAddr,
    setNoDelay() {},
    async read(into) {
      // Each request comes when the one before it has been answered.
      if (sizes.push(into.length) > 1) await new Promise<void>((resolve) => next = resolve);
      return left-- === 0 ? null : encoder.encodeInto(get("/"), into).written;
    },
    write(bytes) {
      void nextTurn().then(() => next());
      return Promise.resolve(bytes.length);
    },
    closeWrite: () => Promise.resolve(),
    close() {},
  }, host(() => answers.shift()!())).serve();
  return sizes;
}

function stream(): Response {
  const body = new PulledBody({
    start: (sink) => sink.close(),
    pull: () => Promise.resolve(),
    cancel: () => Promise.resolve(),
  });
  return new PlainResponse(body, { headers: { "content-type": "text/event-stream" } });
}

const whole = () => new PlainResponse("{}", { headers: {} });

Deno.test("a connection whose answer may be a stream waits with a small buffer, one of whole answers with a large one", async () => {
  const [first, duringStream, duringNext] = await reads([stream, stream]);
  assertEquals([first, duringStream, duringNext], [4096, 512, 512]);
  const sizes = await reads([whole, whole, whole]);
  assertEquals(sizes.slice(0, 4), [4096, 512, 4096, 4096]);
});

/** Sizes of the buffers that a WebSocket reads into, read by read. @param lengths what comes; null: as much as fits */
async function socketReads(lengths: (number | null)[]): Promise<number[]> {
  const sizes: number[] = [];
  const over = Promise.withResolvers<void>();
  const handshake = get("/", `upgrade: websocket\r\nconnection: upgrade\r\n`);
  // The head of a message of 512 KB.
  const head = [0x81, 0xff, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0];
  const headers = new Headers({
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  });
  let begun = false;
  await new ServerConnection(
    {
      remoteAddr: { transport: "tcp", hostname: "127.0.0.1", port: 1 },
      setNoDelay() {},
      read(into) {
        if (!begun) {
          begun = true;
          return Promise.resolve(encoder.encodeInto(handshake, into).written);
        }
        sizes.push(into.length);
        into.set(head.splice(0));
        const length = lengths.shift();
        return Promise.resolve(length === undefined ? null : length ?? into.length);
      },
      write: (bytes) => Promise.resolve(bytes.length),
      closeWrite: () => Promise.resolve(),
      close() {},
    },
    host(() =>
      WebSocketUpgrade.of({ method: "GET", headers }, {
        mostMessageBytes: 1 << 20,
        pingMs: 60_000,
        take: () => Promise.resolve(),
        over: over.resolve,
      })!
    ),
  ).serve();
  await over.promise;
  return sizes;
}

Deno.test("a WebSocket's buffer doubles with each read that fills it, to 64 KB, and is small again after a short read", async () => {
  assertEquals(
    await socketReads([...new Array(9).fill(null), 8192, 8191, 1]),
    [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 65536, 65536, 65536, 512, 512],
  );
});

Deno.test("a request of any length behind a stream is read whole, sent ahead or not", async () => {
  const server = listening();
  for (const length of [1, 440, 511, 512, 513, 3000, 5000, 9000]) {
    for (const ahead of [true, false]) {
      const caller = await Caller.to(server);
      const path = `/${"p".repeat(length)}`;
      if (ahead) await caller.send(get("/stream") + get(path) + get("/last", CLOSE));
      else {
        await caller.send(get("/stream"));
        assert(await caller.sees(/data: 3[^]*0\r\n\r\n/));
        await caller.send(get(path) + get("/last", CLOSE));
      }
      const said = await caller.end();
      assert(said.includes(`GET ${path} `), `${length} ${ahead}`);
      assert(said.includes("GET /last "), `${length} ${ahead}`);
    }
  }
  await server.shutdown();
});
