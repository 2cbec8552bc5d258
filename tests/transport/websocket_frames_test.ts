import { assertEquals, assertThrows } from "@std/assert";
import {
  closeFrame,
  FrameError,
  PING_FRAME,
  textFrame,
  WebSocketFrameReader,
} from "../../src/transport/websocket/frames.ts";

/** A frame as a client sends it. */
function masked(
  first: number,
  payload: Uint8Array,
  { mask = [1, 2, 3, 4], length = payload.length } = {},
): Uint8Array {
  const head = length < 126
    ? [0x80 | length]
    : length < 65536
    ? [0x80 | 126, length >> 8, length & 255]
    : [0x80 | 127, 0, 0, 0, 0, length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255];
  return new Uint8Array([first, ...head, ...mask, ...payload.map((byte, i) => byte ^ mask[i % 4])]);
}

const bytes = (text: string) => new TextEncoder().encode(text);

function reader(most = 1000) {
  const told: string[] = [];
  const decoder = new TextDecoder();
  const frames = new WebSocketFrameReader(most, {
    text: (message) => told.push(decoder.decode(message)),
    ping: (payload) => told.push(`ping ${decoder.decode(payload)}`),
    pong: () => told.push("pong"),
    close: (code) => told.push(`close ${code}`),
  });
  return { frames, told };
}

/** The code with which the connection would end. */
function refusal(...frames: Uint8Array[]): number {
  const { frames: into } = reader();
  const error = assertThrows(() => frames.forEach((frame) => into.push(frame, () => true)), FrameError);
  return error.code;
}

Deno.test("frames are put together, wherever the bytes are cut", () => {
  const all = new Uint8Array([
    ...masked(0x81, bytes("one")),
    ...masked(0x01, bytes("tw")),
    ...masked(0x89, bytes("here?")),
    ...masked(0x00, bytes("")),
    ...masked(0x80, bytes("o ä")),
    ...masked(0x81, bytes("x".repeat(300))),
    ...masked(0x81, bytes("")),
    ...masked(0x8a, bytes("")),
    ...masked(0x88, new Uint8Array([3, 232])),
  ]);
  const expected = ["one", "ping here?", "two ä", "x".repeat(300), "", "pong", "close 1000"];
  for (const step of [1, 2, 3, 7, 50, all.length]) {
    const { frames, told } = reader();
    for (let at = 0; at < all.length; at += step) frames.push(all.subarray(at, at + step), () => true);
    assertEquals(told, expected);
    assertEquals(frames.kept, 0);
  }
});

Deno.test("frames that break the protocol end the connection with the code for it", () => {
  assertEquals(refusal(textFrame("not masked")), 1002);
  assertEquals(refusal(masked(0xc1, bytes("reserved"))), 1002);
  assertEquals(refusal(masked(0x82, bytes("binary"))), 1003);
  assertEquals(refusal(masked(0x80, bytes("nothing to go on"))), 1002);
  assertEquals(refusal(masked(0x01, bytes("a")), masked(0x81, bytes("b"))), 1002);
  assertEquals(refusal(masked(0x09, bytes("in parts"))), 1002);
  assertEquals(refusal(masked(0x89, bytes("x".repeat(126)))), 1002);
  assertEquals(refusal(masked(0x8b, bytes(""))), 1002);
  assertEquals(refusal(masked(0x88, new Uint8Array([3]))), 1002);
  assertEquals(refusal(masked(0x88, new Uint8Array([3, 237]))), 1002);
  assertEquals(refusal(masked(0x88, new Uint8Array([3, 232, 0xff]))), 1007);
});

Deno.test("a message that is too long is refused by what it announces, and what was announced takes no memory", () => {
  assertEquals(refusal(masked(0x81, new Uint8Array(), { length: 1001 })), 1009);
  assertEquals(
    refusal(masked(0x01, new Uint8Array(900)), masked(0x80, new Uint8Array(), { length: 101 })),
    1009,
  );
  const huge = new Uint8Array([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
  assertEquals(refusal(huge), 1009);
  const { frames } = reader(2 ** 31);
  frames.push(masked(0x81, new Uint8Array(10), { length: 2 ** 30 }), () => true);
  assertEquals(frames.kept, 10);
});

Deno.test("the bound on a message is that of each, also of several that come at once", () => {
  const { frames, told } = reader();
  const long = masked(0x81, bytes("x".repeat(900)));
  frames.push(new Uint8Array([...long, ...long, ...long.subarray(0, 10)]), () => true);
  assertEquals(told, ["x".repeat(900), "x".repeat(900)]);
});

Deno.test("frames are written with the shortest length that holds theirs", () => {
  assertEquals([...textFrame("ab")], [0x81, 2, 97, 98]);
  assertEquals([...textFrame("x".repeat(126)).subarray(0, 4)], [0x81, 126, 0, 126]);
  assertEquals([...textFrame("x".repeat(65536)).subarray(0, 10)], [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
  assertEquals([...PING_FRAME], [0x89, 0]);
  assertEquals([...closeFrame(1001, "by")], [0x88, 4, 3, 233, 98, 121]);
  assertEquals(closeFrame(1001, "x".repeat(500)).length, 2 + 125);
});
