import { assert, assertEquals } from "@std/assert";
import { jsonBytes } from "../../src/exchange/json_bytes.ts";
import { parseExact, wellFormed } from "../../src/exchange/json.ts";

/** The bytes as text, and how often control was handed back. */
function written(value: unknown): { text: string; turns: number } {
  const work = jsonBytes(value);
  for (let turns = 0;; turns++) {
    const { done, value: bytes } = work.next();
    if (done) return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), turns };
  }
}

const message = (content: unknown) => ({ role: "user", content });

const VALUES: Record<string, unknown> = {
  "short ones": [null, 0, "", {}, [], { a: undefined, b: [undefined] }],
  "messages of ASCII": { model: "m", messages: Array(300).fill(message("x".repeat(8000))) },
  "messages beyond Latin-1": { messages: Array(100).fill(message("żółw 😀".repeat(1000))) },
  "one long text beyond Latin-1": message("😀".repeat(500_000)),
  "escapes only": message("\u0001\n".repeat(300_000)),
  "names longer than what they name": { ["\n".repeat(300_000)]: 1 },
  "halves of pairs": [
    message(`${"a".repeat(70_000)}\ud83d`),
    message("\ude00"),
    "\\ud83d",
    "\ud83d".repeat(100_000),
  ],
  "long numbers": parseExact(`[${"12345678901234567890,".repeat(50_000)}1e999]`),
  "many levels": Array.from({ length: 400 }).reduce((inner) => [inner, "y".repeat(500)], [] as unknown),
};

for (const [name, value] of Object.entries(VALUES)) {
  Deno.test(`jsonBytes() are those of the value's JSON: ${name}`, () => {
    assertEquals(written(value).text, wellFormed(JSON.stringify(value)));
  });
}

Deno.test("jsonBytes() hands control back, whatever its value has most of", () => {
  const long = "x".repeat(4 << 20);
  for (
    const value of [long, [long], Array(500).fill(message("x".repeat(8000))), Array(1_000_000).fill([1])]
  ) {
    const { text, turns } = written(value);
    assert(turns >= text.length >> 22, `${turns} turns for ${text.length} characters`);
  }
});
