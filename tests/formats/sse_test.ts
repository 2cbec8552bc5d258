import { crc32 } from "node:zlib";
import { EventStreamReader } from "../../src/formats/wire/aws_event_stream.ts";
import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { Failure } from "../../src/exchange/failure.ts";
import type { Frame } from "../../src/formats/format.ts";
import { dataFrame, eventFrame, FrameReader, MAX_FRAME_BYTES } from "../../src/formats/wire/sse.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** Frames of a stream that comes in these pieces; each piece's memory is reused, as the network's is. */
function read(pieces: Iterable<Uint8Array>, limit?: number): Frame[] {
  const reader = new FrameReader(limit);
  const frames: Frame[] = [];
  for (const piece of pieces) {
    const shared = piece.slice();
    reader.push(shared, frames);
    shared.fill(0x21);
  }
  reader.end(frames);
  assertEquals(reader.pending, 0);
  return frames;
}

/** A stream whose line ends are all of one kind. */
const STREAM = [
  "\ufeffevent: greeting",
  "data: héllo 😀 – \u2028",
  "",
  ": a comment",
  "",
  "data:no blank",
  "data:  two blanks",
  "id: 7",
  "retry: 10",
  "event:named",
  "",
  "",
  "",
  "data",
  "",
  "data:",
  "data",
  "",
  "event: lonely",
  "",
  "dataset: no field of ours",
  'data: {"a":"\\r\\n\\n"}',
  ":",
  "",
  "data: last",
];

const FRAMES: Frame[] = [
  { event: "greeting", data: "héllo 😀 – \u2028" },
  { event: "named", data: "no blank\n two blanks" },
  { event: "", data: "" },
  { event: "", data: "\n" },
  { event: "", data: '{"a":"\\r\\n\\n"}' },
  { event: "", data: "last" },
];

const ENDINGS: [string, string][] = [["LF", "\n"], ["CRLF", "\r\n"], ["CR", "\r"]];

Deno.test("FrameReader reads the same frames wherever the bytes are cut", async (t) => {
  for (const [name, ending] of ENDINGS) {
    for (const tail of ["", ending, ending + ending]) {
      const all = bytes(STREAM.join(ending) + tail);
      await t.step(`${name}, ${tail.length / ending.length} line ends at the end`, () => {
        assertEquals(read([all]), FRAMES);
        assertEquals(read(Array.from(all, (b) => Uint8Array.of(b))), FRAMES);
        for (let i = 0; i <= all.length; i++) {
          assertEquals(read([all.subarray(0, i), all.subarray(i)]), FRAMES, `cut at ${i}`);
        }
      });
    }
  }
});

Deno.test("FrameReader keeps a frame's name when the network cuts between CR and LF", () => {
  const pieces = [
    "event: error\r",
    "\n",
    "data: x\r",
    "\n",
    "\r",
    "\n",
    "data: y\r\n\r",
    "\ndata: z\r\n\r\n",
  ];
  assertEquals(read(pieces.map(bytes)), [
    { event: "error", data: "x" },
    { event: "", data: "y" },
    { event: "", data: "z" },
  ]);
});

Deno.test("FrameReader takes line ends of all kinds in one stream", () => {
  assertEquals(read([bytes("event: a\rdata: 1\r\ndata: 2\n\r\ndata: 3\n\rdata: 4\r\rdata: 5\r\n\n")]), [
    { event: "a", data: "1\n2" },
    { event: "", data: "3" },
    { event: "", data: "4" },
    { event: "", data: "5" },
  ]);
});

Deno.test("FrameReader hands a frame out with the byte that completes it", () => {
  for (const [, ending] of ENDINGS) {
    const reader = new FrameReader();
    const frames: Frame[] = [];
    reader.push(bytes(`data: 1${ending}`), frames);
    assertEquals(frames.length, 0);
    assertEquals(reader.pending, 7 + ending.length);
    reader.push(bytes(ending), frames);
    assertEquals(frames, [{ event: "", data: "1" }]);
  }
});

Deno.test("FrameReader hands out every frame of a chunk, whatever its line ends", () => {
  for (const [name, ending] of ENDINGS) {
    const frames: Frame[] = [];
    new FrameReader().push(
      bytes(`data: 1${ending}${ending}event: e${ending}data: 2${ending}${ending}data: 3`),
      frames,
    );
    assertEquals(frames, [{ event: "", data: "1" }, { event: "e", data: "2" }], name);
  }
});

Deno.test("FrameReader agrees with a simple reading of the standard, on any bytes and cuts", () => {
  const piece = fc.constantFrom(
    "data: a",
    "data:b",
    "data",
    "event: e",
    ": c",
    "é😀",
    "x",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 30 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 5 })),
      (parts, sizes) => {
        const text = parts.join("");
        const all = bytes(text);
        const cut: Uint8Array[] = [];
        for (let at = 0; at < all.length;) {
          const size = sizes.next().value as number;
          cut.push(all.subarray(at, at + size));
          at += size;
        }
        assertEquals(read(cut), simple(text));
      },
    ),
    { numRuns: 3000, seed: 3 },
  );
});

/** Line by line, as "Interpreting an event stream" has it; a last frame needs no blank line. */
function simple(text: string): Frame[] {
  const frames: Frame[] = [];
  let event = "";
  let data: string[] = [];
  for (const line of [...text.split(/\r\n|\r|\n/), ""]) {
    if (line === "") {
      if (data.length > 0) frames.push({ event, data: data.join("\n") });
      event = "";
      data = [];
    }
    const value = line.slice(line.indexOf(":") + 1).replace(/^ /, "");
    if (line === "data") data.push("");
    else if (line.startsWith("data:")) data.push(value);
    else if (line.startsWith("event:")) event = value;
  }
  return frames;
}

Deno.test("FrameReader refuses a frame that never ends", () => {
  const reader = new FrameReader(1000);
  const failure = assertThrows(() => {
    for (let i = 0; i < 200; i++) reader.push(bytes("data: 0123456789"), []);
  }, Failure);
  assertEquals(failure.code, "provider_unavailable");
  assertEquals(reader.pending, 0);
});

Deno.test("a frame has at most 32 MiB, of either kind of stream", () => {
  const piece = new Uint8Array(1 << 20).fill(120);
  const reader = new FrameReader();
  for (let i = 0; i < 32; i++) reader.push(piece, []);
  assertThrows(() => reader.push(piece, []), Failure);
  // The length of a message stands before it.
  for (const [length, refused] of [[32 << 20, false], [(32 << 20) + 1, true]] as const) {
    const prelude = new Uint8Array(12);
    const view = new DataView(prelude.buffer);
    view.setUint32(0, length);
    view.setUint32(8, crc32(prelude.subarray(0, 8)));
    const push = () => new EventStreamReader().push(prelude, []);
    if (refused) assertThrows(push, Failure, "over 33554432 bytes");
    else push();
  }
});

Deno.test("FrameReader bounds one frame, not what arrives together", () => {
  const frames = "data: 0123456789\n\n".repeat(20);
  assertEquals(read([bytes(`data: 0123${frames}`)], 40).length, 20);
  assertEquals(read([bytes("data: 0123"), bytes(`456789\n\n${frames}data: 01`), bytes("23")], 40).length, 22);
});

Deno.test("FrameReader takes the largest frame byte by byte without copying it again and again", () => {
  const reader = new FrameReader();
  const frames: Frame[] = [];
  const one = bytes("x");
  reader.push(bytes("data: "), frames);
  // Quadratic work over two million pieces would never end.
  for (let i = 0; i < 2_000_000; i++) reader.push(one, frames);
  reader.push(bytes("\n\n"), frames);
  assertEquals(frames[0].data.length, 2_000_000);
  assert(MAX_FRAME_BYTES > 2_000_000);
});

Deno.test("dataFrame() and eventFrame() are read back", () => {
  assertEquals(read([bytes(dataFrame('{"a":1}') + eventFrame("ping", "{}"))]), [
    { event: "", data: '{"a":1}' },
    { event: "ping", data: "{}" },
  ]);
});

Deno.test("FrameReader refuses a frame of more lines than JSON is written over, of any kind and with any end", () => {
  const read = (line: string, lines: number, length: number) => {
    const reader = new FrameReader();
    const frames: Frame[] = [];
    const all = bytes(`data: 1\n\ndata: 2\n${line.repeat(lines)}\ndata: 3\n\n`);
    try {
      for (let at = 0; at < all.length; at += length) reader.push(all.subarray(at, at + length), frames);
    } catch (thrown) {
      return `${frames.length}: ${(thrown as Failure).message}`;
    }
    return frames.length;
  };
  for (const line of ["data: 1\n", "data\n", "x\n", "x\r", "x\r\n", ":\n", "id: 1\n"]) {
    assertEquals(read(line, 90_000, 65_536), line === "x\r" ? 2 : 3, JSON.stringify(line));
    // The frames before it are read.
    assertEquals(
      read(line, 200_000, 65_536),
      "1: The provider sent a stream frame that is too large: expected at most 100000 lines.",
      JSON.stringify(line),
    );
  }
  // In one piece.
  assertEquals(
    read("data: 1\n", 110_000, Infinity),
    "1: The provider sent a stream frame that is too large: expected at most 100000 lines.",
  );
});
