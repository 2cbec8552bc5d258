import { assert, assertEquals } from "@std/assert";
import { parseExact } from "../../src/exchange/json.ts";
import { ANSWER_BUDGET, countedInSlices } from "../../src/exchange/json_budget.ts";
import { parseInSlices } from "../../src/exchange/parse_in_slices.ts";
import { atOnce } from "../../src/timing/slices.ts";

function sliced(text: string): { value: unknown; slices: number } {
  const work = parseInSlices(text, atOnce(countedInSlices(text, ANSWER_BUDGET)));
  for (let slices = 0;; slices++) {
    const { done, value } = work.next();
    if (done) return { value, slices };
  }
}

function thrownBy(work: () => unknown): unknown {
  try {
    work();
    return null;
  } catch (thrown) {
    return thrown;
  }
}

const placeIn = (thrown: unknown) => /at position (\d+)/.exec((thrown as Error)?.message ?? "")?.[1];

/** Escapes of each length, among letters. */
const ESCAPES = ["\\n", "\\\\", '\\"', "\\u0041", "\\ud83d\\ude00", "\\/", "a", "é", "\\\\u0041", "\\u005c"];
const LONG = 600_000;

function long(seed: number): string {
  let text = "";
  for (let i = seed; text.length < LONG; i = (i * 1103515245 + 12345) % 2147483648) {
    text += ESCAPES[(i >> 8) % ESCAPES.length].repeat(1 + ((i >> 16) % 5 === 0 ? (i >> 20) % 300 : 0));
  }
  return text;
}

Deno.test("parseInSlices() reads long strings of escapes as JSON.parse does, wherever they are cut", () => {
  for (const escape of ESCAPES) {
    for (let shift = 0; shift < 13; shift++) {
      const text = `{"a":"${"x".repeat(shift)}${escape.repeat(Math.ceil(LONG / escape.length))}","b":[1]}`;
      assertEquals(
        JSON.stringify(sliced(text).value) === JSON.stringify(JSON.parse(text)),
        true,
        `${escape} ${shift}`,
      );
    }
  }
  for (let seed = 1; seed < 9; seed++) {
    const text = `["${long(seed)}", {"name":"${long(seed + 9)}" , "${long(seed + 20)}" : "short\\n"}]`;
    const { value, slices } = sliced(text);
    assert(JSON.stringify(value) === JSON.stringify(JSON.parse(text)), `${seed}`);
    assert(slices > 6, `${slices}`);
  }
});

Deno.test("parseInSlices() keeps numbers that would be rounded, and what stands beside them", () => {
  const texts = [
    '{"a":12345678901234567890,"b":[-0.1234567890123456789012,1e999,1E-400,5,-7.5e3],"c":{"d":"12345678901234567890"}}',
    '{"__proto__":12345678901234567890,"constructor":{"__proto__":[1e400]}}',
    "12345678901234567890",
    `["${"12345678901234567890".repeat(20)}","1e999 \\" 12345678901234567890"]`,
    '["9007199254740993",9007199254740993,0.1,100000000000000000000,1]',
  ];
  for (const text of texts) {
    const { value } = sliced(text);
    assertEquals(JSON.stringify(value), JSON.stringify(parseExact(text)));
    assertEquals(Object.getPrototypeOf(value) === Object.prototype, text.startsWith("{"));
  }
});

Deno.test("parseInSlices() handles many long numbers in slices", () => {
  const text = JSON.stringify({ a: 0 }).replace("0", `[${"12345678901234567890,".repeat(50_000)}1]`);
  const { value, slices } = sliced(text);
  assertEquals(JSON.stringify(value), text);
  assert(slices > 8, `${slices}`);
});

Deno.test("parseInSlices() refuses what JSON.parse refuses, at the same place", () => {
  const escapes = "\\n".repeat(LONG / 2);
  const texts = [
    `{"a":"${escapes}" x}`,
    `{"a":"${escapes}`,
    `{"a":"${escapes}\\`,
    `["${escapes}\\x${escapes}"]`,
    `["${escapes}\\u12g4${escapes}"]`,
    `["${escapes}\n${escapes}"]`,
    `["${escapes}",12345678901234567890,]`,
    `[12345678901234567890 "${escapes}"]`,
    "[012345678901234567890]",
    "[12345678901234567890.]",
    "[-]",
    "[1e99999,1e+]",
    "[+12345678901234567890]",
    "",
    '"',
  ];
  for (const text of texts) {
    const own = thrownBy(() => sliced(text));
    const other = thrownBy(() => JSON.parse(text));
    assert(own instanceof SyntaxError, text.slice(0, 40));
    assertEquals(placeIn(own), placeIn(other), text.slice(0, 20) + text.slice(-20));
  }
});

Deno.test("parseInSlices() makes whole characters of halves in long strings, which would be escaped one by one", () => {
  const { value } = sliced(`["${"\\ud83d".repeat(100_000)}","\\ud83d"]`);
  assertEquals(value, ["\ufffd".repeat(100_000), "\ud83d"]);
});

Deno.test("parseInSlices() parses at once where no string is long, and cuts the long ones", () => {
  const short = `["${'\\"'.repeat(2000)}"${`,"${"a\\n".repeat(2000)}"`.repeat(200)}]`;
  assertEquals(JSON.stringify(sliced(short).value) === JSON.stringify(JSON.parse(short)), true);
  assertEquals(sliced(short).slices, 0);
  assert(sliced(`["${long(1)}"]`).slices > 2);
});
