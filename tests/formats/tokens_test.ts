import { assert, assertEquals } from "@std/assert";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { countAll, tokenCounter } from "../../src/formats/tokens/tokenizer.ts";

const PROSE = "It was the best of times, it was the worst of times; 1859 was a year. ";

Deno.test("tokenCounter() counts ordinary text exactly", async () => {
  const count = await tokenCounter();
  const code = await Deno.readTextFile(new URL("../../src/formats/tokens/tokenizer.ts", import.meta.url));
  for (const text of ["", "a", PROSE, PROSE.repeat(200), code, "漢字とかな交じり文。".repeat(100)]) {
    assertEquals(count(text), countTokens(text), text.slice(0, 40));
    assertEquals(await countAll([text]), countTokens(text), text.slice(0, 40));
  }
});

Deno.test("tokenCounter() counts runs of one sign exactly, as far as the tokenizer itself can", async () => {
  const count = await tokenCounter();
  for (const sign of [" ", "\n", "=", "-", "a", "0", "é", "["]) {
    const text = sign.repeat(2000);
    const off = Math.abs(count(text) - countTokens(text));
    assert(off <= 16, `${JSON.stringify(sign)} is off by ${off}`);
  }
});

Deno.test("tokenCounter() takes names of control tokens for text", async () => {
  const count = await tokenCounter();
  assert(count("<|endoftext|>") > 1);
  assert(count("<|endoftext|>".repeat(1000)) > 1000);
});

Deno.test("countAll() counts the pieces of a long text as the text, and stops when it is enough", async () => {
  const long = PROSE.repeat(5000);
  assertEquals(await countAll([long]), countTokens(long));
  assertEquals(await countAll([PROSE, PROSE]), 2 * countTokens(PROSE));
  const some = await countAll([long, long], { enough: 1000 });
  assert(some > 1000 && some < 40_000, String(some));
});
