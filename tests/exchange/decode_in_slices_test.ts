import { assert, assertEquals } from "@std/assert";
import { decodedInSlices } from "../../src/exchange/decode_in_slices.ts";

Deno.test("decodedInSlices() decodes as the decoder does at once, and pauses after each megabyte", () => {
  const all = (text: string) => new TextEncoder().encode(text);
  const cases = [
    new Uint8Array(),
    all("\ufeffabc\ufeff"),
    all("漢字😀é".repeat(400_000)),
    new Uint8Array(3_000_001).fill(0xe2),
    all(`${"a".repeat((1 << 20) - 1)}😀`),
    new Uint8Array([0xf0, 0x9f]),
  ];
  for (const bytes of cases) {
    const work = decodedInSlices(bytes);
    let pauses = 0;
    let step = work.next();
    for (; !step.done; step = work.next()) pauses++;
    assert(step.value === new TextDecoder().decode(bytes));
    assertEquals(pauses, Math.ceil(bytes.length / (1 << 20)));
  }
});
