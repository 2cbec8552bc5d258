/** What of an answer waits to be judged and how long, and how an answer ends of which something waits. */
import { assert, assertEquals } from "@std/assert";
import { collect } from "../../src/exchange/answer.ts";
import type { Part } from "../../src/exchange/part.ts";
import { screenAnswer } from "../../src/pipeline/screening/screen_answer.ts";
import { Ticker } from "../../src/timing/ticker.ts";
import {
  call,
  CARD,
  FINISH,
  type Found,
  guardOf,
  letters,
  MAIL,
  reasonOf,
  screened,
  singly,
  START,
  text,
  textOf,
  whole,
} from "./screened_parts.ts";

Deno.test("screenAnswer() lets the first word and whole words go at once", async () => {
  const { batches } = await screened(singly(...text(["Hello", " there", " my", " friend"])));
  const gone = batches.map((batch) =>
    batch.flatMap((part) => part.type === "text-delta" ? [part.text] : []).join("")
  );
  assertEquals(gone.filter((said) => said !== ""), ["Hello", " there", " my", " friend"]);
});

Deno.test("screenAnswer() lets what no value begins with go with the frame that it came in", async () => {
  const beginnings = [
    "Sure!",
    "Here's",
    "**",
    "## ",
    "```",
    "- ",
    '{"',
    '[{"',
    "नमस्ते",
    "\u0645\u0631\u062d\u0628\u0627",
    "\n\n",
    "> ",
    "Oui,",
  ];
  for (const said of beginnings) {
    const { batches } = await screened(singly(...text([said, " and", " more"])));
    const first = batches.find((batch) => batch.some(({ type }) => type === "text-delta"));
    assertEquals(first?.flatMap((part) => part.type === "text-delta" ? [part.text] : []), [said], said);
  }
  for (const said of ["{}", '{"']) {
    const { batches } = await screened(singly(...call([said, 'a":1}'])));
    const first = batches.find((batch) => batch.some(({ type }) => type === "call-delta"));
    assertEquals(first?.flatMap((part) => part.type === "call-delta" ? [part.text] : []), [said], said);
  }
});

const KEYS: readonly [begin: string, line: string, end: string][] = [
  ["-----BEGIN RSA PRIVATE KEY-----", "MIIEowIBAAKCAQEAx7Jz", "-----END RSA PRIVATE KEY-----"],
  [
    "-----BEGIN OpenVPN Static key V1-----",
    "81c0decb45d4d41b444db2aa946ecde1",
    "-----END OpenVPN Static key V1-----",
  ],
  [
    "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----",
    "SIKH4t7IeiLXxlDxqZn9wPb9NN3Dm1HXwBcsTLFpeN+NLN3l",
    "---- END SSH2 ENCRYPTED PRIVATE KEY ----",
  ],
];

for (const [begin, line, end] of KEYS) {
  Deno.test(`screenAnswer() goes on masking a value that is longer than it waits for: ${begin}`, async () => {
    const said = `key:\n${begin}\n${`${line}\n`.repeat(80)}${end}\nthat was it`;
    for (const step of [1, 7, 64, 300, 5000]) {
      const pieces = said.match(new RegExp(`[^]{1,${step}}`, "g"))!;
      const outcome = await screened(singly(...text(pieces)));
      assertEquals(textOf(outcome), "key:\n<PRIVATE_KEY_1>\nthat was it", `${step}`);
    }
  });
}

Deno.test("screenAnswer() lets go what waits when nothing follows, on its clock", async () => {
  let now = 0;
  const ticker = new Ticker({ now: () => now });
  const found: Found[] = [];
  let more!: () => void;
  const gate = new Promise<void>((resolve) => more = resolve);
  async function* source(): AsyncGenerator<readonly Part[]> {
    yield [START, { type: "text-start", block: 0, choice: 0 }, {
      type: "text-delta",
      block: 0,
      text: "pay 4539 5787",
    }];
    await gate;
    yield [{ type: "text-delta", block: 0, text: " 6362 1486 ok" }, { type: "text-end", block: 0 }, FINISH];
  }
  const out = screenAnswer(source(), guardOf({ ticker }, found));
  const said = (batch: readonly Part[]) => batch.map((part) => "text" in part ? part.text : "").join("");
  assertEquals(said((await out.next()).value!), "pay ");
  const late = out.next();
  await Promise.resolve();
  now = 300;
  ticker.tick();
  assertEquals(said((await late).value!), "4539 5787");
  more();
  assertEquals(said((await out.next()).value!), "<CREDIT_CARD_1> ok");
  assertEquals((await out.next()).done, true);
  ticker.close();
  assertEquals(found.map(({ type }) => type), ["CREDIT_CARD"]);
});

async function* dying(): AsyncGenerator<readonly Part[]> {
  yield [START, { type: "text-start", block: 0, choice: 0 }, {
    type: "text-delta",
    block: 0,
    text: `Mail ${MAIL}`,
  }];
  await Promise.resolve();
  throw new Error("gone");
}

Deno.test("screenAnswer() ends held text well when the provider dies, and says so", async () => {
  for (const [mode, want] of [["mask", "Mail <EMAIL_ADDRESS_1>"], ["block", "Mail "]] as const) {
    const out: Part[] = [];
    let message = "";
    try {
      for await (const batch of screenAnswer(dying(), guardOf({ answers: mode }, []))) out.push(...batch);
    } catch (thrown) {
      message = (thrown as Error).message;
    }
    assertEquals(message, "gone");
    assertEquals(out.map((part) => part.type === "text-delta" ? part.text : "").join(""), want);
  }
});

Deno.test("screenAnswer() bills a refused answer whose provider reports nothing, or dies", async () => {
  async function* source(): AsyncGenerator<readonly Part[]> {
    yield [START, ...text([`${CARD} and on`])];
    await Promise.resolve();
    throw new Error("gone");
  }
  const out: Part[] = [];
  for await (const batch of screenAnswer(source(), guardOf({ answers: "block" }, []))) out.push(...batch);
  const { usage, choices } = collect(out);
  assertEquals(choices[0].reason, "content-filter");
  assertEquals([usage?.input, usage?.output], [10, 7]);
});

Deno.test("screenAnswer() only reports findings in mode alert, and holds nothing back", async () => {
  const said = `Mail ${MAIL} and ${CARD}`;
  const outcome = await screened(singly(...text(letters(said))), { answers: "alert" });
  assertEquals(textOf(outcome), said);
  assertEquals(outcome.batches.length, said.length + 5);
  assertEquals(outcome.found.map(({ type }) => type), ["EMAIL_ADDRESS", "CREDIT_CARD"]);
});

Deno.test("screenAnswer() judges a long text of one part as if it had been streamed, and pauses meanwhile", async () => {
  const filler = "Not a word of this is a secret of anybody. ".repeat(4000);
  const said = `${filler}${MAIL} ${filler}👩 ${CARD}`;
  let pauses = 0;
  const found: Found[] = [];
  const guard = { ...guardOf({}, found), pause: () => (pauses++, Promise.resolve()) };
  async function* source() {
    yield whole(...text([said]));
  }
  const parts: Part[] = [];
  for await (const batch of screenAnswer(source(), guard)) parts.push(...batch);
  assertEquals(
    textOf({ parts, batches: [], found }),
    said.replace(MAIL, "<EMAIL_ADDRESS_1>").replace(CARD, "<CREDIT_CARD_1>"),
  );
  assertEquals(found.map(({ type, start }) => [type, start]), [
    ["EMAIL_ADDRESS", said.indexOf(MAIL)],
    ["CREDIT_CARD", said.indexOf(CARD)],
  ]);
  assert(pauses > 15, `${pauses} pauses`);
});

Deno.test("screenAnswer() ends an answer that has more findings than are worth masking, and reports no more", async () => {
  const mails = Array.from({ length: 60_000 }, (_, i) => `u${i}@corp.example `).join("");
  const masked = await screened([whole(...text([mails]))]);
  assertEquals([reasonOf(masked), masked.found.length], ["content-filter", 50_000]);
  const alerted = await screened([whole(...text([mails]))], { answers: "alert" });
  assertEquals([reasonOf(alerted), alerted.found.length, textOf(alerted)], ["stop", 50_000, mails]);
});

Deno.test("screenAnswer() judges each piece of a long answer a few times, in every mode", async () => {
  for (const answers of ["alert", "mask", "block"] as const) {
    const guard = guardOf({ answers }, []);
    const judge = guard.rules.judge.bind(guard.rules);
    let units = 0;
    guard.rules.judge = (text, from) => {
      units += text.length;
      return judge(text, from);
    };
    const piece = "Not a word of all this. ".repeat(40);
    const parts = singly(...text(Array<string>(400).fill(piece)));
    const source = async function* () {
      for (const batch of parts) yield await Promise.resolve(batch);
    };
    for await (const _ of screenAnswer(source(), guard));
    assert(units < 10 * 400 * piece.length, `${answers}: ${units} units of ${400 * piece.length}`);
  }
});
