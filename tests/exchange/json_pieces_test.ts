import { assert, assertEquals } from "@std/assert";
import { parseExact } from "../../src/exchange/json.ts";
import { jsonPieces } from "../../src/exchange/json_pieces.ts";

const VALUES: unknown[] = [
  null,
  0,
  "",
  'a\n"b" 😀',
  [],
  {},
  [[], {}, [{}]],
  { a: undefined, b: [undefined, 1], c: { d: undefined } },
  { b: 1, a: { d: [1, "x", null, true], c: { 10: 1, 9: 2 } } },
  Array.from({ length: 100 }, (_, i) => ({ [`k${i}`]: i, list: [i, [i]] })),
  { long: `${"\n".repeat(200_000)}${"😀".repeat(100_000)}`, after: "x" },
  { ["n".repeat(2000)]: { a: [] } },
  parseExact(`{"a":12345678901234567890,"b":[1e999,{"c":0.12345678901234567890123}]}`),
];

Deno.test("jsonPieces() together are the value's JSON", () => {
  for (const value of VALUES) assertEquals([...jsonPieces(value)].join(""), JSON.stringify(value));
});

Deno.test("jsonPieces() in order are the same text for the same fields in any order", () => {
  const turned = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(turned)
      : typeof value === "object" && value !== null && Object.getPrototypeOf(value) !== null
      ? Object.fromEntries(Object.entries(value).reverse().map(([name, field]) => [name, turned(field)]))
      : value;
  for (const value of VALUES) {
    const text = [...jsonPieces(value, { sorted: true })].join("");
    assertEquals([...jsonPieces(turned(value), { sorted: true })].join(""), text);
    assertEquals(JSON.parse(text), JSON.parse(JSON.stringify(value)));
  }
});

Deno.test("jsonPieces() hands many small values out in pieces too", () => {
  const pieces = [...jsonPieces(Array.from({ length: 100_000 }, () => [[1]]))];
  assert(pieces.length >= 20, `${pieces.length} pieces`);
});

Deno.test("jsonPieces() writes neighbours of a list together, up to the length of a piece", () => {
  const lists = [
    Array.from({ length: 300 }, (_, i) => ({ role: "user", content: `${i}`.repeat(3000) })),
    Array.from(
      { length: 40 },
      (_, i) => (i % 3 === 0 ? "x".repeat(200_000) : i % 3 === 1 ? undefined : [{ a: [i] }]),
    ),
    Array.from({ length: 40 }, () => [[[[[[[["deep"]]]]]]], "y".repeat(10_000)]),
  ];
  for (const list of lists) {
    const pieces = [...jsonPieces({ before: 1, list, behind: [] })];
    assertEquals(pieces.join(""), JSON.stringify({ before: 1, list, behind: [] }));
    for (const { length } of pieces) assert(length < 1 << 17, `a piece of ${length} characters`);
  }
  const [messages] = lists;
  assert([...jsonPieces(messages)].length < messages.length / 3);
});
