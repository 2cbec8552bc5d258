import { assertEquals, assertThrows } from "@std/assert";
import { asBool, asInt, asMoney, asText, optional, type Row } from "../../src/store/rows.ts";

Deno.test("readers of columns give the type they name", () => {
  const row: Row = { name: "a", count: 7n, cost: 9_007_199_254_740_993n, live: 1n, none: null };
  assertEquals(
    [asText(row.name), asInt(row.count), asMoney(row.cost), asBool(row.live), optional(row.none, asText)],
    ["a", 7, 9_007_199_254_740_993n, true, null],
  );
});

Deno.test("readers of columns refuse one that was not selected, and do not quote what they found", () => {
  const row: Row = { name: "a secret" };
  for (const read of [asText, asInt, asMoney, asBool]) {
    assertThrows(() => read(row.nam), TypeError, "undefined");
  }
  assertThrows(() => optional(row.nam, asText), TypeError, "undefined");
  const error = assertThrows(() => asInt(row.name), TypeError);
  assertEquals(error.message.includes("secret"), false);
});
