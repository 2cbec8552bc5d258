import { assert, assertEquals } from "@std/assert";
import type { Host } from "../../src/transport/host.ts";
import { Http2Connection } from "../../src/transport/http2_connection.ts";
import { Http2Watch } from "../../src/transport/http2_watch.ts";
import { InputPace } from "../../src/transport/input_pace.ts";
import type { Conn } from "../../src/transport/listener.ts";
import { UnsentAnswers } from "../../src/transport/unsent_answers.ts";
import { joined } from "../support/event_stream.ts";
import { turns } from "../support/time.ts";

const PREFACE = new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
/** One byte of a body. */
const DATA = new Uint8Array([0, 0, 1, 0, 0, 0, 0, 0, 1, 120]);
const WINDOW = new Uint8Array([0, 0, 4, 8, 0, 0, 0, 0, 1, 0, 0, 0, 1]);

const repeated = (one: Uint8Array, times: number) => joined(Array.from({ length: times }, () => one));

/** A pace on a clock that goes when it is told. */
function paceByHand() {
  let now = 0;
  let waits: (() => void)[] = [];
  const pace = new InputPace(() => now, () => new Promise((resolve) => waits.push(resolve)));
  return {
    pace,
    async pass(ms: number) {
      now += ms;
      const over = waits;
      waits = [];
      for (const end of over) end();
      await turns(1);
    },
  };
}

Deno.test("work of all connections together waits for room, and connections take turns", async () => {
  const { pace, pass } = paceByHand();
  const passed: string[] = [];
  const enter = async (name: string, cost: number) => {
    const turn = pace.enter(cost);
    if (turn !== null) await turn;
    passed.push(name);
  };
  for (let i = 1; i <= 3; i++) {
    void enter(`a${i}`, 1000);
    void enter(`b${i}`, 1000);
  }
  await turns(1);
  assertEquals(passed, ["a1"]);
  await pass(1);
  assertEquals(passed, ["a1", "b1"]);
  await pass(1);
  assertEquals(passed, ["a1", "b1"], "its work is owed");
  await pass(1);
  assertEquals(passed, ["a1", "b1", "a2"]);
  // After a standstill there is no more room than at first.
  await pass(60_000);
  assertEquals(passed, ["a1", "b1", "a2", "b2"]);
  await pass(60_000);
  await pass(60_000);
  assertEquals(passed, ["a1", "b1", "a2", "b2", "a3", "b3"]);
});

Deno.test("a frame that reaches the gateway makes more work than one that does not", () => {
  const watch = new Http2Watch(() => 0);
  watch.allows(PREFACE);
  assertEquals(watch.cost, 0);
  watch.allows(repeated(WINDOW, 10));
  assertEquals(watch.cost, 10);
  watch.allows(repeated(DATA, 10));
  assertEquals(watch.cost, 160);
  watch.allows(repeated(new Uint8Array([0, 0, 1, 1, 5, 0, 0, 0, 1, 130]), 10));
  assertEquals(watch.cost, 480);
  // Each frame counts once, however it is cut.
  watch.allows(DATA.subarray(0, 5));
  assertEquals(watch.cost, 0);
  watch.allows(DATA.subarray(5));
  assertEquals(watch.cost, 16);
});

/** A connection whose bytes are handed to it, and what it has relayed. */
async function connectionByHand(pace: InputPace) {
  const sent: Uint8Array[] = [];
  let arrive = (_: Uint8Array) => {};
  const conn = {
    setNoDelay() {},
    close() {},
    read: (into: Uint8Array) =>
      new Promise<number | null>((resolve) => {
        arrive = (bytes) => {
          into.set(bytes);
          resolve(bytes.length);
        };
      }),
  };
  const inner = {
    read: () => new Promise<null>(() => {}),
    write(bytes: Uint8Array) {
      sent.push(bytes.slice());
      return Promise.resolve(bytes.length);
    },
  };
  const host = { entered() {}, closed() {}, stopping: false, unsent: new UnsentAnswers(1) };
  const connection = new Http2Connection(conn as unknown as Conn, host as unknown as Host, {
    pace,
    connect: () => Promise.resolve({ conn: inner as unknown as Deno.TcpConn, leave() {} }),
    stop() {},
  });
  void connection.serve();
  await turns(1);
  return {
    connection,
    sent,
    async arrive(bytes: Uint8Array) {
      arrive(bytes);
      await turns(1);
    },
  };
}

Deno.test("many small frames of a client are relayed in pieces, and other bytes at once", async () => {
  const { pace, pass } = paceByHand();
  const { connection, sent, arrive } = await connectionByHand(pace);
  const large = joined([new Uint8Array([0, 0x3f, 0, 0, 0, 0, 0, 0, 1]), new Uint8Array(0x3f00)]);
  const all = [PREFACE, large, repeated(WINDOW, 200), repeated(DATA, 1600)];
  for (const bytes of all) await arrive(bytes);
  assertEquals(sent.slice(0, 3), all.slice(0, 3));
  assertEquals(joined(sent.slice(3)).length, 1024);
  for (let i = 0; i < 100; i++) await pass(1);
  assertEquals(joined(sent), joined(all));
  connection.close();
});

Deno.test("small frames wait, whatever their size", async () => {
  for (const length of [1, 20, 55, 80, 120, 400, 900]) {
    const { pace } = paceByHand();
    const { connection, sent, arrive } = await connectionByHand(pace);
    await arrive(PREFACE);
    const head = new Uint8Array([0, length >> 8, length & 255, 0, 0, 0, 0, 0, 1]);
    const frame = joined([head, new Uint8Array(length)]);
    const bytes = repeated(frame, Math.floor(16_384 / frame.length));
    for (let i = 0; i < 10; i++) await arrive(bytes);
    const frames = (joined(sent).length - PREFACE.length) / frame.length;
    assert(frames * 16 < 4000, `${frames} frames of ${length} bytes have not waited`);
    connection.close();
  }
});

Deno.test("what makes little work does not wait for others", async () => {
  const { pace } = paceByHand();
  const { connection, sent, arrive } = await connectionByHand(pace);
  await arrive(PREFACE);
  void pace.enter(1_000_000);
  for (let i = 0; i < 100; i++) await arrive(repeated(DATA, 16));
  assertEquals(joined(sent).length, PREFACE.length + 1600 * DATA.length);
  connection.close();
});
