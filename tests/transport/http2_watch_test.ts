import { assertEquals } from "@std/assert";
import { AnswerFrames, Http2Watch } from "../../src/transport/http2_watch.ts";
import { joined } from "../support/event_stream.ts";

const PREFACE = new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const [DATA, HEADERS, RESET, SETTINGS, PING, WINDOW, CONTINUATION, UNKNOWN] = [0, 1, 3, 4, 6, 8, 9, 77];

function frame(type: number, flags: number, length: number, id = 1): Uint8Array {
  const bytes = new Uint8Array(9 + length);
  bytes.set([length >> 16, length >> 8, length, type, flags, 0, id >> 16, id >> 8, id]);
  return bytes;
}

const repeated = (one: Uint8Array, times: number) => Array.from({ length: times }, () => one);
/** Heads of so many requests. */
const requests = (times: number, length = 60) =>
  Array.from({ length: times }, (_, i) => frame(HEADERS, 5, length, 2 * i + 1));

/** Whether all of it passes, and likewise in pieces of any length. */
function passes(frames: readonly Uint8Array[], now = () => 0): boolean {
  const bytes = joined([PREFACE, ...frames]);
  const whole = new Http2Watch(now).allows(bytes);
  for (const length of [1, 7, 16_384]) {
    const watch = new Http2Watch(now);
    let passed = true;
    for (let at = 0; passed && at < bytes.length; at += length) {
      passed = watch.allows(bytes.subarray(at, at + length));
    }
    assertEquals(passed, whole, `pieces of ${length}`);
  }
  return whole;
}

Deno.test("what clients send over HTTP/2 passes, however many requests and how much of them there is", () => {
  const request = (_: unknown, i: number) => [
    frame(HEADERS, 4, 200, 2 * i + 1),
    ...repeated(frame(DATA, 0, 16_384), 5),
    frame(DATA, 1, 0),
    frame(WINDOW, 0, 4),
    frame(WINDOW, 0, 4),
  ];
  assertEquals(passes([frame(SETTINGS, 0, 36), ...Array.from({ length: 30 }, request).flat()]), true);
  assertEquals(passes(requests(5000)), true);
  assertEquals(
    passes([frame(HEADERS, 1, 16_384), frame(CONTINUATION, 0, 16_384), frame(CONTINUATION, 4, 9)]),
    true,
  );
  // Two windows for each stream.
  assertEquals(passes([...requests(5000), ...repeated(frame(WINDOW, 0, 4), 10_000)]), true);
  // Trailers.
  const withTrailers = (_: unknown, i: number) => [
    frame(HEADERS, 4, 200, 2 * i + 1),
    frame(HEADERS, 5, 20, 2 * i + 1),
  ];
  assertEquals(passes(Array.from({ length: 1000 }, withTrailers).flat()), true);
});

Deno.test("a client may send two window updates for each DATA frame that it has received, and a few more", () => {
  const watch = new Http2Watch(() => 0);
  watch.allows(PREFACE);
  for (let i = 0; i < 100; i++) {
    watch.sent(100);
    assertEquals(watch.allows(joined(repeated(frame(WINDOW, 0, 4), 200))), true, `${i}`);
  }
  assertEquals(watch.allows(joined(repeated(frame(WINDOW, 0, 4), 2000))), true);
  assertEquals(watch.allows(joined(repeated(frame(WINDOW, 0, 4), 2100))), false);
});

Deno.test("AnswerFrames counts DATA frames, however they are cut", () => {
  const bytes = joined([
    frame(SETTINGS, 0, 6),
    frame(HEADERS, 4, 30),
    ...repeated(frame(DATA, 0, 20), 7),
    frame(PING, 1, 8),
    frame(DATA, 1, 0),
  ]);
  for (const length of [1, 7, 10, 1000]) {
    const frames = new AnswerFrames();
    let count = 0;
    for (let at = 0; at < bytes.length; at += length) {
      frames.carry(bytes.subarray(at, at + length));
      count += frames.dataFrames;
    }
    assertEquals(count, 8, `${length}`);
  }
});

Deno.test("heads without an end, and frames that only make work, do not", () => {
  const head = frame(HEADERS, 1, 16_384);
  assertEquals(passes([head, ...repeated(frame(CONTINUATION, 0, 16_384), 4)]), false);
  assertEquals(passes([head, ...repeated(frame(CONTINUATION, 0, 0), 6000)]), false);
  assertEquals(passes(repeated(frame(HEADERS, 5, 70_000), 1)), false);
  // Window updates without an answer, and heads of a stream that was opened before.
  for (const type of [DATA, HEADERS, WINDOW, 2, RESET, SETTINGS, PING, UNKNOWN]) {
    assertEquals(passes(repeated(frame(type, 0, type === DATA ? 0 : 8), 2000)), true, `${type}`);
    // The first ones beyond the bound begin a second.
    assertEquals(passes(repeated(frame(type, 0, type === DATA ? 0 : 8), 4100)), false, `${type}`);
  }
});

Deno.test("frames that carry nothing may come again each second", () => {
  let now = 0;
  const watch = new Http2Watch(() => now);
  watch.allows(PREFACE);
  for (let second = 0; second < 20; second++) {
    assertEquals(watch.allows(joined(repeated(frame(PING, 0, 8), 1900))), true, `${second}`);
    now += 1000;
  }
});

Deno.test("what does not begin as HTTP/2 does not pass, wherever it is cut and however late it differs", () => {
  for (let differs = 0; differs < PREFACE.length; differs++) {
    const other = PREFACE.slice();
    other[differs] ^= 1;
    assertEquals(new Http2Watch().allows(other), false, `${differs}`);
    const watch = new Http2Watch();
    assertEquals(watch.allows(other.subarray(0, differs)), true, `${differs}`);
    assertEquals(watch.allows(other.subarray(differs)), false, `${differs}`);
  }
});
