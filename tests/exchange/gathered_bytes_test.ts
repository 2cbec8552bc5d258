import { assert, assertEquals } from "@std/assert";
import { GatheredBytes } from "../../src/exchange/gathered_bytes.ts";

Deno.test("GatheredBytes keeps copies of all parts in order, in a buffer of at most twice their size and not beyond its bound", () => {
  const gathered = new GatheredBytes(1000);
  assertEquals(gathered.bytes, new Uint8Array());
  const part = new Uint8Array(1);
  for (let i = 0; i < 1000; i++) {
    part[0] = i;
    gathered.add(part);
    assertEquals(gathered.length, i + 1);
    assert(gathered.bytes.buffer.byteLength <= Math.min(1000, 2 * gathered.length));
  }
  assertEquals(gathered.bytes, Uint8Array.from({ length: 1000 }, (_, i) => i));
  gathered.add(new Uint8Array([1, 2]));
  assertEquals(gathered.bytes.slice(-3), new Uint8Array([231, 1, 2]));
});
