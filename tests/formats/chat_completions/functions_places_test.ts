/** Mistakes in the older `functions` are named where the caller wrote them. */
import { assertEquals, assertThrows } from "@std/assert";
import { Failure } from "../../../src/exchange/failure.ts";
import { decodeFunctions } from "../../../src/formats/chat_completions/decode_tools.ts";
import { refuse } from "../../../src/formats/validation.ts";
import type { Mistake } from "../../../src/exchange/failure.ts";

Deno.test("chat_completions: a mistake in functions has the place that the caller wrote", () => {
  for (const fields of [{ name: 5 }, { parameters: "x" }, { description: 5 }, { strict: "yes" }]) {
    const mistakes: Mistake[] = [];
    decodeFunctions([{ name: "f" }, { name: "g", ...fields }], mistakes);
    const [field] = Object.keys(fields);
    assertEquals(mistakes.map(({ loc }) => loc), [["functions", 1, field]]);
    assertEquals(assertThrows(() => refuse(mistakes), Failure).param, `functions[1].${field}`);
  }
});
