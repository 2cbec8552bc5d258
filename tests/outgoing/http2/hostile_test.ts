/** What a server does to a connection over HTTP/2, and that the next call is answered after it. */
import { assert, assertEquals } from "@std/assert";
import { CODE } from "../../../src/outgoing/http2/connection_error.ts";
import {
  FLAG,
  FRAME,
  frame,
  goaway,
  numberFrame,
  SETTING,
  settings,
} from "../../../src/outgoing/http2/frames.ts";
import { encodeFields } from "../../../src/outgoing/http2/hpack.ts";
import { Ticker } from "../../../src/timing/ticker.ts";
import {
  begin,
  data,
  head,
  last,
  outcomeOf,
  type RawConnection,
  rawServer,
  reset,
  text,
  whole,
} from "./raw_server.ts";

const LOST = "provider_unavailable";
const SILENT = "provider_timeout";
const one = encodeFields([[":status", "200"]]);
const padded = (type: number, flags: number, payload: number[]) =>
  frame(type, flags | FLAG.padded, 1, Uint8Array.from(payload));

/** What it writes when it has read the first request; "stays": it leaves the connection open. */
const CASES: Record<string, { written: Uint8Array[]; comesTo: string; stays?: true }> = {
  "nothing": { written: [], comesTo: LOST },
  "no HTTP/2": { written: [text("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n")], comesTo: LOST },
  "no settings first": { written: whole(1, "ab"), comesTo: LOST },
  "silence": { written: [begin], comesTo: SILENT, stays: true },
  "a head, then silence": { written: [begin, head(1)], comesTo: SILENT, stays: true },
  "half a body, then silence": { written: [begin, head(1), data(1, "ab")], comesTo: SILENT, stays: true },
  "half a body, then the end": { written: [begin, head(1), data(1, "ab")], comesTo: LOST },
  "half a frame, then the end": { written: [begin, head(1), data(1, "abcd").subarray(0, 11)], comesTo: LOST },
  "half a body, then a reset": {
    written: [begin, head(1), data(1, "ab"), reset(1, 2)],
    comesTo: LOST,
    stays: true,
  },
  "half a body, then a goodbye for it": {
    written: [begin, head(1), data(1, "ab"), goaway(CODE.noError)],
    comesTo: LOST,
    stays: true,
  },
  "a body without a head": { written: [begin, last(1, "ab")], comesTo: LOST, stays: true },
  "an end without a head": {
    written: [begin, head(1, [[":status", "103"]], FLAG.endStream)],
    comesTo: LOST,
    stays: true,
  },
  "two heads": { written: [begin, head(1), head(1), last(1)], comesTo: LOST, stays: true },
  "a status that is none": {
    written: [begin, head(1, [[":status", "20"]]), last(1)],
    comesTo: LOST,
    stays: true,
  },
  "a head without a status": { written: [begin, head(1, [["a", "b"]]), last(1)], comesTo: LOST, stays: true },
  "a status behind other fields": {
    written: [begin, head(1, [["a", "b"], [":status", "200"]]), last(1)],
    comesTo: LOST,
    stays: true,
  },
  "two statuses": {
    written: [begin, head(1, [[":status", "200"], [":status", "200"]]), last(1)],
    comesTo: LOST,
    stays: true,
  },
  "a switch of protocols": { written: [begin, head(1, [[":status", "101"]])], comesTo: LOST, stays: true },
  "a name in capitals": {
    written: [begin, head(1, [[":status", "200"], ["Server", "x"]]), last(1)],
    comesTo: LOST,
    stays: true,
  },
  "a value with a line break": {
    written: [begin, head(1, [[":status", "200"], ["x", "a\r\nb: c"]]), last(1)],
    comesTo: LOST,
    stays: true,
  },
  "a body that was compressed": {
    written: [begin, head(1, [[":status", "200"], ["content-encoding", "gzip"]]), last(1, "ab")],
    comesTo: LOST,
    stays: true,
  },
  "a body shorter than it said": {
    written: [begin, head(1, [[":status", "200"], ["content-length", "3"]]), last(1, "ab")],
    comesTo: LOST,
    stays: true,
  },
  "a body longer than it said": {
    written: [begin, head(1, [[":status", "200"], ["content-length", "1"]]), last(1, "ab")],
    comesTo: LOST,
    stays: true,
  },
  "a frame for nobody": { written: [begin, head(3)], comesTo: LOST, stays: true },
  "a frame for a stream of its own": { written: [begin, data(2, "ab")], comesTo: LOST, stays: true },
  "a push": {
    written: [begin, frame(FRAME.pushPromise, FLAG.endHeaders, 1, Uint8Array.from([0, 0, 0, 2, ...one]))],
    comesTo: LOST,
    stays: true,
  },
  "a frame that is too long": {
    written: [begin, Uint8Array.from([1, 0, 0, 0, 0, 0, 0, 0, 1])],
    comesTo: LOST,
    stays: true,
  },
  "more padding than bytes": {
    written: [begin, head(1), padded(FRAME.data, 0, [9, 1])],
    comesTo: LOST,
    stays: true,
  },
  "a window that grows by nothing": {
    written: [begin, numberFrame(FRAME.windowUpdate, 0, 0)],
    comesTo: LOST,
    stays: true,
  },
  "a window beyond the largest": {
    written: [begin, numberFrame(FRAME.windowUpdate, 0, 0x7fffffff)],
    comesTo: LOST,
    stays: true,
  },
  "a stream's window beyond the largest": {
    written: [settings([[SETTING.initialWindowSize, 0x80000000]])],
    comesTo: LOST,
    stays: true,
  },
  "frames of no size": { written: [settings([[SETTING.maxFrameSize, 1]])], comesTo: LOST, stays: true },
  "settings that are cut": {
    written: [frame(FRAME.settings, 0, 0, new Uint8Array(5))],
    comesTo: LOST,
    stays: true,
  },
  "settings of a stream": {
    written: [frame(FRAME.settings, 0, 1, new Uint8Array())],
    comesTo: LOST,
    stays: true,
  },
  "a ping that is cut": {
    written: [begin, frame(FRAME.ping, 0, 0, new Uint8Array(7))],
    comesTo: LOST,
    stays: true,
  },
  "a head within a head": {
    written: [begin, frame(FRAME.headers, 0, 1, one), head(1)],
    comesTo: LOST,
    stays: true,
  },
  "a part of no head": {
    written: [begin, frame(FRAME.continuation, FLAG.endHeaders, 1, one)],
    comesTo: LOST,
    stays: true,
  },
  "a head without end": {
    written: [
      begin,
      frame(FRAME.headers, 0, 1, one),
      ...Array(2000).fill(frame(FRAME.continuation, 0, 1, new Uint8Array())),
    ],
    comesTo: LOST,
    stays: true,
  },
  "a head that is too long": {
    written: [
      begin,
      frame(FRAME.headers, 0, 1, one),
      ...Array(70).fill(frame(FRAME.continuation, 0, 1, encodeFields([["x", "y".repeat(1000)]]))),
    ],
    comesTo: LOST,
    stays: true,
  },
  "a head that stands for nothing": {
    written: [begin, frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.from([0xff, 0]))],
    comesTo: LOST,
    stays: true,
  },
  "pings without end": {
    written: [begin, ...Array(20_000).fill(frame(FRAME.ping, 0, 0, new Uint8Array(8)))],
    comesTo: LOST,
    stays: true,
  },
  "empty frames without end": {
    written: [begin, head(1), ...Array(20_000).fill(data(1, ""))],
    comesTo: LOST,
    stays: true,
  },
  "settings without end": { written: Array(20_000).fill(begin), comesTo: LOST, stays: true },
  // All these are as they may be.
  "an answer": { written: [begin, ...whole(1, "ab")], comesTo: "200 ab", stays: true },
  "an answer without a body": {
    written: [begin, head(1, [[":status", "204"]], FLAG.endStream)],
    comesTo: "204 ",
    stays: true,
  },
  "a refusal": {
    written: [begin, head(1, [[":status", "429"]]), last(1, "no")],
    comesTo: "429 no",
    stays: true,
  },
  "hints before": {
    written: [begin, head(1, [[":status", "103"]]), ...whole(1, "ab")],
    comesTo: "200 ab",
    stays: true,
  },
  "fields behind": {
    written: [begin, head(1), data(1, "ab"), head(1, [["x", "y"]], FLAG.endStream)],
    comesTo: "200 ab",
    stays: true,
  },
  "a head in parts, with padding and priority": {
    written: [
      begin,
      padded(FRAME.headers, FLAG.priority, [2, 0, 0, 0, 0, 16, ...one.subarray(0, 2), 0, 0]),
      frame(FRAME.continuation, FLAG.endHeaders, 1, one.subarray(2)),
      padded(FRAME.data, FLAG.endStream, [1, 97, 98, 0]),
    ],
    comesTo: "200 ab",
    stays: true,
  },
  "frames of no known kind": {
    written: [
      begin,
      frame(77, 255, 0, text("x")),
      frame(FRAME.priority, 0, 1, new Uint8Array(5)),
      ...whole(1, "ab"),
    ],
    comesTo: "200 ab",
    stays: true,
  },
  "an answer, then a reset": {
    written: [begin, ...whole(1, "ab"), reset(1, CODE.noError)],
    comesTo: "200 ab",
    stays: true,
  },
  "an answer, then a goodbye": {
    written: [begin, frame(FRAME.goaway, 0, 0, Uint8Array.from([0, 0, 0, 1, 0, 0, 0, 0])), ...whole(1, "ab")],
    comesTo: "200 ab",
    stays: true,
  },
  "a redirect": {
    written: [begin, head(1, [[":status", "302"], ["location", "/"]], FLAG.endStream)],
    comesTo: "302 ",
    stays: true,
  },
};

for (const [name, { written, comesTo, stays }] of Object.entries(CASES)) {
  Deno.test(`over HTTP/2, ${name}, comes to ${comesTo}, and the next call is answered`, async () => {
    let met = false;
    const server = rawServer(async (connection) => {
      assert(await connection.preface());
      for (let request = await connection.request(); request !== null; request = await connection.request()) {
        if (met) await answer(connection, request.id);
        else {
          met = true;
          await connection.write(...written);
          if (!stays) return;
        }
      }
    });
    const ticker = new Ticker();
    try {
      assertEquals(await outcomeOf(server.url, ticker, { firstByteMs: 400, idleMs: 400 }), comesTo);
      assertEquals(await outcomeOf(server.url, ticker), "200 good");
    } finally {
      await server.close();
    }
  });
}

const settled = new WeakSet<RawConnection>();

async function answer(connection: RawConnection, id: number): Promise<void> {
  // Settings may come again at any time.
  if (!settled.has(connection)) await connection.write(begin);
  settled.add(connection);
  await connection.write(...whole(id, "good"));
}
