import { assertEquals } from "@std/assert";
import { echoesOf } from "../../src/dlp/echoes.ts";
import { merge } from "../../src/dlp/merge.ts";
import { readRequestOptions } from "../../src/dlp/request.ts";
import { type Found, SliceClock } from "../../src/dlp/scan_leaves.ts";
import { screenBody, type Verdict } from "../../src/dlp/screen_body.ts";
import { readLeaves } from "../../src/formats/leaves/mod.ts";
import { LEAVES } from "../../src/formats/mod.ts";
import { seeded } from "../support/resuming.ts";

// deno-lint-ignore no-explicit-any
function screened(body: any, requestOptions: Record<string, unknown> = {}): Verdict {
  return screenedAs("chat_completions", body, requestOptions);
}

// deno-lint-ignore no-explicit-any
function screenedAs(format: keyof typeof LEAVES, body: any, options: Record<string, unknown>): Verdict {
  const asked = readRequestOptions({ mode: "mask", ...options });
  const check = merge(null, asked, { unscannable: "pass", restore: false });
  const work = screenBody(readLeaves(body, LEAVES[format]), check, { budgetMs: 60_000 });
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}

/** Each value with the words that name it: without them it is not found. */
const NAMED: readonly [string, string, string][] = [
  ["PASSWORD", "the wifi password is ", "Gw07#pLmv38"],
  ["API_KEY", "api_key: ", "q7Zk29xLm4Vb81RtYp03"],
  ["US_BANK_NUMBER", "account number: ", "9456839487"],
  ["US_SSN", "SSN: ", "078051121"],
  ["DATE_OF_BIRTH", "born on ", "12/03/1981"],
  ["PERSON", "my name is ", "Ada Brandt"],
];

for (const [type, name, value] of NAMED) {
  Deno.test(`a named value is masked everywhere in the request: ${type}`, () => {
    const args = JSON.stringify({
      note: `say "${value}"`,
      list: [value],
      text: JSON.stringify({ again: value }),
    });
    const body = {
      messages: [
        { role: "system", content: `Known: ${value}, and no more.` },
        { role: "user", content: `For you, ${name}${value}` },
        {
          role: "assistant",
          content: `${value}?`,
          tool_calls: [{ function: { name: "f", arguments: args } }],
        },
        { role: "tool", content: [{ type: "text", text: `found (${value})` }] },
        { role: "user", content: `not x${value}x` },
      ],
    };
    const verdict = screened(body, { entity_types: [type] });
    assertEquals(verdict.action, "mask");
    assertEquals(verdict.names!.originals, new Map([[`<${type}_1>`, value]]));
    const sent = JSON.stringify(body).replaceAll(`x${value}x`, "");
    assertEquals(sent.includes(value), false, sent);
    assertEquals(sent.split(`<${type}_1>`).length - 1, 7, sent);
    assertEquals(
      JSON.parse(JSON.parse(body.messages[2].tool_calls![0].function.arguments).text),
      { again: `<${type}_1>` },
    );
    assertEquals(body.messages[4].content, `not x${value}x`);
  });
}

Deno.test("values that begin alike are masked everywhere, each by its own placeholder", () => {
  const [short, long] = ["q7Zk29xLm4Vb81RtYp03", "q7Zk29xLm4Vb81RtYp03-nWe5"];
  const body = {
    messages: [
      { role: "user", content: `api_key: ${short}\nsecret: ${long}` },
      { role: "user", content: `${long},${short}; ${short}x (${long})` },
    ],
  };
  assertEquals(screened(body).action, "mask");
  const [one, other] = body.messages[0].content.match(/<[A-Z_0-9]+>/g)!;
  assertEquals(body.messages[1].content, `${other},${one}; ${short}x (${other})`);
});

Deno.test("a short value, and one that is a part of a number, is masked only where it is found", () => {
  const body = {
    messages: [
      { role: "user", content: "CVV: 737, account number: 9456839" },
      { role: "user", content: "flight 737, 9456839.25 m, 12.9456839" },
    ],
  };
  assertEquals(screened(body).action, "mask");
  assertEquals(body.messages[0].content, "CVV: <CVV_1>, account number: <US_BANK_NUMBER_1>");
  assertEquals(body.messages[1].content, "flight 737, 9456839.25 m, 12.9456839");
});

Deno.test("messages that are not scanned keep what is masked elsewhere", () => {
  const body = {
    messages: [
      { role: "user", content: "account number: 9456839487" },
      { role: "user", name: "tool_context", content: "of 9456839487" },
    ],
  };
  assertEquals(screened(body, { injected_context_names: ["tool_context"] }).action, "mask");
  assertEquals(body.messages[1].content, "of 9456839487");
});

Deno.test("a value that is masked in one place and cannot be masked in another one refuses the request", () => {
  const call = { function: { name: "f", arguments: '{"n":9456839487}' } };
  const body = {
    messages: [
      { role: "user", content: "account number: 9456839487" },
      { role: "assistant", tool_calls: [call] },
    ],
  };
  assertEquals(screened(body).action, "block");
});

/** A conversation whose assistant says a text and calls a tool with arguments, in each format. */
const CONVERSATIONS: Record<keyof typeof LEAVES, (asked: string, said: string, args: string) => unknown> = {
  chat_completions: (asked, content, args) => ({
    messages: [
      { role: "user", content: asked },
      { role: "assistant", content, tool_calls: [{ function: { name: "f", arguments: args } }] },
    ],
  }),
  messages: (asked, text, args) => ({
    messages: [
      { role: "user", content: asked },
      {
        role: "assistant",
        content: [{ type: "text", text }, { type: "tool_use", id: "t", name: "f", input: JSON.parse(args) }],
      },
    ],
  }),
  responses: (asked, text, args) => ({
    input: [
      { role: "user", content: asked },
      { type: "message", role: "assistant", content: [{ type: "output_text", text }] },
      { type: "function_call", name: "f", call_id: "c", arguments: args },
    ],
  }),
};

for (const [format, conversation] of Object.entries(CONVERSATIONS)) {
  for (const [name, value] of [["CVV: ", "737"], ["password: ", "aB1#x"], ["my name is ", "Ada"]]) {
    Deno.test(`${format}: a short value that an answer was given back leaves with no later turn: ${value}`, () => {
      const args = JSON.stringify({ code: value, n: 737, text: JSON.stringify({ again: value }) });
      const body = conversation(`My ${name}${value}`, `You said ${value}, not ${value}5.`, args);
      const requestOptions = { restore: true, entity_types: ["CVV", "PASSWORD", "PERSON"] };
      const verdict = screenedAs(format as keyof typeof LEAVES, body, requestOptions);
      assertEquals([verdict.action, verdict.count], ["mask", 1]);
      const sent = JSON.stringify(body).replaceAll(`${value}5`, "").replace(/n\\?":737/, "");
      assertEquals(sent.includes(value), false, sent);
    });
  }
}

Deno.test("a value with quotes is masked in strings of JSON within JSON as well", () => {
  const value = 'Gw07"pL\\m38';
  const written = JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ c: value }) }), d: value });
  const body = {
    messages: [
      { role: "user", content: JSON.stringify({ password: value }) },
      { role: "assistant", content: null, tool_calls: [{ function: { name: "f", arguments: written } }] },
      { role: "tool", content: JSON.stringify({ found: value }) },
    ],
  };
  assertEquals(screened(body, { entity_types: ["PASSWORD"] }).action, "mask");
  assertEquals(JSON.stringify(body).includes("pL"), false, JSON.stringify(body));
});

// Not timed: with a look at the whole text for each number it takes minutes, and its budget is spent by then.
Deno.test("a short value that stands often among the numbers of a call's arguments is looked for in one pass", () => {
  const args = `{"said":"${"of ".repeat(150_000)}","codes":[${"737 ,".repeat(150_000)}737],"last":"737"}`;
  const call = { function: { name: "f", arguments: args } };
  const body = {
    messages: [{ role: "user", content: "CVV: 737" }, { role: "assistant", tool_calls: [call] }],
  };
  const verdict = screenedAs("chat_completions", body, { restore: true, entity_types: ["CVV"] });
  assertEquals(verdict.action, "mask");
  assertEquals(call.function.arguments, args.replace(/737"}$/, '<CVV_1>"}'));
});

/** The occurrences of values in a text. */
function echoes(values: readonly string[], text: string): string[] {
  const { leaves: [said, leaf] } = readLeaves(
    { messages: [{ role: "user", content: "x" }, { role: "user", content: text }] },
    LEAVES.chat_completions,
  );
  const found = values.map((value) =>
    ({ leaf: said, start: 0, end: 1, value, rest: [] }) as unknown as Found
  );
  const work = echoesOf([leaf], found, new SliceClock(Infinity), () => false);
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value.map(({ start, end }) => `${start}-${end}`);
}

Deno.test("all occurrences of all values are found, however alike the values are", () => {
  const drawn = seeded(11);
  for (let round = 0; round < 300; round++) {
    const piece = (most: number) =>
      Array.from({ length: 1 + Math.floor(drawn() * most) }, () => "aab-+. "[Math.floor(drawn() * 7)]).join(
        "",
      );
    const values = [...new Set(Array.from({ length: 12 }, () => `b-a${piece(6)}`))].filter((one) =>
      one.length >= 6 && one === one.trim()
    );
    const text = Array.from({ length: 60 }, () => drawn() < 0.5 ? values[0] ?? "b" : `b-a${piece(5)}`).join(
      " ",
    );
    const expected: string[] = [];
    const isWord = (unit: string | undefined) => unit === "a" || unit === "b";
    for (let at = 0; at < text.length; at++) {
      for (const value of [...values].sort()) {
        const end = at + value.length;
        if (!text.startsWith(value, at) || isWord(text[at]) && isWord(text[at - 1])) continue;
        if (isWord(text[end - 1]) && isWord(text[end])) continue;
        expected.push(`${at}-${end}`);
      }
    }
    assertEquals(echoes(values, text), expected, JSON.stringify({ values, text }));
  }
});

// Looking up each length by itself takes minutes.
Deno.test("a thousand values that begin alike are searched for in one pass over text that begins like them", () => {
  const keys = Array.from(
    { length: 1000 },
    (_, i) => `-----BEGIN PRIVATE KEY-----${"A".repeat(200 + i)}-----`,
  );
  assertEquals(echoes(keys, `${"-".repeat(200_000)} ${keys[500]}`), [`200001-${200_001 + keys[500].length}`]);
  const passwords = Array.from({ length: 1000 }, (_, i) => "!".repeat(60) + String(i).padStart(4, "0"));
  assertEquals(echoes(passwords, `${"!".repeat(200_000)}0007`), ["199940-200004"]);
});
