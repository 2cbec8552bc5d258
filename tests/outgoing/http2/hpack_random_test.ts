/** Header blocks against encoders and decoders that others have written, and against a model of the table. */
import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { WireError } from "../../../src/transport/body_framing.ts";
import { type Field, HeadDecoder } from "../../../src/outgoing/http2/hpack.ts";
import { stoppedTicker } from "../../support/time.ts";
import { TLS } from "../../support/tls.ts";
import { ask, restOf } from "./raw_server.ts";

/** Names of the static table that both sides may send with any value; an encoding of the content would be refused. */
const NAMES =
  ("accept-charset,accept-encoding,accept-language,accept-ranges,accept,access-control-allow-origin," +
    "age,allow,authorization,cache-control,content-disposition,content-language,content-location," +
    "content-range,content-type,date,etag,expires,from,if-match,if-modified-since,if-none-match,if-range," +
    "if-unmodified-since,last-modified,link,location,max-forwards,proxy-authenticate,proxy-authorization,range," +
    "referer,refresh,retry-after,server,strict-transport-security,user-agent,vary,via,www-authenticate")
    .split(",");
const name = fc.oneof(
  fc.constantFrom(...NAMES),
  fc.constantFrom("x-a", "x-long-name-of-a-header"),
  fc.stringMatching(/^x-[a-z0-9!#$%&'*+.^_`|~-]{1,150}$/),
);
/** Without blanks at its ends, which are no part of a value. */
const value = fc.oneof(
  fc.constantFrom(
    "",
    "a",
    "gzip, deflate",
    "x".repeat(126),
    "x".repeat(127),
    "x".repeat(128),
    "~".repeat(4100),
  ),
  fc.stringMatching(/^[!-~]([ -~]{0,300}[!-~])?$/),
);
const headers = fc.dictionary(name, value, { maxKeys: 12 });

Deno.test("headers go to Node's server and back as they are, request after request on one connection", async () => {
  let sessions = 0;
  const server = createSecureServer(TLS, (request, response) => {
    const { headers } = request;
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (text: string) => body += text);
    request.on("end", () => {
      response.writeHead(200, JSON.parse(body));
      response.end(JSON.stringify(headers));
    });
  });
  server.on("session", () => sessions++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `https://localhost:${(server.address() as AddressInfo).port}`;
  const { ticker } = stoppedTicker();
  try {
    await fc.assert(
      fc.asyncProperty(headers, headers, async (sent, answered) => {
        const reply = await ask(url, ticker, { headers: sent, body: JSON.stringify(answered) });
        const seen = JSON.parse(await restOf(reply));
        for (const [name, value] of Object.entries(sent)) assertEquals(seen[name], value, name);
        for (const [name, value] of Object.entries(answered)) assertEquals(reply.header(name), value, name);
        reply.close();
      }),
      { numRuns: 150 },
    );
    assertEquals(sessions, 1);
  } finally {
    server.close();
  }
});

/** How a field is written: by its place in the table if it has one; else as a literal of this kind. */
type Kind = 0x40 | 0x00 | 0x10;

/** An encoder by RFC 7541, whose table is that of a decoder. */
class Encoder {
  readonly table: Field[] = [];
  #most = 4096;

  resize(bytes: number[], most: number): void {
    this.#most = most;
    this.#shrink();
    number(bytes, 0x20, 5, most);
  }

  write(bytes: number[], [name, value]: Field, kind: Kind): void {
    const whole = this.table.findIndex((field) => field[0] === name && field[1] === value);
    if (whole >= 0) return number(bytes, 0x80, 7, 62 + whole);
    const named = this.table.findIndex((field) => field[0] === name);
    number(bytes, kind, kind === 0x40 ? 6 : 4, named < 0 ? 0 : 62 + named);
    for (const text of named < 0 ? [name, value] : [value]) {
      number(bytes, 0, 7, text.length);
      for (let i = 0; i < text.length; i++) bytes.push(text.charCodeAt(i));
    }
    if (kind !== 0x40) return;
    this.table.unshift([name, value]);
    this.#shrink();
  }

  #shrink(): void {
    const size = () => this.table.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
    while (size() > this.#most) this.table.pop();
  }
}

function number(bytes: number[], kind: number, bits: number, value: number): void {
  const most = 2 ** bits - 1;
  bytes.push(kind | Math.min(value, most));
  if (value < most) return;
  for (value -= most; value > 127; value = Math.floor(value / 128)) bytes.push(128 + value % 128);
  bytes.push(value);
}

Deno.test("decode() keeps the table that the encoder keeps, whatever its size becomes", () => {
  // Sizes are multiples of 32, so that entries often fit exactly.
  const text = fc.tuple(fc.constantFrom(0, 32, 96, 128, 416), fc.constantFrom("a", "b", "ÿ", "\0"))
    .map(([length, letter]) => letter.repeat(length));
  const field = fc.tuple(fc.tuple(text, text), fc.constantFrom<Kind>(0x40, 0x40, 0x00, 0x10));
  const size = fc.oneof(fc.nat({ max: 128 }).map((n) => 32 * n), fc.nat({ max: 4096 }));
  const block = fc.record({
    sizes: fc.oneof(fc.constant([]), fc.array(size, { maxLength: 2 })),
    fields: fc.array(field, { maxLength: 20 }),
  });
  fc.assert(
    fc.property(fc.array(block, { maxLength: 12 }), (blocks) => {
      const encoder = new Encoder();
      const decoder = new HeadDecoder();
      for (const { sizes, fields } of blocks) {
        const bytes: number[] = [];
        for (const most of sizes) encoder.resize(bytes, most);
        for (const [field, kind] of fields) encoder.write(bytes, field, kind);
        assertEquals(decoder.decode(Uint8Array.from(bytes)), fields.map(([field]) => field));
      }
      const entries: number[] = [];
      for (const i of encoder.table.keys()) number(entries, 0x80, 7, 62 + i);
      assertEquals(decoder.decode(Uint8Array.from(entries)), encoder.table);
      const beyond: number[] = [];
      number(beyond, 0x80, 7, 62 + encoder.table.length);
      assertThrows(() => decoder.decode(Uint8Array.from(beyond)), WireError, "index is invalid");
    }),
    { numRuns: 500 },
  );
});
