import { assertEquals } from "@std/assert";
import { inColumns } from "../../src/commands/columns.ts";
import { printableLines } from "../../src/exchange/printable.ts";

Deno.test("inColumns() aligns cells, and keeps each on its line", () => {
  assertEquals(inColumns([["name", "n"], ["two\nlines", "1"], ["\x1b[2J", "22"]]), [
    "name            n",
    "two\\u000alines  1",
    "\\u001b[2J       22",
  ]);
});

Deno.test("inColumns() takes more rows than a call may have arguments", () => {
  const rows = Array.from({ length: 300_000 }, (_, i) => [String(i), "x"]);
  assertEquals(inColumns(rows).at(-1), "299999  x");
});

Deno.test("printableLines() keeps lines and tabs, and what JSON means", () => {
  assertEquals(
    printableLines("a\tb\nc\rd\x1be\x9bf\u202eg\u2028h"),
    "a\tb\nc\\u000dd\\u001be\\u009bf\\u202eg\\u2028h",
  );
  const value = { text: "\x00\x1b\x7f\x9b\u202e\u2028\ufeff\n\t\\u001b" };
  assertEquals(JSON.parse(printableLines(JSON.stringify(value, null, 2))), value);
});
