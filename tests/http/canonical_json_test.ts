import { assertEquals, assertNotEquals } from "@std/assert";
import { parseExact } from "../../src/exchange/json.ts";
import { canonicalDigest } from "../../src/http/resume/canonical_json.ts";
import { atOnce } from "../../src/timing/slices.ts";

const digest = (value: unknown) => atOnce(canonicalDigest(value));
const turned = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(turned)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).reverse().map(([name, field]) => [name, turned(field)]))
    : value;

const LONG = "x".repeat(300_000);
const large = (last: unknown) => ({
  a: Array.from(
    { length: 5000 },
    (_, i) => ({ name: `value ${i}`, text: "words", last: i === 4999 ? last : 0 }),
  ),
  b: LONG,
  c: { d: LONG + "y", e: [1, null, true] },
});

Deno.test("canonicalDigest() is the same for objects in another order, small and large", () => {
  for (const value of [{ a: 1, b: { c: [1, { d: 2, e: 3 }] } }, large(1), [large(2), large(3)]]) {
    assertEquals(digest(turned(value)), digest(value));
  }
});

Deno.test("canonicalDigest() tells values apart, wherever they differ", () => {
  const values = [
    large(1),
    large(2),
    large("1"),
    { ...large(1), b: LONG + "x" },
    { ...large(1), b: [LONG] },
    { ...large(1), c: 0 },
    [large(1)],
    [LONG, "x"],
    [LONG + "x", ""],
    [LONG + "x"],
    [`${LONG},"x"`],
    parseExact(`[12345678901234567890,"${LONG}"]`),
    parseExact(`[12345678901234567891,"${LONG}"]`),
  ];
  const digests = values.map(digest);
  assertEquals(new Set(digests).size, values.length);
  assertNotEquals(digest({ a: 1, b: 2 }), digest({ a: 2, b: 1 }));
});

Deno.test("canonicalDigest() hands control back while it hashes what is large", () => {
  const work = canonicalDigest(Array.from({ length: 100 }, () => LONG));
  let slices = 1;
  while (!work.next().done) slices++;
  assertEquals(slices > 20, true, `${slices}`);
});
