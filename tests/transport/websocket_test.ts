/** A WebSocket over a wire that the test holds in its hand. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { Rounds, Visited } from "../../src/timing/rounds.ts";
import {
  FRAMES_AT_ONCE,
  MESSAGE_OVERHEAD,
  WebSocketConnection,
  type WireReader,
} from "../../src/transport/websocket/socket.ts";
import { eventually, heldTimers, turns } from "../support/time.ts";

const TEXT = 1;
const CLOSING = 8;
const PING = 9;

/** A frame as a client sends it, masked with zeros. */
function frame(opcode: number, payload: string | Uint8Array): Uint8Array {
  const bytes = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
  assert(bytes.length < 126);
  return new Uint8Array([0x80 | opcode, 0x80 | bytes.length, 0, 0, 0, 0, ...bytes]);
}

/** Takes what is written when the test lets it, and brings what the test gives. */
class TestWire {
  readonly written: Uint8Array[] = [];
  readonly #coming: Uint8Array[] = [];
  #now = new Uint8Array();
  #wake = () => {};
  #release = () => {};
  blocked = false;
  fails = false;
  closed = false;
  closedAfter = -1;
  /** Frames that had been written when the end of all writing was told; negative: it was not. */
  endedBehind = -1;
  consumed = 0;
  /** Waits for bytes that are under way. */
  reads = 0;
  resting = false;

  give(...frames: Uint8Array[]): void {
    this.#coming.push(...frames);
    this.#wake();
  }

  read(reader: WireReader): void {
    this.reads++;
    void this.#next().then((came) => {
      this.reads--;
      if (came) reader.came();
      else reader.ended();
    });
  }

  async #next(): Promise<boolean> {
    while (this.#coming.length === 0) {
      if (this.closed) return false;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    this.#now = this.#coming.shift()!.slice();
    return true;
  }

  ends(): void {
    this.endedBehind = this.written.length;
  }

  rests(rests: boolean): void {
    this.resting = rests;
  }

  taken(use: (buffer: Uint8Array, from: number, to: number) => number): void {
    const consumed = use(this.#now, 0, this.#now.length);
    this.consumed += consumed;
    this.#now = this.#now.subarray(consumed);
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.fails) throw new Deno.errors.BrokenPipe("gone");
    if (this.blocked) await new Promise<void>((resolve) => this.#release = resolve);
    if (this.closed) throw new Deno.errors.BadResource("closed");
    this.written.push(bytes);
  }

  unblock(): void {
    this.blocked = false;
    this.#release();
  }

  close(): void {
    this.closed = true;
    this.closedAfter = this.consumed;
    this.#wake();
    this.#release();
  }
}

/** @param taking false: the first message is being taken until `go` is called */
function open(
  { pingMs = 60_000, hold = (_: number): boolean => true, taking = true, mostMessageBytes = 1000 } = {},
) {
  const wire = new TestWire();
  const gate = Promise.withResolvers<void>();
  if (taking) gate.resolve();
  const seen = { messages: [] as string[], disconnected: 0, over: 0 };
  const socket = new WebSocketConnection(wire, {
    mostMessageBytes,
    pingMs,
    hold,
    async take(message) {
      seen.messages.push(message);
      await gate.promise;
    },
    disconnected: () => seen.disconnected++,
    over: () => seen.over++,
  });
  socket.begin();
  return { wire, socket, seen, go: gate.resolve };
}

Deno.test("of pings that come while nothing can be written, the last one is answered", async () => {
  const { wire, socket } = open();
  wire.blocked = true;
  for (let i = 0; i < 5000; i++) wire.give(frame(PING, `${i}`));
  await eventually(() => wire.consumed >= 5000 * 7);
  wire.unblock();
  wire.give(frame(CLOSING, ""));
  await socket.whenClosed;
  // The first was on its way.
  assertEquals(wire.written.length, 3);
  assertEquals(new TextDecoder().decode(wire.written[1].subarray(2)), "4999");
});

Deno.test("a single ping is answered with its payload", async () => {
  const { wire, socket } = open();
  wire.give(frame(PING, "one"));
  await turns(3);
  wire.close();
  await socket.whenClosed;
  assertEquals(wire.written.map((bytes) => new TextDecoder().decode(bytes.subarray(2))), ["one"]);
});

Deno.test("a connection is closed as soon as both ends have said so, and two seconds after the gateway's end in any case", async () => {
  const polite = open();
  polite.wire.give(frame(CLOSING, ""));
  await turns(3);
  assert(polite.wire.closed);
  using timers = heldTimers(2000);
  const silent = open();
  void silent.socket.close(1001, "the server stops");
  await turns(3);
  assertEquals([silent.wire.closed, timers.held.length], [false, 1]);
  timers.held[0].run();
  await silent.socket.whenClosed;
  assert(silent.wire.closed);
});

Deno.test("a caller is not taken for silent while its own messages wait", async () => {
  const { wire, socket, seen, go } = open({ pingMs: 5, taking: false });
  for (let i = 0; i < 20; i++) wire.give(frame(TEXT, `${i}`));
  await eventually(() => wire.written.length >= 4);
  assert(!wire.closed);
  assertEquals([seen.messages, wire.resting], [["0"], false]);
  go();
  await eventually(() => seen.messages.length === 20);
  assertEquals(seen.messages, Array.from({ length: 20 }, (_, i) => `${i}`));
  await eventually(() => wire.resting);
  // Now that it is heard, silence ends it.
  await eventually(() => wire.closed);
  await socket.whenClosed;
  assertEquals([seen.disconnected, seen.over], [1, 1]);
});

Deno.test("a socket is not read while 16 messages wait", async () => {
  const { wire, seen, go } = open({ taking: false, mostMessageBytes: 100_000 });
  for (let i = 0; i < 40; i++) wire.give(frame(TEXT, ""));
  await eventually(() => wire.consumed >= 17 * 6);
  await turns(3);
  // One is being taken, and 16 wait.
  assertEquals([seen.messages.length, wire.consumed, wire.reads], [1, 17 * 6, 0]);
  go();
  await eventually(() => seen.messages.length === 40);
});

class Counter extends Visited {
  count = 0;

  visit(): void {
    this.count++;
  }
}

Deno.test("a caller is not taken for silent while it still takes what it was sent", async () => {
  const { wire, socket, seen } = open({ pingMs: 5 });
  // It is visited as often.
  const visited = new Counter();
  Rounds.every(5).add(visited);
  wire.blocked = true;
  const sent = socket.send(["a long message"]);
  await eventually(() => visited.count >= 8);
  Rounds.every(5).remove(visited);
  assert(!wire.closed);
  wire.unblock();
  await sent;
  // Now that it can be asked, silence ends it.
  await eventually(() => seen.over === 1);
  assertEquals([wire.written.map(([first]) => first & 15), wire.closed], [[TEXT, PING], true]);
});

Deno.test("nothing is sent behind an end, and who does not take that is left", async () => {
  const { wire, socket, seen } = open({ pingMs: 5 });
  void socket.close(1001, "the server stops");
  const deaf = open({ pingMs: 5 });
  deaf.wire.blocked = true;
  void deaf.socket.close(1001, "the server stops");
  await eventually(() => seen.over === 1 && deaf.seen.over === 1);
  assertEquals(wire.written.map(([first]) => first & 15), [CLOSING]);
  assertEquals([wire.closed, deaf.wire.closed, deaf.wire.written.length], [true, true, 0]);
});

Deno.test("a caller who is gone is noticed by what cannot be written, also while its messages wait", async () => {
  const { wire, socket, seen, go } = open({ pingMs: 5, taking: false });
  for (let i = 0; i < 20; i++) wire.give(frame(TEXT, `${i}`));
  await turns(3);
  wire.fails = true;
  await eventually(() => wire.closed);
  await socket.whenClosed;
  await assertRejects(() => socket.send(["x"]), Deno.errors.BadResource);
  // What is being taken is told, and all is over when it has ended.
  assertEquals([seen.disconnected, seen.over, seen.messages], [1, 0, ["0"]]);
  go();
  await eventually(() => seen.over === 1);
  assertEquals(seen.messages, ["0"]);
});

Deno.test("messages of a caller who has ended are not taken, and what they held is given back", async () => {
  let held = 0;
  const hold = (bytes: number) => {
    held = bytes;
    return true;
  };
  const { wire, socket, seen, go } = open({ hold, taking: false });
  wire.give(frame(TEXT, "first"), frame(TEXT, "a"), frame(TEXT, "b"));
  await eventually(() => held === 2 * (1 + MESSAGE_OVERHEAD));
  wire.give(frame(CLOSING, ""));
  await socket.whenClosed;
  go();
  await eventually(() => seen.over === 1);
  assertEquals([seen.messages, held], [["first"], 0]);
});

Deno.test("an end is said before the connection is closed, and what comes meanwhile is read", async () => {
  const { wire, socket, seen } = open();
  const ended = socket.close(1001, "the server stops");
  await eventually(() => wire.written.length === 1);
  wire.give(frame(TEXT, "late"), frame(PING, ""), frame(TEXT, "later"));
  await turns(3);
  assert(!wire.closed);
  wire.give(frame(CLOSING, new Uint8Array([0x03, 0xe9])));
  await ended;
  assert(wire.closed);
  assertEquals([wire.written.length, seen], [1, { messages: [], disconnected: 1, over: 1 }]);
});

function repeated(one: Uint8Array, times: number): Uint8Array {
  const all = new Uint8Array(times * one.length);
  for (let at = 0; at < all.length; at += one.length) all.set(one, at);
  return all;
}

Deno.test("of many small frames that come together a part is read in one step, and all of them in the end", async () => {
  const ping = frame(PING, "");
  const many = 50 * FRAMES_AT_ONCE;
  const { wire, socket } = open();
  let longest = 0;
  const taken = wire.taken.bind(wire);
  wire.taken = (use) => {
    const before = wire.consumed;
    taken(use);
    longest = Math.max(longest, wire.consumed - before);
  };
  wire.give(repeated(ping, many));
  await eventually(() => wire.consumed === many * ping.length);
  assertEquals(longest, FRAMES_AT_ONCE * ping.length);
  // Also those that are not understood any more.
  void socket.close(1000, "");
  wire.give(repeated(ping, many));
  await eventually(() => wire.consumed === 2 * many * ping.length);
  assertEquals(longest, FRAMES_AT_ONCE * ping.length);
  wire.give(frame(CLOSING, ""));
  await socket.whenClosed;
});

Deno.test("messages that come together are read only as far as there is room, and the others wait", async () => {
  let most = 0;
  const hold = (bytes: number) => {
    most = Math.max(most, bytes);
    return true;
  };
  const { wire, socket, seen, go } = open({ hold, taking: false });
  wire.give(repeated(frame(TEXT, ""), 1000));
  await eventually(() => seen.messages.length === 1);
  await turns(10);
  assert(most <= 1000 + MESSAGE_OVERHEAD, `${most}`);
  go();
  await eventually(() => seen.messages.length === 1000);
  assert(most <= 1000 + MESSAGE_OVERHEAD, `${most}`);
  wire.give(frame(CLOSING, ""));
  await socket.whenClosed;
});

Deno.test("messages without a byte take room too, and a socket for which there is none ends", async () => {
  const hold = (bytes: number) => bytes <= 1000;
  const { wire, socket, seen, go } = open({ hold, taking: false });
  wire.give(repeated(frame(TEXT, ""), 10_000));
  await eventually(() => wire.written.length === 1);
  assertEquals(wire.written[0][2] << 8 | wire.written[0][3], 1013);
  wire.give(frame(CLOSING, ""));
  wire.close();
  await socket.whenClosed;
  go();
  await eventually(() => seen.over === 1);
  assertEquals(seen.messages, []);
});

Deno.test("a breach of the protocol is named before the connection is closed, and nothing of it stays", async () => {
  let held = 0;
  const hold = (bytes: number) => {
    held = bytes;
    return true;
  };
  const { wire, socket } = open({ hold });
  wire.give(frame(TEXT, "a"), new Uint8Array([0xf1, 0x80, 0, 0, 0, 0]), new Uint8Array(50_000));
  await eventually(() => wire.consumed >= 50_000);
  wire.close();
  await socket.whenClosed;
  assertEquals([wire.written[0][0], wire.written[0][2] << 8 | wire.written[0][3]], [0x88, 1002]);
  assertEquals([wire.closedAfter >= 50_000, held], [true, 0]);
  // The other side need not wait for the connection to be closed.
  assertEquals([wire.endedBehind, wire.written.length], [1, 1]);
});

Deno.test("random bytes, cut anywhere, end a socket or wait, and leave nothing behind", async () => {
  const byte = fc.oneof(fc.constantFrom(0x81, 0x80, 0x88, 0x89, 0x01, 0x00), fc.nat(255));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(byte, { maxLength: 12 }), { maxLength: 12 }), async (pieces) => {
      let held = 0;
      const hold = (bytes: number) => {
        held = bytes;
        return true;
      };
      const { wire, socket, seen } = open({ hold });
      wire.give(...pieces.map((piece) => new Uint8Array(piece)));
      await turns(3);
      wire.close();
      await socket.whenClosed;
      await eventually(() => seen.over > 0);
      assertEquals([held, seen.disconnected, seen.over, wire.reads], [0, 1, 1, 0]);
    }),
    { seed: 22, numRuns: 100 },
  );
});
