/** Pieces that many streamed answers share. */
import { assert, assertEquals } from "@std/assert";
import { chunk } from "../../src/transport/response_bytes.ts";
import { shareBytes } from "../../src/transport/shared_bytes.ts";

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

Deno.test("the chunk of a shared piece is made once, with a head or without chunks as of any other piece", () => {
  const piece = shareBytes(new TextEncoder().encode("data: 1\n\n"));
  const first = chunk("", piece, true);
  assertEquals(textOf(first), "9\r\ndata: 1\n\n\r\n");
  assert(chunk("", piece, true) === first);
  assertEquals(textOf(chunk("HEAD\r\n\r\n", piece, true)), "HEAD\r\n\r\n9\r\ndata: 1\n\n\r\n");
  assert(chunk("", piece, false) === piece);
  const own = new TextEncoder().encode("data: 1\n\n");
  assert(chunk("", own, true) !== chunk("", own, true));
});
