/** Heads of answers that are known from the one before: they say what reading them says. */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { WireError } from "../../src/transport/body_framing.ts";
import { headEnd, headText } from "../../src/transport/head.ts";
import { AnswerHeads } from "../../src/outgoing/answer_heads.ts";
import { type Head, parseHead } from "../../src/outgoing/http1_wire.ts";

const NAMES = [
  "date",
  "server",
  "content-type",
  "content-length",
  "connection",
  "transfer-encoding",
  "set-cookie",
  "x",
  "x-y",
  "absent",
  "",
  "__proto__",
];

const head = (length = "7", more = "") =>
  `HTTP/1.1 200 OK\r\nDate: Sun, 22 Nov 2026 21:00:00 GMT\r\nContent-Type: application/json\r\nSet-Cookie: a=b\r\n` +
  `Content-Length: ${length}\r\nset-cookie:\t c=d; e \r\nConnection: keep-alive\r\nX: \r\n${more}\r\n`;
const chunked = "HTTP/1.1 200 OK\r\nDate: a\r\nTransfer-Encoding: chunked\r\n\r\n";

/** All that a head says. */
function told(head: Head | null): unknown {
  if (head === null) return null;
  const { headers, body, ...rest } = head;
  const { left, ended, untilClose } = body;
  return { ...rest, left, ended, untilClose, values: NAMES.map((name) => headers.get(name)) };
}

/** What it says; a text for what it throws. */
function said(read: () => Head | null): unknown {
  try {
    return told(read());
  } catch (thrown) {
    if (thrown instanceof WireError) return thrown.message;
    throw thrown;
  }
}

function read(text: string): unknown {
  const bytes = Buffer.from(text, "latin1");
  return said(() => {
    const end = headEnd(bytes, 0, bytes.length);
    return end === 0 ? null : parseHead(headText(bytes, 0, end), true);
  });
}

function next(heads: AnswerHeads, text: string): unknown {
  const bytes = Buffer.from(text, "latin1");
  return said(() => heads.next(bytes, 0, 0, bytes.length));
}

/** Heads of a connection that has brought this one. */
function after(text: string): AnswerHeads {
  const heads = new AnswerHeads();
  next(heads, text);
  return heads;
}

Deno.test("AnswerHeads.next() says of a head what reading it says, whichever it knows", () => {
  const texts = [
    head(),
    head("0"),
    head("123456789"),
    head("1234567890"),
    head("007"),
    head(""),
    head("-1"),
    head("7, 7"),
    head("7", "content-length: 7\r\n"),
    head("7", "transfer-encoding: chunked\r\n"),
    head("7", "X-Y: z\r\n"),
    head().replace("21:00:00", "21:00:01"),
    head().replace("X: ", "X: a value: of\tits own\xe9 "),
    head().replace("X: ", "X: \x01"),
    head().replace("X: ", "X: \x7f"),
    head().replace("a=b", "a\nb"),
    head().replace("a=b", "a\rb"),
    head().replace("a=b", ""),
    head().replace("keep-alive", "close"),
    head().replace("keep-alive", "Keep-Alive"),
    head().replace("200 OK", "200 Fine"),
    head().replace("200 OK", "429 Too Many Requests"),
    head().replace("200 OK", "204 No Content"),
    head().replace("200 OK", "304 Not Modified"),
    head().replace("200 OK", "103 Early Hints"),
    head().replace("HTTP/1.1", "HTTP/1.0"),
    head().replace("X:", "X :"),
    head().slice(0, -1),
    head().slice(0, -2),
    head().slice(0, 100),
    `${head()}{"a":1}`,
    chunked,
    chunked.replace("chunked", "gzip"),
    chunked.replace("Transfer-Encoding: chunked\r\n", ""),
    "HTTP/1.1 200 OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\nX: y\r\n\r\n",
    "nothing\r\n\r\n",
  ];
  for (const text of texts) {
    for (const known of texts) {
      assertEquals(next(after(known), text), read(text), JSON.stringify([known, text]));
    }
  }
});

Deno.test("AnswerHeads.next() keeps the values of a head when its bytes are written over, and finds the next behind it", () => {
  const heads = after(head());
  const bytes = Buffer.from(`${head("12")}${head("345").replace("a=b", "f=g")}`, "latin1");
  const first = heads.next(bytes, 0, 0, bytes.length)!;
  assertEquals(heads.end, head("12").length);
  const second = heads.next(bytes, heads.end, heads.end, bytes.length)!;
  assertEquals(heads.end, bytes.length);
  bytes.fill(0);
  assertEquals([first.headers.get("content-length"), first.body.left], ["12", 12]);
  assertEquals([second.headers.get("content-length"), second.body.left], ["345", 345]);
  assertEquals(second.headers.get("set-cookie"), "f=g, c=d; e");
});

Deno.test("AnswerHeads.next() does not look again at what came of a head with each byte more", () => {
  const heads = after(head());
  const text = head().replace("a=b", "a".repeat(4000));
  let looks = 0;
  const bytes = new Proxy(Buffer.from(text, "latin1"), {
    get(target, name) {
      looks++;
      return Reflect.get(target, name);
    },
  });
  for (let to = 1, looked = 0; to < text.length; looked = Math.max(0, to - 2), to++) {
    assertEquals(heads.next(bytes, 0, looked, to), null);
  }
  assert(looks > text.length && looks < 10 * text.length, String(looks));
});

Deno.test("AnswerHeads.next() gives each chunked answer an end of its own", () => {
  const heads = after(chunked);
  const body = Buffer.from("0\r\n\r\n", "latin1");
  for (let i = 0; i < 3; i++) {
    const found = heads.next(Buffer.from(chunked, "latin1"), 0, 0, chunked.length)!;
    assert(!found.body.ended);
    found.body.take(Buffer.from(body), 0, body.length);
    assert(found.body.ended);
  }
});

Deno.test("AnswerHeads.next() knows the head of streams and that of whole answers, which take turns", () => {
  const heads = after(head());
  next(heads, chunked);
  for (const text of [head(), chunked, chunked, head("12"), chunked, head()]) {
    const bytes = Buffer.from(text, "latin1");
    const found = heads.next(bytes, 0, 0, bytes.length)!;
    // Of one that had to be read the headers are a Map.
    assertEquals([found.headers instanceof Map, told(found)], [false, read(text)]);
    assertEquals(heads.end, text.length);
  }
});

Deno.test("AnswerHeads.next() says of heads changed at random what reading them says", () => {
  const piece = fc.constantFrom(
    "",
    "\r",
    "\n",
    "\r\n",
    ":",
    " ",
    "0",
    "5",
    ",",
    "x",
    "\t",
    "\x00",
    "\x80",
    "content-length: 5\r\n",
  );
  fc.assert(
    fc.property(
      fc.constantFrom(head(), chunked),
      fc.constantFrom(head("3"), chunked),
      fc.array(fc.tuple(piece, fc.nat(), fc.nat(3)), { maxLength: 2 }),
      (known, text, changes) => {
        for (const [piece, at, cut] of changes) {
          const place = at % text.length;
          text = text.slice(0, place) + piece + text.slice(place + cut);
        }
        assertEquals(next(after(known), text), read(text), JSON.stringify(text));
      },
    ),
    { numRuns: 5_000 },
  );
});
