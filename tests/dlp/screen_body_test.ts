import { assert, assertEquals } from "@std/assert";
import { merge } from "../../src/dlp/merge.ts";
import { readRequestOptions } from "../../src/dlp/request.ts";
import { screenBody, type Verdict } from "../../src/dlp/screen_body.ts";
import { readLeaves } from "../../src/formats/leaves/mod.ts";
import { LEAVES } from "../../src/formats/mod.ts";

const CARD = "4111 1111 1111 1111";
const MAIL = "jane@corp.example";

interface Screening {
  format?: keyof typeof LEAVES;
  budgetMs?: number;
  unscannable?: "pass" | "block";
}

function screened(body: unknown, requestOptions: unknown, options: Screening = {}): Verdict {
  const { format = "chat_completions", budgetMs = 1000, unscannable = "pass" } = options;
  const check = merge(null, readRequestOptions(requestOptions), { unscannable, restore: false });
  const work = screenBody(readLeaves(body, LEAVES[format]), check, { budgetMs });
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}

// deno-lint-ignore no-explicit-any
type Body = any;

function masked(body: Body, requestOptions: Record<string, unknown> = {}, options: Screening = {}): Body {
  const sent = structuredClone(body);
  const verdict = screened(sent, { mode: "mask", ...requestOptions }, options);
  assertEquals(verdict.action, "mask");
  assertEquals(screened(structuredClone(sent), { mode: "block", ...requestOptions }, options).findings, []);
  return sent;
}

function user(content: unknown): Body {
  return { messages: [{ role: "user", content }] };
}

function call(args: unknown): Body {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  return { messages: [{ role: "assistant", tool_calls: [{ function: { name: "f", arguments: text } }] }] };
}

function argumentsOf(body: Body): string {
  return body.messages[0].tool_calls[0].function.arguments;
}

Deno.test("screenBody() numbers placeholders per type by first appearance, one per value over the request", () => {
  const body = {
    messages: [
      { role: "system", content: `a@corp.example, b@corp.example, card ${CARD}` },
      { role: "user", content: "B@corp.example wrote to a@corp.example" },
      { role: "assistant", tool_calls: [{ function: { name: "f", arguments: '{"to":"a@corp.example"}' } }] },
      { role: "tool", content: "card 4111-1111-1111-1111 of c@corp.example" },
    ],
  };
  assertEquals(masked(body).messages, [
    { role: "system", content: "<EMAIL_ADDRESS_1>, <EMAIL_ADDRESS_2>, card <CREDIT_CARD_1>" },
    { role: "user", content: "<EMAIL_ADDRESS_2> wrote to <EMAIL_ADDRESS_1>" },
    { role: "assistant", tool_calls: [{ function: { name: "f", arguments: '{"to":"<EMAIL_ADDRESS_1>"}' } }] },
    { role: "tool", content: "card <CREDIT_CARD_1> of <EMAIL_ADDRESS_3>" },
  ]);
});

Deno.test("screenBody() skips numbers of placeholders that the request writes itself", () => {
  const body = user(`earlier <EMAIL_ADDRESS_1> and <EMAIL_ADDRESS_3>, now ${MAIL} and x@corp.example`);
  assertEquals(
    masked(body).messages[0].content,
    "earlier <EMAIL_ADDRESS_1> and <EMAIL_ADDRESS_3>, now <EMAIL_ADDRESS_2> and <EMAIL_ADDRESS_4>",
  );
});

Deno.test("screenBody() masks stop words and the longest of overlapping findings", () => {
  const requestOptions = { stop_words: [{ value: "corp.example" }, { value: "Falcon", match: "fuzzy" }] };
  assertEquals(
    masked(user(`${MAIL} on falc0n`), requestOptions).messages[0].content,
    "<EMAIL_ADDRESS_1> on <STOP_WORD_1>",
  );
});

Deno.test("screenBody() finds stop words in what is encoded, and reports the encoded run", () => {
  const run = btoa("the plan of project falcon for spring");
  const { findings } = screened(user(`see ${run} now`), {
    mode: "block",
    entity_types: [],
    stop_words: [{ value: "Project Falcon" }],
  });
  assertEquals(findings.map((f) => [f.entity_type, f.start, f.end]), [["STOP_WORD", 4, 4 + run.length]]);
});

Deno.test("screenBody() keeps angle brackets out of the name of a message", () => {
  assertEquals(
    masked({ messages: [{ role: "user", name: MAIL, content: "hi" }] }).messages[0].name,
    "EMAIL_ADDRESS_1",
  );
});

Deno.test("screenBody() keeps arguments JSON: strings, keys, escapes, nested JSON", () => {
  const cases: [unknown, unknown][] = [
    [{ card: CARD, n: 1 }, { card: "<CREDIT_CARD_1>", n: 1 }],
    [{ [CARD]: 1 }, { "<CREDIT_CARD_1>": 1 }],
    [{ a: `"quoted" ${MAIL}\n\\ tail` }, { a: '"quoted" <EMAIL_ADDRESS_1>\n\\ tail' }],
    [{ deep: [{ x: JSON.stringify({ card: CARD }) }] }, { deep: [{ x: '{"card":"<CREDIT_CARD_1>"}' }] }],
  ];
  for (const [given, want] of cases) assertEquals(JSON.parse(argumentsOf(masked(call(given)))), want);
  const escaped = `{"card":"${[...CARD].map((c) => `\\u00${c.charCodeAt(0).toString(16)}`).join("")}"}`;
  assertEquals(argumentsOf(masked(call(escaped))), '{"card":"<CREDIT_CARD_1>"}');
});

Deno.test("screenBody() refuses to mask numbers of JSON, which would change their type", () => {
  for (const args of ['{"card":4111111111111111}', JSON.stringify({ x: '{"card":4111111111111111}' })]) {
    const body = call(args);
    assertEquals(screened(body, { mode: "mask" }).action, "block");
    assertEquals(argumentsOf(body), args);
    assertEquals(screened(call(args), { mode: "alert" }).count, 1);
  }
});

Deno.test("screenBody() masks arguments that are no JSON as text", () => {
  assertEquals(argumentsOf(masked(call(`to "${MAIL}" broken`))), 'to "<EMAIL_ADDRESS_1>" broken');
});

Deno.test("screenBody() masks values and schemas that are sent as objects", () => {
  const body = {
    system: "s",
    messages: [{
      role: "assistant",
      content: [{ type: "tool_use", id: "t", name: "pay", input: { to: [MAIL], "é": 1 } }],
    }],
    tools: [{ name: "pay", input_schema: { type: "object", properties: { to: { enum: [MAIL, "other"] } } } }],
  };
  const got = masked(body, {}, { format: "messages" });
  assertEquals(got.messages[0].content[0].input, { to: ["<EMAIL_ADDRESS_1>"], "é": 1 });
  assertEquals(got.tools[0].input_schema.properties.to.enum, ["<EMAIL_ADDRESS_1>", "other"]);
});

Deno.test("screenBody() finds and masks a value that is split over parts", () => {
  const body = user([
    { type: "text", text: "my card is 4111 11" },
    { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
    { type: "text", text: "11 1111" },
    { type: "text", text: " 1111 ok" },
  ]);
  const { findings } = screened(structuredClone(body), { mode: "alert" });
  assertEquals(findings.map(({ location, start, end }) => [location, start, end]), [["content", 11, 30]]);
  // deno-lint-ignore no-explicit-any
  assertEquals(masked(body).messages[0].content.map((part: any) => part.text), [
    "my card is <CREDIT_CARD_1>",
    undefined,
    "",
    " ok",
  ]);
});

Deno.test("screenBody() finds a number that is cut between two groups of digits", () => {
  const parts = (...texts: string[]) => user(texts.map((text) => ({ type: "text", text })));
  for (const cut of [8, 9, 10, 13, 14]) {
    const body = parts(`pay ${CARD.slice(0, cut)}`, `${CARD.slice(cut)} now`);
    const { findings } = screened(body, { mode: "alert" });
    assertEquals(findings.map((f) => [f.location, f.start, f.end]), [["content", 4, 23]], `cut at ${cut}`);
  }
  const { findings } = screened(parts("pay 4111 1111", "1111 1111 now"), { mode: "alert" });
  assertEquals(findings.map((f) => [f.location, f.start, f.end]), [["content", 4, 22]]);
});

Deno.test("screenBody() masks inside encoded files and encodes them again", () => {
  const file = (file_data: string) => user([{ type: "file", file: { filename: "a.txt", file_data } }]);
  const text = `card ${CARD} ü`;
  const bytes = (text: string) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
  const got = masked(file(`data:text/plain;base64,${bytes(text)}`));
  assertEquals(
    got.messages[0].content[0].file.file_data,
    `data:text/plain;base64,${bytes("card <CREDIT_CARD_1> ü")}`,
  );
  const percent = masked(file(`data:text/csv,${encodeURIComponent(text)}`));
  assertEquals(
    decodeURIComponent(percent.messages[0].content[0].file.file_data),
    "data:text/csv,card <CREDIT_CARD_1> ü",
  );
});

Deno.test("screenBody() never alters signed reasoning or the names of tools", () => {
  const thinking = (signature: string) => ({
    messages: [{ role: "assistant", content: [{ type: "thinking", thinking: `card ${CARD}`, signature }] }],
  });
  for (const mode of ["mask", "block"]) {
    const body = thinking("c2ln");
    const got = screened(body, { mode }, { format: "messages" });
    assertEquals([got.action, got.count, got.blockedInScope], ["block", 1, true]);
    assertEquals(body, thinking("c2ln"));
  }
  assertEquals(screened(thinking("c2ln"), { mode: "alert" }, { format: "messages" }).action, "pass");
  assertEquals(
    masked(thinking(""), {}, { format: "messages" }).messages[0].content[0].thinking,
    "card <CREDIT_CARD_1>",
  );

  const items = (more: object) => ({
    input: [{
      type: "reasoning",
      id: "r",
      summary: [{ type: "summary_text", text: `card ${CARD}` }],
      ...more,
    }],
  });
  const sealed = screened(items({ encrypted_content: "x" }), { mode: "mask" }, { format: "responses" });
  assertEquals(sealed.action, "block");
  assertEquals(
    masked(items({}), {}, { format: "responses" }).input[0].summary[0].text,
    "card <CREDIT_CARD_1>",
  );

  const details = { reasoning_details: [{ type: "reasoning.text", text: `card ${CARD}`, signature: "s" }] };
  assertEquals(screened({ messages: [{ role: "assistant", ...details }] }, { mode: "mask" }).action, "block");

  const tools = [{ type: "function", function: { name: "pay_4111111111111111_now" } }];
  assertEquals(
    screened({ messages: [], tools }, { mode: "mask", stop_words: [{ value: "pay" }] }).action,
    "block",
  );
});

Deno.test("screenBody() counts offsets in the field as sent", () => {
  const spans = (body: unknown, format?: keyof typeof LEAVES) =>
    screened(body, { mode: "alert" }, { format }).findings.map((f) => [f.location, f.start, f.end]);
  assertEquals(spans(user(`😀 card ${CARD}`)), [["content", 8, 27]]);
  const args = `{"a":"\\u00e9\\n","card":"${CARD}"}`;
  assertEquals(spans(call(args)), [[
    "tool_calls[0].function.arguments",
    args.indexOf("4111"),
    args.indexOf("4111") + 19,
  ]]);
  const input = { a: "é\n", card: CARD };
  const at = JSON.stringify(input).indexOf("4111");
  assertEquals(spans({ messages: [{ role: "user", content: [{ type: "tool_use", input }] }] }, "messages"), [
    ["content[0].input", at, at + 19],
  ]);
});

Deno.test("screenBody() reports findings in order, outside of messages first, and never what they hold", () => {
  const body = {
    instructions: `x ${MAIL}`,
    input: [{ role: "user", content: `to b@corp.example card ${CARD}` }, { role: "user", content: MAIL }],
  };
  const { findings } = screened(body, { mode: "block" }, { format: "responses" });
  assertEquals(findings.map((f) => [f.message_index, f.location, f.entity_type, f.category]), [
    [null, "instructions", "EMAIL_ADDRESS", "pii"],
    [0, "input[0].content", "EMAIL_ADDRESS", "pii"],
    [0, "input[0].content", "CREDIT_CARD", "financial"],
    [1, "input[1].content", "EMAIL_ADDRESS", "pii"],
  ]);
  assert(!/4111|corp/.test(JSON.stringify(findings)));
});

Deno.test("screenBody() says what it cannot scan, and refuses it in block mode where that is wanted", () => {
  const image = user([{ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }]);
  const got = screened(image, { mode: "block" });
  assertEquals([got.action, got.count], ["pass", 0]);
  assertEquals(got.unscanned, [{ message_index: 0, location: "content[0].image_url.url" }]);
  assertEquals(screened(image, { mode: "block" }, { unscannable: "block" }).action, "block");
  assertEquals(screened(image, { mode: "block", on_unscannable: "block" }).action, "block");
  assertEquals(screened(image, { mode: "mask", on_unscannable: "block" }).action, "pass");
});

Deno.test("screenBody() fails closed when its budget is spent, unless it only alerts", () => {
  const long = () => user("no findings in this text at all. ".repeat(20_000));
  for (const [mode, action] of [["block", "block"], ["mask", "block"], ["alert", "pass"]]) {
    const got = screened(long(), { mode }, { budgetMs: 0.01 });
    assertEquals([got.action, got.exhausted], [action, true]);
  }
  assertEquals(screened(long(), { mode: "block" }, { budgetMs: 60_000 }).exhausted, false);
});

Deno.test("screenBody() scans values that are nested as deeply as JSON can be", () => {
  const deep = () => JSON.parse("[".repeat(100_000) + JSON.stringify(MAIL) + "]".repeat(100_000));
  assertEquals(screened({ messages: [], metadata: { deep: deep() } }, { mode: "alert" }).count, 1);
  assertEquals(screened({ messages: [], metadata: { deep: deep() } }, { mode: "mask" }).action, "block");
});

Deno.test("screenBody() hands control back while it scans and masks", () => {
  const body = user(Array.from({ length: 300 }, (_, i) => ({
    type: "text",
    text: `part ${i} is for user${i}@corp.example and nobody else in the whole of this long text. `.repeat(
      20,
    ),
  })));
  const check = merge(null, readRequestOptions({ mode: "mask" }), { unscannable: "pass", restore: false });
  const work = screenBody(readLeaves(body, LEAVES.chat_completions), check, { budgetMs: 60_000 });
  let slices = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) slices++;
  assertEquals([step.value.action, step.value.count], ["mask", 6000]);
  assert(slices > 10, `${slices} slices`);
});

Deno.test("screenBody() finds the same in a text that it has seen before", () => {
  const clean = "nothing to be seen in this sentence, which is long enough to be remembered";
  for (let round = 0; round < 3; round++) {
    assertEquals(screened(user(clean), { mode: "block" }).count, 0);
    assertEquals(screened(user(`${clean} ${MAIL}`), { mode: "block" }).count, 1);
    // Clean for one set of types is not clean for another.
    assertEquals(screened(user(`${clean} at https://x.example/`), { mode: "block" }).count, 0);
    assertEquals(
      screened(user(`${clean} at https://x.example/`), { mode: "block", entity_types: ["URL"] }).count,
      1,
    );
  }
});

Deno.test("screenBody() masks all of findings that overlap, under the name of the longest", () => {
  const words = (...values: string[]) => ({
    entity_types: ["EMAIL_ADDRESS"],
    stop_words: values.map((value) => ({ value })),
  });
  // A chain: the first ends inside the second.
  assertEquals(
    masked(user("the blue moon harbour plan"), words("blue moon", "moon harbour plan")).messages[0].content,
    "the <STOP_WORD_1>",
  );
  // One inside another that goes on behind it.
  assertEquals(
    masked(user("see blue moon harbour now"), words("moon", "blue moon harbour")).messages[0].content,
    "see <STOP_WORD_1> now",
  );
  // The longer of the two begins later.
  assertEquals(
    masked(user("ask tom jane@corp.example"), words("tom jane")).messages[0].content,
    "ask <EMAIL_ADDRESS_1>",
  );
  // Beside each other they stay two.
  assertEquals(
    masked(user("月光港口"), words("月光", "港口")).messages[0].content,
    "<STOP_WORD_1><STOP_WORD_2>",
  );
});

Deno.test("screenBody() keeps, for a run that grew by an overlap, all of it as the original", () => {
  const sent = user("the blue moon harbour plan");
  const verdict = screened(sent, {
    mode: "mask",
    stop_words: [{ value: "blue moon" }, { value: "moon harbour plan" }],
  });
  assertEquals([...verdict.names!.originals.values()], ["blue moon harbour plan"]);
});

Deno.test("screenBody() masks a value whole where its end and the next line could be another", () => {
  const got = masked(user(`{"a":"${CARD}.\\\\n${MAIL}"}`));
  assertEquals(got.messages[0].content, '{"a":"<CREDIT_CARD_1>.\\\\n<EMAIL_ADDRESS_1>"}');
});

Deno.test("screenBody() takes no word of the next part or the one before into a value that ends or begins a part", () => {
  const token = "ghp_qMOVIOcpebh7DL7zOlcpYdPNEL4hgv4nA9sK";
  const parts = (...texts: string[]) => user(texts.map((text) => ({ type: "text", text })));
  for (
    const [before, value, behind, placeholder] of [
      ["my mail is ", MAIL, "Please write a reply", "<EMAIL_ADDRESS_1>"],
      ["token ", token, "Thanks", "<GITHUB_TOKEN_1>"],
      ["call ", "+49 30 901820", "12 items", "<PHONE_NUMBER_1>"],
    ]
  ) {
    assertEquals(masked(parts(before + value, behind)), parts(before + placeholder, behind));
    assertEquals(masked(parts("Hello", value + " ok")), parts("Hello", placeholder + " ok"));
  }
  // What is torn off a token is as strange as the token.
  const torn = parts(`see ${token.slice(0, 30)}`, token.slice(30));
  assertEquals(masked(torn), parts("see <GITHUB_TOKEN_1>", ""));
});

Deno.test("screenBody() masks nothing that only a placeholder beside it names", () => {
  for (
    const [text, want] of [
      ["order 536-90-4399 123456789", "order <US_SSN_1> 123456789"],
      [`${MAIL} 5551234567`, "<EMAIL_ADDRESS_1> 5551234567"],
      [
        "ghp_nECfvPTyfTgWVhiHG3AqUK06ynaynipyef8n 9c4f529c85bb9bbe727eba42d6085861",
        "<GITHUB_TOKEN_1> 9c4f529c85bb9bbe727eba42d6085861",
      ],
    ]
  ) {
    const body = user(text);
    assertEquals(screened(body, { mode: "mask" }).action, "mask");
    assertEquals(body, user(want));
  }
});
