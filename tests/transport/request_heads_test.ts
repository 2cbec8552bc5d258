/** Heads that are known from the request before: they say what reading them says. */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { WireError } from "../../src/transport/body_framing.ts";
import { headEnd, headText } from "../../src/transport/head.ts";
import { type RequestHead, requestHead } from "../../src/transport/request_head.ts";
import { RequestHeads } from "../../src/transport/request_heads.ts";
import { Caller, CLOSE, get, listening } from "./caller.ts";

const head = (length: string, more = "") =>
  `POST /v1/chat/completions HTTP/1.1\r\nHost: a.test:8000\r\nAuthorization: Bearer k\r\nContent-Length: ${length}\r\n` +
  `X-Name: a value\r\n${more}\r\n`;

/** All that a head says. */
function told(head: RequestHead | null): unknown {
  if (head === null) return null;
  const { framing, fields, ...rest } = head;
  return { ...rest, fields: [...fields], left: framing.left, ended: framing.ended };
}

/** What {@link requestHead} says of the bytes; a text for what it throws. */
function read(text: string): unknown {
  const bytes = Buffer.from(text, "latin1");
  try {
    const end = headEnd(bytes, 0, bytes.length);
    return end === 0 ? null : told(requestHead(headText(bytes, 0, end), true));
  } catch (thrown) {
    if (thrown instanceof WireError) return thrown.message;
    throw thrown;
  }
}

function next(heads: RequestHeads, text: string): unknown {
  const bytes = Buffer.from(text, "latin1");
  try {
    return told(heads.next(bytes, 0, 0, bytes.length));
  } catch (thrown) {
    if (thrown instanceof WireError) return thrown.message;
    throw thrown;
  }
}

/** Heads of a connection that has sent this one. */
function after(text: string): RequestHeads {
  const heads = new RequestHeads();
  next(heads, text);
  next(heads, text);
  return heads;
}

Deno.test("RequestHeads.next() says of a head what reading it says, whichever it knows", () => {
  for (
    const text of [
      head("7"),
      head("0"),
      head("123456789"),
      head("1234567890"),
      head("1234567890123456"),
      head("9".repeat(40)),
      head("007"),
      head(""),
      head("-1"),
      head("5", "content-length: 5\r\n"),
      head("5", "Content-Length: 6\r\n"),
      head("5", "transfer-encoding: chunked\r\n"),
      head("5", "expect: 100-continue\r\n"),
      head("5", "connection: close\r\n"),
      head("5", "x: \x01\r\n"),
      head("5").replace("Bearer k", "Bearer l"),
      head("5").replace("a value", "a\nvalue"),
      head("5").replace("HTTP/1.1", "HTTP/1.0"),
      head("5").replace("X-Name:", "X-Name :"),
      head("5").slice(0, -1),
      head("5").slice(0, -2),
      head("5").slice(0, 90),
      `${head("5")}hello`,
      `${head("5")}${head("6")}`,
      get("/a"),
    ]
  ) {
    for (
      const known of [
        head("7"),
        head("5", "connection: close\r\n"),
        head("5", "expect: 100-continue\r\n"),
        get("/a"),
      ]
    ) {
      assertEquals(next(after(known), text), read(text), JSON.stringify(text));
    }
    const heads = after(text);
    assertEquals(next(heads, text), read(text));
    assertEquals(next(heads, head("9")), read(head("9")));
  }
});

Deno.test("RequestHeads.next() does not look again at what came of a head with each byte more", () => {
  const heads = after(head("7"));
  const text = head("7".repeat(4000));
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

Deno.test("RequestHeads.next() gives each request the length that it sent", () => {
  const heads = after(head("7"));
  const bytes = Buffer.from(`${head("12")}${head("345")}`, "latin1");
  const first = heads.next(bytes, 0, 0, bytes.length)!;
  assertEquals(heads.end, head("12").length);
  const second = heads.next(bytes, heads.end, heads.end, bytes.length)!;
  assertEquals(heads.end, bytes.length);
  assertEquals([first.fields.get("content-length"), first.framing.left], ["12", 12]);
  assertEquals([second.fields.get("content-length"), second.framing.left], ["345", 345]);
  assert(first.fields.has("content-length") && !first.fields.has("expect"));
});

Deno.test("RequestHeads.next() refuses a head that is too long, known or not", () => {
  const long = head("5", `x: ${"y".repeat(70_000)}\r\n`);
  const bytes = Buffer.from(long, "latin1");
  assertThrows(() => after(head("5")).next(bytes, 0, 0, bytes.length), WireError, "too long");
  assertThrows(() => new RequestHeads().next(bytes, 0, 0, bytes.length), WireError, "too long");
});

Deno.test("RequestHeads.next() says of heads changed at random what reading them says", () => {
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
      fc.nat(3000),
      fc.array(fc.tuple(piece, fc.nat(), fc.nat(3)), { maxLength: 2 }),
      (length, changes) => {
        let text = head(String(length));
        for (const [piece, at, cut] of changes) {
          const place = at % text.length;
          text = text.slice(0, place) + piece + text.slice(place + cut);
        }
        assertEquals(next(after(head("7")), text), read(text), JSON.stringify(text));
      },
    ),
    { numRuns: 5_000 },
  );
});

Deno.test("serve() answers requests of one head and other lengths, sent ahead and in pieces", async () => {
  const server = listening();
  const texts = Array.from({ length: 40 }, (_, i) => "b".repeat((i * 37) % 120));
  const sent =
    texts.map((text, i) =>
      `POST /${
        i % 5 === 4 ? "other" : "p"
      } HTTP/1.1\r\nhost: h\r\ncontent-length: ${text.length}\r\n\r\n${text}`
    ).join("") + get("/q", CLOSE);
  for (const size of [1, 13, 100, sent.length]) {
    const caller = await Caller.to(server);
    const sending = (async () => {
      for (let at = 0; at < sent.length; at += size) await caller.send(sent.slice(at, at + size));
    })();
    const said = await caller.end();
    await sending;
    const bodies = [...said.matchAll(/POST \/(?:p|other) (b*)(?=HTTP)/g)].map(([, body]) => body);
    assertEquals(bodies, texts);
    assertMatch(said, /GET \/q $/);
  }
  await server.shutdown();
});
