/** What a server may do to a connection over HTTP/2, and what a call comes to then. */
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
import { begin, data, head, last, reset, text, whole } from "./raw_server.ts";

const LOST = "provider_unavailable";
export const SILENT = "provider_timeout";
const one = encodeFields([[":status", "200"]]);
/** A field that goes into the table, of nearly its size. */
const entry = [0x40, 1, 120, 0x7f, 0xa1, 0x1e, ...Array(4000).fill(121)];
const padded = (type: number, flags: number, payload: number[]) =>
  frame(type, flags | FLAG.padded, 1, Uint8Array.from(payload));

interface Case {
  /** When it has read the first request. */
  written: Uint8Array[];
  comesTo: string;
  /** Where `fetch` is less strict than the own client, or waits for what does not come. */
  byFetch?: string;
  /** It closes the connection behind that. */
  ends?: true;
}

export const CASES: Record<string, Case> = {
  "nothing": { written: [], ends: true, comesTo: LOST },
  "no HTTP/2": {
    written: [text("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n")],
    ends: true,
    comesTo: LOST,
  },
  "no settings first": { written: whole(1, "ab"), ends: true, comesTo: LOST, byFetch: "200 ab" },
  "silence": { written: [begin], comesTo: SILENT },
  "a head, then silence": { written: [begin, head(1)], comesTo: SILENT },
  "half a body, then silence": { written: [begin, head(1), data(1, "ab")], comesTo: SILENT },
  "half a body, then the end": { written: [begin, head(1), data(1, "ab")], ends: true, comesTo: LOST },
  "half a frame, then the end": {
    written: [begin, head(1), data(1, "abcd").subarray(0, 11)],
    ends: true,
    comesTo: LOST,
  },
  "half a body, then a reset": {
    written: [begin, head(1), data(1, "ab"), reset(1, 2)],
    comesTo: LOST,
  },
  "half a body, then a goodbye for it": {
    written: [begin, head(1), data(1, "ab"), goaway(CODE.noError)],
    comesTo: LOST,
    byFetch: "200 ab",
  },
  "a body without a head": { written: [begin, last(1, "ab")], comesTo: LOST },
  "an end without a head": {
    written: [begin, head(1, [[":status", "103"]], FLAG.endStream)],
    comesTo: LOST,
    byFetch: SILENT,
  },
  "two heads": { written: [begin, head(1), head(1), last(1)], comesTo: LOST },
  "a status that is none": {
    written: [begin, head(1, [[":status", "20"]]), last(1)],
    comesTo: LOST,
  },
  "a head without a status": {
    written: [begin, head(1, [["a", "b"]]), last(1)],
    comesTo: LOST,
    byFetch: "200 ",
  },
  "a status behind other fields": {
    written: [begin, head(1, [["a", "b"], [":status", "200"]]), last(1)],
    comesTo: LOST,
  },
  "two statuses": {
    written: [begin, head(1, [[":status", "200"], [":status", "200"]]), last(1)],
    comesTo: LOST,
  },
  "a switch of protocols": {
    written: [begin, head(1, [[":status", "101"]])],
    comesTo: LOST,
    byFetch: SILENT,
  },
  "a name in capitals": {
    written: [begin, head(1, [[":status", "200"], ["Server", "x"]]), last(1)],
    comesTo: LOST,
  },
  "a value with a line break": {
    written: [begin, head(1, [[":status", "200"], ["x", "a\r\nb: c"]]), last(1)],
    comesTo: LOST,
  },
  "a body that was compressed": {
    written: [begin, head(1, [[":status", "200"], ["content-encoding", "gzip"]]), last(1, "ab")],
    comesTo: LOST,
  },
  "a body shorter than it said": {
    written: [begin, head(1, [[":status", "200"], ["content-length", "3"]]), last(1, "ab")],
    comesTo: LOST,
  },
  "a body longer than it said": {
    written: [begin, head(1, [[":status", "200"], ["content-length", "1"]]), last(1, "ab")],
    comesTo: LOST,
  },
  "a frame for nobody": { written: [begin, head(3)], comesTo: LOST },
  "a frame for a stream of its own": { written: [begin, data(2, "ab")], comesTo: LOST },
  "a push": {
    written: [begin, frame(FRAME.pushPromise, FLAG.endHeaders, 1, Uint8Array.from([0, 0, 0, 2, ...one]))],
    comesTo: LOST,
  },
  "a frame that is too long": {
    written: [begin, Uint8Array.from([1, 0, 0, 0, 0, 0, 0, 0, 1])],
    comesTo: LOST,
  },
  "more padding than bytes": {
    written: [begin, head(1), padded(FRAME.data, 0, [9, 1])],
    comesTo: LOST,
  },
  "a window that grows by nothing": {
    written: [begin, numberFrame(FRAME.windowUpdate, 0, 0)],
    comesTo: LOST,
  },
  "a window beyond the largest": {
    written: [begin, numberFrame(FRAME.windowUpdate, 0, 0x7fffffff)],
    comesTo: LOST,
  },
  "a stream's window beyond the largest": {
    written: [settings([[SETTING.initialWindowSize, 0x80000000]])],
    comesTo: LOST,
  },
  "frames of no size": { written: [settings([[SETTING.maxFrameSize, 1]])], comesTo: LOST },
  "a server that wants to push": {
    written: [settings([[SETTING.enablePush, 1]])],
    comesTo: LOST,
    byFetch: SILENT,
  },
  "settings that are cut": {
    written: [frame(FRAME.settings, 0, 0, new Uint8Array(5))],
    comesTo: LOST,
  },
  "a frame of two thousand settings": {
    written: [settings(Array(2000).fill([SETTING.initialWindowSize, 65_535]))],
    comesTo: LOST,
    byFetch: SILENT,
  },
  "settings of a stream": {
    written: [frame(FRAME.settings, 0, 1, new Uint8Array())],
    comesTo: LOST,
  },
  "a ping that is cut": {
    written: [begin, frame(FRAME.ping, 0, 0, new Uint8Array(7))],
    comesTo: LOST,
  },
  "a head within a head": {
    written: [begin, frame(FRAME.headers, 0, 1, one), head(1)],
    comesTo: LOST,
  },
  "a part of no head": {
    written: [begin, frame(FRAME.continuation, FLAG.endHeaders, 1, one)],
    comesTo: LOST,
  },
  "a head without end": {
    written: [
      begin,
      frame(FRAME.headers, 0, 1, one),
      ...Array(2000).fill(frame(FRAME.continuation, 0, 1, new Uint8Array())),
    ],
    comesTo: LOST,
  },
  "a head that is too long": {
    written: [
      begin,
      frame(FRAME.headers, 0, 1, one),
      ...Array(70).fill(frame(FRAME.continuation, 0, 1, encodeFields([["x", "y".repeat(1000)]]))),
    ],
    comesTo: LOST,
  },
  "a head that stands for nothing": {
    written: [begin, frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.from([0xff, 0]))],
    comesTo: LOST,
  },
  "pings without end": {
    written: [begin, ...Array(20_000).fill(frame(FRAME.ping, 0, 0, new Uint8Array(8)))],
    comesTo: LOST,
    byFetch: SILENT,
  },
  "empty frames without end": {
    written: [begin, head(1), ...Array(20_000).fill(data(1, ""))],
    comesTo: LOST,
    byFetch: SILENT,
  },
  "settings without end": { written: Array(20_000).fill(begin), comesTo: LOST, byFetch: SILENT },
  "half a body, then a reset without an error": {
    written: [begin, head(1), data(1, "ab"), reset(1, CODE.noError)],
    comesTo: LOST,
    byFetch: "200 ab",
  },
  "half a body with a length, then a reset without an error": {
    written: [
      begin,
      head(1, [[":status", "200"], ["content-length", "9"]]),
      data(1, "ab"),
      reset(1, CODE.noError),
    ],
    comesTo: LOST,
  },
  "trailers with a status": {
    written: [begin, head(1), data(1, "ab"), head(1, [[":status", "200"]], FLAG.endStream)],
    comesTo: LOST,
    byFetch: "200 ab",
  },
  "trailers without an end": {
    written: [begin, head(1), data(1, "ab"), head(1, [["x", "y"]])],
    comesTo: LOST,
  },
  "two lengths": {
    written: [
      begin,
      head(1, [[":status", "200"], ["content-length", "2"], ["content-length", "3"]]),
      last(1, "ab"),
    ],
    comesTo: LOST,
  },
  "a field of requests": {
    written: [begin, head(1, [[":status", "200"], [":path", "/"]]), last(1, "ab")],
    comesTo: LOST,
    byFetch: "200 ab",
  },
  "hints without end": {
    written: [begin, ...Array(2000).fill(head(1, [[":status", "103"], ["x", "y".repeat(100)]]))],
    comesTo: LOST,
    byFetch: SILENT,
  },
  "a head that the table makes long": {
    written: [
      begin,
      frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.from([...one, ...entry, ...Array(100).fill(0xbe)])),
      last(1, "ab"),
    ],
    comesTo: LOST,
  },
  "a table larger than allowed": {
    written: [
      begin,
      frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.from([0x3f, 0xe2, 0x1f, ...one])),
      last(1, "ab"),
    ],
    comesTo: LOST,
  },
  "a part of another head within a head": {
    written: [begin, frame(FRAME.headers, 0, 1, one), frame(FRAME.continuation, FLAG.endHeaders, 3, one)],
    comesTo: LOST,
  },
  "a ping within a head": {
    written: [begin, frame(FRAME.headers, 0, 1, one), frame(FRAME.ping, 0, 0, new Uint8Array(8)), last(1)],
    comesTo: LOST,
  },
  "a priority that is cut": {
    written: [begin, frame(FRAME.headers, FLAG.endHeaders | FLAG.priority, 1, new Uint8Array(3))],
    comesTo: LOST,
  },
  "a reset that is cut": {
    written: [begin, frame(FRAME.rstStream, 0, 1, new Uint8Array(3))],
    comesTo: LOST,
  },
  "a reset of no stream": {
    written: [begin, numberFrame(FRAME.rstStream, 0, 2)],
    comesTo: LOST,
  },
  "a window that is cut": {
    written: [begin, frame(FRAME.windowUpdate, 0, 1, new Uint8Array(3))],
    comesTo: LOST,
  },
  "a goodbye that is cut": {
    written: [begin, frame(FRAME.goaway, 0, 0, new Uint8Array(7))],
    comesTo: LOST,
  },
  "a body of no stream": { written: [begin, data(0, "ab")], comesTo: LOST },
  // All these are as they may be.
  "an answer": { written: [begin, ...whole(1, "ab")], comesTo: "200 ab" },
  "an answer without a body": {
    written: [begin, head(1, [[":status", "204"]], FLAG.endStream)],
    comesTo: "204 ",
  },
  "a refusal": {
    written: [begin, head(1, [[":status", "429"]]), last(1, "no")],
    comesTo: "429 no",
  },
  "hints before": {
    written: [begin, head(1, [[":status", "103"]]), ...whole(1, "ab")],
    comesTo: "200 ab",
  },
  "fields behind": {
    written: [begin, head(1), data(1, "ab"), head(1, [["x", "y"]], FLAG.endStream)],
    comesTo: "200 ab",
  },
  "a head in parts, with padding and priority": {
    written: [
      begin,
      padded(FRAME.headers, FLAG.priority, [2, 0, 0, 0, 0, 16, ...one.subarray(0, 2), 0, 0]),
      frame(FRAME.continuation, FLAG.endHeaders, 1, one.subarray(2)),
      padded(FRAME.data, FLAG.endStream, [1, 97, 98, 0]),
    ],
    comesTo: "200 ab",
  },
  "frames of no known kind": {
    written: [
      begin,
      frame(77, 255, 0, text("x")),
      frame(FRAME.priority, 0, 1, new Uint8Array(5)),
      ...whole(1, "ab"),
    ],
    comesTo: "200 ab",
  },
  "an answer, then a reset": {
    written: [begin, ...whole(1, "ab"), reset(1, CODE.noError)],
    comesTo: "200 ab",
  },
  "an answer, then more of it": {
    written: [begin, ...whole(1, "ab"), data(1, "more"), head(1, [["x", "y"]], FLAG.endStream)],
    comesTo: "200 ab",
  },
  "settings that change within an answer": {
    written: [
      begin,
      head(1),
      settings([[SETTING.headerTableSize, 0], [SETTING.initialWindowSize, 0]]),
      data(1, "a"),
      settings([[SETTING.headerTableSize, 4096], [SETTING.initialWindowSize, 65_535], [99, 1]]),
      last(1, "b"),
    ],
    comesTo: "200 ab",
  },
  "a table that becomes smaller and larger": {
    written: [
      begin,
      frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.from([0x20, 0x3f, 0xe1, 0x1f, ...one])),
      last(1, "ab"),
    ],
    comesTo: "200 ab",
  },
  "a body where there is none": {
    written: [begin, head(1, [[":status", "304"], ["content-length", "9"]], FLAG.endStream)],
    comesTo: "304 ",
  },
  "a misdirected request": {
    written: [begin, head(1, [[":status", "421"]], FLAG.endStream)],
    comesTo: "421 ",
  },
  "a refusal that was compressed": {
    written: [begin, head(1, [[":status", "400"], ["content-encoding", "gzip"]]), last(1, "ab")],
    comesTo: "400 ab",
  },
  "an answer, then a goodbye": {
    written: [begin, frame(FRAME.goaway, 0, 0, Uint8Array.from([0, 0, 0, 1, 0, 0, 0, 0])), ...whole(1, "ab")],
    comesTo: "200 ab",
  },
  "a redirect": {
    written: [begin, head(1, [[":status", "302"], ["location", "/"]], FLAG.endStream)],
    comesTo: "302 ",
  },
};
