import { assert, assertEquals } from "@std/assert";
import { parse, unread } from "../../src/exchange/json.ts";
import {
  ANSWER_BUDGET,
  counted,
  countedInSlices,
  excessOf,
  type JsonBudget,
  LONG_STRING,
  MOST_ENTRIES,
  overfull,
  REQUEST_BUDGET,
  stringEnd,
} from "../../src/exchange/json_budget.ts";
import { atOnce } from "../../src/timing/slices.ts";

const BUDGET: JsonBudget = { depth: 8, values: 3000, names: 1000, nameChars: 20_000, digits: 100 };

function nested(depth: number): string {
  return "[".repeat(depth) + "]".repeat(depth);
}

/** Longer than the texts that are not looked at. */
function padded(text: string): string {
  return `[${text},"${"x".repeat(2000)}"]`;
}

Deno.test("excessOf() counts levels, values, names and their characters", () => {
  const cases: [text: string, what: string | undefined][] = [
    [padded(nested(7)), undefined],
    [padded(nested(8)), "levels of nesting"],
    [`[${"1,".repeat(2990)}1]`, undefined],
    [`[${"1,".repeat(3010)}1]`, "values"],
    [`[${"{},".repeat(1600)}1]`, "values"],
    [`[${"[],".repeat(1600)}1]`, "values"],
    [`{${Array.from({ length: 900 }, (_, i) => `"k${i}":1`)}}`, undefined],
    [`{${Array.from({ length: 1100 }, (_, i) => `"k${i}":1`)}}`, "names"],
    [`{${`"same":1,`.repeat(1100)}"last":1}`, "names"],
    [`{"${"k".repeat(19_000)}":1}`, undefined],
    [`{"${"k".repeat(21_000)}":1}`, "characters in names"],
    [`{"a":"${"v".repeat(1_000_000)}"}`, undefined],
    [`{"a":"${"7".repeat(1_000_000)}"}`, undefined],
    [padded(`${"7".repeat(100)},-${"7".repeat(100)}.${"7".repeat(100)}`), undefined],
    [padded("7".repeat(101)), "digits in a number"],
    [padded(`-0.${"7".repeat(101)}`), "digits in a number"],
    [padded(`1e${"0".repeat(101)}1`), "digits in a number"],
  ];
  for (const [text, what] of cases) assertEquals(excessOf(text, BUDGET)?.what, what, text.slice(0, 40));
});

Deno.test("countedInSlices() counts the same, wherever a slice ends", () => {
  const million = 1 << 20;
  for (const shift of [-3, -2, -1, 0, 1, 2]) {
    const fill = " ".repeat(million + shift - 1);
    const strings = `"${"\\n".repeat(million)}\\"","${'\\"'.repeat(million)}"`;
    const cases: [text: string, what: string | undefined][] = [
      [`[${fill}"a\\"b[[[[[[[[[[",1]`, undefined],
      [`[${fill}[[[[[[[[[1]]]]]]]]]]`, "levels of nesting"],
      [`[${fill}${"7".repeat(101)}]`, "digits in a number"],
      [`[${fill.slice(50)}${"7".repeat(101)}]`, "digits in a number"],
      [`[${fill}${strings},${"1,".repeat(2990)}1]`, undefined],
      [`[${fill}${strings},${"1,".repeat(3010)}1]`, "values"],
      [`{"${"\\n".repeat(million)}${fill}":1}`, "characters in names"],
      [`["${fill}\\"${fill}`, undefined],
    ];
    for (const [text, what] of cases) {
      const { excess: inSlices } = atOnce(countedInSlices(text, BUDGET));
      assertEquals(
        [inSlices?.what, excessOf(text, BUDGET)?.what],
        [what, what],
        `${shift} ${text.slice(-30)}`,
      );
    }
  }
});

Deno.test("counted() and countedInSlices() tell numbers that may be rounded from what only looks like them in strings", () => {
  const digits = "1234567890123456";
  const may = [
    digits,
    `-${digits}`,
    `0.${digits}`,
    `[${digits}]`,
    "1e999",
    "1E-400",
    "2.5e+308",
    "[1,10e100]",
  ];
  const never = [
    "1",
    digits.slice(1),
    `-0.${digits.slice(1)}e99`,
    "1.5e-07",
    "true",
    "false",
    `"${digits}"`,
    `"\\"${digits},1e999"`,
    `{"${digits}":"1e999"}`,
    `["1",1,"e999"]`,
    `"a${digits}","b"`,
  ];
  const million = 1 << 20;
  for (const [numbers, expected] of [[may, true], [never, false]] as const) {
    for (const number of numbers) {
      assertEquals(counted(padded(number), BUDGET)!.mayRound, expected, number);
      // Across the end of a slice.
      for (let before = 0; before < number.length; before++) {
        const text = `[${" ".repeat(million - 1 - before)}${number},1]`;
        assertEquals(atOnce(countedInSlices(text, BUDGET)).mayRound, expected, `${number} ${before}`);
      }
    }
  }
});

Deno.test("excessOf() does not count what stands inside of strings", () => {
  for (
    const inner of ["[{,:".repeat(5000), '\\"[{,:'.repeat(5000), "\\\\".repeat(9000), '\\\\\\"{'.repeat(5000)]
  ) {
    assertEquals(excessOf(`["${inner}",1]`, BUDGET), null, inner.slice(0, 10));
    const name = `{"a":"${inner}",${`"k":1,`.repeat(1100)}"z":1}`;
    assertEquals(excessOf(name, BUDGET)?.what, "names");
  }
});

Deno.test("excessOf() ends at the first thing that is too much", () => {
  // Were the whole text read, this would be looked at for seconds.
  const text = "{},".repeat(10_000_000);
  const seen = excessOf(`[${text}1]`, REQUEST_BUDGET);
  assertEquals(seen, { what: "values", limit: REQUEST_BUDGET.values });
  assertEquals(excessOf('["unended', BUDGET), null);
  assertEquals(excessOf(`["${"x".repeat(5000)}`, BUDGET), null);
});

Deno.test("parse() refuses what an answer must not hold, and unread() says what it was", () => {
  const many = `[${"{},".repeat(ANSWER_BUDGET.values)}1]`;
  assertEquals(parse(many), undefined);
  assertEquals(unread(many), `has more than ${ANSWER_BUDGET.values} values`);
  assertEquals(parse(nested(200_000)), undefined);
  assertEquals(unread("{"), "is not JSON");
  // The log probabilities of 2,000 tokens with 20 alternatives each.
  const one = { token: " word", logprob: -0.25, bytes: [32, 119, 111, 114, 100] };
  const content = Array.from({ length: 2000 }, () => ({ ...one, top_logprobs: Array(20).fill(one) }));
  assert(parse(JSON.stringify({ content })) !== undefined);
});

Deno.test("overfull() names the first list or object with too many entries", () => {
  const list = Array(MOST_ENTRIES + 1).fill(0);
  const fields = Object.fromEntries(list.map((_, i) => [`k${i}`, 1]));
  const own = new Set(["messages"]);
  assertEquals(overfull({ messages: [{ content: list }] }, own), {
    path: ["messages", 0, "content"],
    count: list.length,
  });
  assertEquals(overfull({ a: [], metadata: fields }, own)?.path, ["metadata"]);
  assertEquals(overfull({ messages: list }, own), null);
  assertEquals(overfull({ deep: { messages: list } }, own)?.path, ["deep", "messages"]);
  assertEquals(overfull(list, own)?.path, []);
  assertEquals(overfull({ stop: list.slice(1) }, own), null);
});

Deno.test("a count tells where long strings stand, also where a slice ends in them", () => {
  const million = 1 << 20;
  const filled = (unit: string) => `"${unit.repeat(Math.ceil(LONG_STRING / unit.length))}"`;
  for (
    const string of [
      filled("x"),
      filled('\\"'),
      filled("\\\\"),
      filled(`${"x".repeat(40)}\\"`),
      filled(`\\n\\"`),
    ]
  ) {
    const shorter = `"${"y".repeat(LONG_STRING - 1)}"`;
    for (const before of [0, 1, 2, 3, 16, 17, 5000, string.length]) {
      const head = `[${shorter},${" ".repeat(million - before)}`;
      const text = `${head}${string},${shorter},${string},1]`;
      const second = text.lastIndexOf(string);
      assertEquals(
        atOnce(countedInSlices(text, BUDGET)).longStrings,
        [head.length, head.length + string.length - 1, second, second + string.length - 1],
        `${string.slice(0, 9)} ${before}`,
      );
    }
  }
});

Deno.test("stringEnd() finds the quote that no odd number of backslashes precedes", () => {
  // As a pattern reads it, character by character.
  const naive = (text: string) => /^(?:[^"\\]|\\[^])*"/.exec(text)?.[0].length ?? 0;
  const units = ["x", "x".repeat(15), "x".repeat(40), "\\\\", '\\"', "\\n", "\\\\\\\\"];
  let seed = 1;
  const next = (below: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  for (let i = 0; i < 20_000; i++) {
    let inner = "";
    for (let left = next(9); left > 0; left--) inner += units[next(units.length)];
    assertEquals(stringEnd(`${inner}",1,"`, 0), naive(`${inner}"`) - 1, inner);
    assert(stringEnd(inner, 0) >= inner.length, inner);
  }
});
