/**
 * Data that a pattern for it reads from many places on. None of this is timed: a pattern that reads the same characters from each
 * of them takes hours here.
 */
import { assertEquals } from "@std/assert";
import { textOf } from "../../src/documents/data_text.ts";

Deno.test("textOf() of megabytes of what begins encoded text comes to an end", () => {
  for (const unit of ["+", "+abc/", "/+", "a+", "+a-+"]) {
    const text = unit.repeat(2_000_000 / unit.length);
    assertEquals(textOf(btoa(text), 0, "text/plain")?.text.length, text.length, unit);
  }
});

Deno.test("textOf() finds UTF-7 wherever it begins", () => {
  const u7 = (text: string) => {
    const bytes = new Uint8Array(text.length * 2);
    for (let i = 0; i < text.length; i++) new DataView(bytes.buffer).setUint16(2 * i, text.charCodeAt(i));
    return `+${btoa(String.fromCharCode(...bytes)).replace(/=+$/, "")}-`;
  };
  for (const before of ["", "a", "a/", "2/3 ", "\n", "a+-b"]) {
    assertEquals(textOf(btoa(`${before}${u7("ssn 536")}!`), 0, "text/plain"), {
      text: `${before.replace("+-", "+")}ssn 536!`,
      foreign: true,
    });
  }
  assertEquals(textOf(btoa("1+1-2, a+bc-d"), 0, "text/plain")?.foreign, false);
});
