/** Parsed addresses: what they share, and how many are kept. */
import { assert, assertEquals } from "@std/assert";
import { addressOf } from "../../src/outgoing/address.ts";

Deno.test("addressOf() keeps at most 10,000 addresses, and the connections of a server for good", () => {
  const before = addressOf("http://kept.test/0");
  assert(addressOf("http://kept.test/0") === before);
  for (let i = 0; i <= 10_000; i++) addressOf(`http://kept.test/${i}`);
  const after = addressOf("http://kept.test/0");
  assert(after !== before);
  assert(after.pool === before.pool && after.http2 === before.http2 && after.attempts === before.attempts);
  assertEquals([after.host, after.path, after.port], ["kept.test", "/0", 80]);
});

Deno.test("addressOf() keeps no address that is used once", () => {
  assert(addressOf("http://once.test/", true) !== addressOf("http://once.test/", true));
});
