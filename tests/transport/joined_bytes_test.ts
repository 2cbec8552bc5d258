import { assertEquals } from "@std/assert";
import { headBytes, JoinedBytes } from "../../src/transport/text_bytes.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });
const BEFORE = encoder.encode('é{"text":');
const BEHIND = encoder.encode("}\n\n");

function written(joined: JoinedBytes, texts: readonly string[]): Uint8Array {
  for (const text of texts) joined.addString(BEFORE, text, BEHIND);
  return joined.take();
}

const expected = (texts: readonly string[]) =>
  texts.map((text) => `é{"text":${JSON.stringify(text)}}\n\n`).join("");

Deno.test("JoinedBytes writes every text as JSON.stringify does", () => {
  const joined = new JoinedBytes();
  const characters = Array.from({ length: 0x250 }, (_, code) => String.fromCharCode(code));
  for (
    const text of [
      ...characters,
      "",
      'a "b" \\ c',
      "мир",
      "😀",
      "\ud800",
      "x\udc00y",
      "\u2028",
      "\0".repeat(500),
    ]
  ) {
    assertEquals(decoder.decode(written(joined, [text])), expected([text]));
  }
});

Deno.test("JoinedBytes gives bytes that nothing writes to again, however many come together", () => {
  const joined = new JoinedBytes();
  const taken: { bytes: Uint8Array; text: string }[] = [];
  for (let i = 0; i < 400; i++) {
    const texts = Array.from({ length: 1 + i % 40 }, (_, n) => `${i} ${n} `.repeat(1 + (i * 7 + n) % 90));
    taken.push({ bytes: written(joined, texts), text: expected(texts) });
    const head = `head ${i}`.repeat(i % 50);
    taken.push({ bytes: headBytes(head), text: head });
  }
  const many = Array.from({ length: 1000 }, (_, n) => `${n}`.repeat(200));
  taken.push({ bytes: written(joined, many), text: expected(many) });
  for (const { bytes, text } of taken) assertEquals(decoder.decode(bytes), text);
});
