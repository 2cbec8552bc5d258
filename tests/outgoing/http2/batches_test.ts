/** How data that has arrived over HTTP/2 is delivered: in batches, each stream's data of a batch as one part. */
import { Buffer } from "node:buffer";
import { assert, assertEquals } from "@std/assert";
import { Http2Connection } from "../../../src/outgoing/http2/connection.ts";
import { FramePace } from "../../../src/outgoing/http2/frame_pace.ts";
import { FRAME, frame } from "../../../src/outgoing/http2/frames.ts";
import { Http2Stream } from "../../../src/outgoing/http2/stream.ts";
import { eventually, stoppedTicker, turns } from "../../support/time.ts";
import { begin, data, head, last, reset } from "./raw_server.ts";

const { ticker } = stoppedTicker();

/** A connection that gives one piece a read, as TLS connections give one record. */
function connectionOf({ takes = true } = {}) {
  const pieces: Uint8Array[] = [];
  let more: (() => void) | null = null;
  let lost: ((cause: unknown) => void) | null = null;
  let closed = false;
  let reads = 0;
  const conn = {
    async read(buffer: Uint8Array): Promise<number | null> {
      if (pieces.length === 0) await new Promise<void>((resolve, reject) => [more, lost] = [resolve, reject]);
      reads++;
      const piece = pieces.shift()!;
      buffer.set(piece);
      return piece.length;
    },
    write: (bytes: Uint8Array) => takes ? Promise.resolve(bytes.length) : new Promise(() => {}),
    ref() {},
    unref() {},
    close() {
      closed = true;
      lost?.(new Deno.errors.BadResource("closed"));
    },
  };
  return {
    isClosed: () => closed,
    conn: conn as unknown as Deno.TlsConn,
    reads: () => reads,
    arrive(...arrived: Uint8Array[]): void {
      pieces.push(...arrived);
      more?.();
      more = null;
    },
  };
}

async function streamsOn(
  count: number,
  { pace = new FramePace(), ...options }: { takes?: boolean; pace?: Pick<FramePace, "after" | "pause"> } = {},
) {
  const server = connectionOf(options);
  const connection = new Http2Connection(server.conn, {
    now: () => 0,
    ended() {},
    mostStreams: 100,
    allows: () => 100,
    pace,
  });
  const streams = Array.from(
    { length: count },
    () => new Http2Stream(connection, { url: "", headers: {}, body: "", firstByteMs: 1, idleMs: 1 }, ticker),
  );
  const asked = streams.map((stream) => stream.ask([], new Uint8Array()));
  server.arrive(begin, ...streams.map(({ id }) => head(id)));
  await Promise.all(asked);
  return { server, streams, close: () => connection.close() };
}

/** Adds each part to the list as text, and the failure at the end, if there is one. */
async function partsOf(stream: Http2Stream, parts: string[]): Promise<void> {
  try {
    for (let part = await stream.read(); part !== null; part = await stream.read()) {
      parts.push(new TextDecoder().decode(part));
    }
  } catch {
    parts.push("failed");
  }
}

Deno.test("reads that succeed without waiting are one batch, of which each stream gets its data as one part", async () => {
  const { server, streams: [first, second], close } = await streamsOn(2);
  const parts: string[][] = [[], []];
  const over = [partsOf(first, parts[0]), partsOf(second, parts[1])];
  await turns(2);
  server.arrive(data(1, "a"), data(3, "b"), data(1, "c"), Buffer.concat([data(1, "d"), data(3, "e")]));
  await turns(2);
  assertEquals(parts, [["acd"], ["be"]]);
  server.arrive(data(3, "f"));
  await turns(2);
  assertEquals(parts, [["acd"], ["be", "f"]]);
  // What comes behind the data of the same batch is noticed behind it.
  server.arrive(data(1, "g"), data(1, "h"), reset(1, 2), data(3, "i"), last(3, "j"));
  await Promise.all(over);
  assertEquals(parts, [["acd", "gh", "failed"], ["be", "f", "ij"]]);
  close();
});

Deno.test("data is delivered at the latest after half a MiB, even if the server never pauses", async () => {
  const { server, streams: [first, ...others], close } = await streamsOn(16);
  const parts: string[] = [];
  void partsOf(first, parts);
  await turns(2);
  const before = server.reads();
  let readsBefore = 0;
  const read = first.deliver.bind(first);
  first.deliver = () => {
    readsBefore ||= server.reads() - before;
    read();
  };
  const filling = others.flatMap(({ id }) => Array.from({ length: 8 }, () => data(id, "x".repeat(15_000))));
  assert(filling.length * 15_000 > 2 * (512 << 10));
  server.arrive(data(1, "a"), ...filling);
  await turns(2);
  assertEquals(parts, ["a"]);
  // Two more: the read of the first frame, and the one that was begun before the batch was delivered.
  assert(readsBefore <= Math.ceil((512 << 10) / 15_009) + 2, `${readsBefore} reads`);
  close();
});

Deno.test("while a connection waits at a high rate of frames, what arrives joins one batch, and its end is noticed", async () => {
  let goOn = () => {};
  const counted: number[] = [];
  const { server, streams: [first, second], close } = await streamsOn(2, {
    pace: {
      after(frames) {
        if (frames === 0) return null;
        counted.push(frames);
        return 5;
      },
      pause: () => new Promise<void>((resolve) => goOn = resolve),
    },
  });
  const parts: string[][] = [[], []];
  const over = [partsOf(first, parts[0]), partsOf(second, parts[1])];
  await turns(2);
  server.arrive(Buffer.concat([data(1, "a"), data(3, "b")]));
  await turns(2);
  server.arrive(data(1, "c"));
  await turns(2);
  server.arrive(Buffer.concat([data(3, "d"), data(1, "e")]));
  await turns(2);
  assertEquals(parts, [["a"], ["b"]]);
  goOn();
  await turns(2);
  assertEquals(parts, [["a", "ce"], ["b", "d"]]);
  assertEquals(counted, [2, 3]);
  // It ends while it waits.
  close();
  await Promise.all(over);
  assertEquals(parts, [["a", "ce", "failed"], ["b", "d", "failed"]]);
  goOn();
  await eventually(server.isClosed);
  await turns(2);
});

Deno.test("a server that always has more to read leaves timers and other sockets their turns", async () => {
  const { server, close } = await streamsOn(1);
  const before = server.reads();
  // Data of a stream that has ended is dropped.
  const pieces = Array(640).fill(data(1, "x".repeat(15_000)));
  server.arrive(reset(1, 2), ...pieces);
  await turns(1);
  const seen = server.reads() - before;
  assert(seen < pieces.length / 2, `${seen} reads in one turn`);
  await eventually(() => server.reads() - before > pieces.length);
  close();
});

Deno.test("a connection that is given up at the end of a full batch fails alone, with the read that is pending", async () => {
  const { server, streams: [stream] } = await streamsOn(1, { takes: false });
  const parts: string[] = [];
  const over = partsOf(stream, parts);
  await turns(2);
  // Each PING asks for an answer, which the server does not read; data makes them no flood.
  const pair = Buffer.concat([frame(FRAME.ping, 0, 0, new Uint8Array(8)), data(1, "x")]);
  const piece = Buffer.concat(Array(592).fill(pair));
  // The last of them fills the batch, and nothing follows it.
  for (let i = 0; i < 4; i++) {
    server.arrive(...Array(33).fill(piece));
    await turns(2);
  }
  await over;
  assertEquals(parts.at(-1), "failed");
  // The read that is pending then fails too: unnoticed, it would end the process.
  await eventually(server.isClosed);
  await turns(2);
});

Deno.test("an error of the function that takes data ends the read of its own stream alone", async () => {
  const { server, streams: [first, second], close } = await streamsOn(2);
  const parts: string[] = [];
  const over = partsOf(second, parts);
  const failed = Promise.resolve(first.read(() => {
    throw new RangeError("a fault");
  })).then(() => "read", ({ message }) => message);
  await turns(2);
  server.arrive(data(1, "a"), reset(1, 2), data(3, "b"), last(3, "c"));
  assertEquals(await failed, "a fault");
  await over;
  assertEquals(parts, ["bc"]);
  close();
});
