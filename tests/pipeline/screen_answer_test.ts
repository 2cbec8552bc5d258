import { assert, assertEquals } from "@std/assert";
import { DEFAULT_TYPES } from "../../src/dlp/entities.ts";
import { collect } from "../../src/exchange/answer.ts";
import type { Part, TokenLogprob } from "../../src/exchange/part.ts";
import type { Usage } from "../../src/exchange/usage.ts";
import { screenAnswer } from "../../src/pipeline/screen_answer.ts";
import { Ticker } from "../../src/timing/ticker.ts";

import {
  argumentsOf,
  call,
  CALLER,
  CARD,
  cuts,
  FINISH,
  type Found,
  guardOf,
  letters,
  MAIL,
  type Options,
  type Outcome,
  OWN,
  reasonOf,
  screened,
  SECRETS,
  singly,
  START,
  text,
  textOf,
  USAGE,
  whole,
} from "./screened_parts.ts";

const VALUES = {
  CREDIT_CARD: CARD,
  EMAIL_ADDRESS: MAIL,
  IBAN_CODE: "DE89 3704 0044 0532 0130 00",
  PHONE_NUMBER: "+49 30 901820",
  GITHUB_TOKEN: "ghp_1B4a7Kd93kfLs82jfHwq01mZxPq3bV4tYu6R",
  US_SSN: "536-90-4399",
};

for (const [type, value] of Object.entries(VALUES)) {
  Deno.test(`screenAnswer() masks a ${type} cut anywhere in a text`, async () => {
    const said = `My ${type === "US_SSN" ? "ssn" : "value"}: ${value} is it, isn't it.`;
    const want = said.replace(value, `<${type}_1>`);
    for (const pieces of [...cuts(said), letters(said)]) {
      const outcome = await screened(singly(...text(pieces)));
      assertEquals(textOf(outcome), want, JSON.stringify(pieces));
      assertEquals(outcome.found, [{
        type,
        location: "answer.text",
        start: said.indexOf(value),
        end: said.indexOf(value) + value.length,
      }]);
    }
    assertEquals(textOf(await screened([whole(...text([said]))])), want);
  });

  Deno.test(`screenAnswer() masks a ${type} cut anywhere in arguments, which stay JSON`, async () => {
    const said = JSON.stringify({
      to: "bob",
      [type === "US_SSN" ? "ssn" : "note"]: `line:\n${value}\n"end" \\`,
      n: [1, null],
    });
    for (const pieces of [...cuts(said), letters(said)]) {
      const [args] = argumentsOf(await screened(singly(...call(pieces))));
      assert(!args.includes(value), args);
      const { ssn, note, ...rest } = JSON.parse(args);
      assertEquals(ssn ?? note, `line:\n<${type}_1>\n"end" \\`, JSON.stringify(pieces));
      assertEquals(rest, { to: "bob", n: [1, null] });
    }
  });

  Deno.test(`screenAnswer() ends a refused answer without any of a ${type}`, async () => {
    const said = `The ${type === "US_SSN" ? "ssn" : "value"} is ${value} and more.`;
    for (const pieces of [...cuts(said), letters(said)]) {
      const outcome = await screened(singly(...text(pieces)), { answers: "block" });
      assertEquals(reasonOf(outcome), "content-filter");
      assert(said.slice(0, said.indexOf(value)).startsWith(textOf(outcome)), textOf(outcome));
      assertEquals(outcome.parts.filter((part) => part.type === "finish").length, 1);
      assertEquals(collect(outcome.parts).usage, (USAGE as { usage: Usage }).usage);
      assertEquals(
        outcome.parts.filter((part) => part.type === "text-end").length,
        outcome.parts.filter((part) => part.type === "text-start").length,
      );
    }
  });
}

Deno.test("screenAnswer() masks a number of JSON by a string, and keys", async () => {
  const said = '{"card":4539578763621486,"4539578763621486":[4539578763621486,true]}';
  for (const pieces of [...cuts(said), letters(said)]) {
    const [args] = argumentsOf(await screened(singly(...call(pieces))));
    assertEquals(JSON.parse(args), {
      card: "<CREDIT_CARD_1>",
      "<CREDIT_CARD_1>": ["<CREDIT_CARD_1>", true],
    }, JSON.stringify(pieces));
  }
});

Deno.test("screenAnswer() finds what escapes hide in arguments, cut within an escape", async () => {
  const said = String.raw`{"a":"\u0034\u0035\u00339 5787 6362 1486","b":"\n4539578763621486\t"}`;
  for (const pieces of cuts(said)) {
    const [args] = argumentsOf(await screened(singly(...call(pieces))));
    assertEquals(
      JSON.parse(args),
      { a: "<CREDIT_CARD_1>", b: "\n<CREDIT_CARD_1>\t" },
      JSON.stringify(pieces),
    );
  }
});

Deno.test("screenAnswer() joins text blocks, and leaves clean text as it is", async () => {
  for (let at = 1; at < CARD.length; at++) {
    const outcome = await screened(singly(
      ...text([`Card ${CARD.slice(0, at)}`], 0),
      ...text([`${CARD.slice(at)} now`], 1),
    ));
    assertEquals(textOf(outcome), "Card <CREDIT_CARD_1> now");
  }
  const clean = 'Hello world, 3 apples cost 4.50 euros; e.g. in `code` "x = y" — 日本語のテキスト。 Done!';
  for (const pieces of [...cuts(clean), letters(clean)]) {
    const outcome = await screened(singly(...text(pieces)));
    assertEquals(textOf(outcome), clean);
    assertEquals(outcome.found, []);
  }
});

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

Deno.test("screenAnswer() keeps interleaved choices and parallel calls apart", async () => {
  const other = "bob@corp.example";
  const parts: Part[] = [
    START,
    { type: "text-start", block: 0, choice: 0 },
    { type: "text-start", block: 1, choice: 1 },
    { type: "call-start", block: 2, choice: 0, id: "a", name: "f", kind: "function" },
    { type: "call-start", block: 3, choice: 0, id: "b", name: "g", kind: "function" },
  ];
  const said = [`x ${CARD} y`, `p ${other} q`, `{"a":"${MAIL}"}`, `{"b":"${CARD}"}`];
  for (let i = 0; i < Math.max(...said.map((s) => s.length)); i++) {
    said.forEach((all, block) => {
      if (i < all.length) parts.push({ type: block < 2 ? "text-delta" : "call-delta", block, text: all[i] });
    });
  }
  parts.push(
    { type: "text-end", block: 0 },
    { type: "text-end", block: 1 },
    { type: "call-end", block: 2 },
    { type: "call-end", block: 3 },
    FINISH,
    { type: "finish", choice: 1, reason: "stop" },
  );
  const { parts: out, found } = await screened(parts.map((part) => [part]));
  const [first, second] = collect(out).choices.map(({ blocks }) =>
    blocks.map((block) => block.type === "call" ? block.arguments : block.type === "text" ? block.text : "")
  );
  assertEquals(first[0], "x <CREDIT_CARD_1> y");
  assert(/^\{"a":"<EMAIL_ADDRESS_[12]>"\}$/.test(first[1]), first[1]);
  assertEquals(first[2], '{"b":"<CREDIT_CARD_1>"}');
  assert(/^p <EMAIL_ADDRESS_[12]> q$/.test(second[0]), second[0]);
  assertEquals(found.map(({ location }) => location).sort(), [
    "answer.calls[0].arguments",
    "answer.calls[1].arguments",
    "answer.text",
    "answer[1].text",
  ]);
});

Deno.test("screenAnswer() refuses one choice and lets the other end by itself", async () => {
  const { parts } = await screened(
    [[
      START,
      ...text([`no ${CARD} no`], 0, 0),
      ...text(["all is well"], 1, 1),
      FINISH,
      { type: "finish", choice: 1, reason: "stop" },
      USAGE,
    ]],
    { answers: "block" },
  );
  const [bad, good] = collect(parts).choices;
  assertEquals([bad.reason, bad.blocks], ["content-filter", []]);
  assertEquals([good.reason, good.blocks.length], ["stop", 1]);
});

Deno.test("screenAnswer() masks reasoning and drops the proof that no longer holds, but not one that stands by itself", async () => {
  for (const kind of ["signature", "encrypted"] as const) {
    const { parts } = await screened(singly(
      { type: "reasoning-start", block: 0, choice: 0, kind: "summary" },
      ...letters(`think of ${MAIL} now`).map((t): Part => ({
        type: "reasoning-delta",
        block: 0,
        section: 0,
        text: t,
      })),
      { type: "reasoning-end", block: 0, proof: { api: "messages", kind, data: "opaque" } },
      { type: "reasoning-start", block: 1, choice: 0, kind: "text" },
      { type: "reasoning-delta", block: 1, section: 0, text: "clean" },
      { type: "reasoning-end", block: 1, proof: { api: "messages", kind, data: "opaque" } },
      ...text(["Done."], 2),
    ));
    const [changed, clean] = collect(parts).choices[0].blocks;
    if (changed.type !== "reasoning" || clean.type !== "reasoning") throw new Error("not reasoning");
    assertEquals(changed.sections, ["think of <EMAIL_ADDRESS_1> now"]);
    assertEquals(changed.proof?.kind, kind === "encrypted" ? kind : undefined);
    assertEquals(clean.proof?.kind, kind);
  }
});

Deno.test("screenAnswer() finds secrets of the gateway whatever is looked for, also encoded", async () => {
  for (const secret of [OWN, CALLER]) {
    for (const value of [secret, btoa(secret)]) {
      for (const pieces of cuts(`the key is ${value} ok`)) {
        const outcome = await screened(singly(...text(pieces)), { types: new Set(), secrets: SECRETS });
        assertEquals(textOf(outcome), "the key is <GATEWAY_SECRET_1> ok", JSON.stringify(pieces));
      }
    }
  }
  const other = await screened(singly(...text(["sk_live_anotherkeyanotherkeyanotherkey00 ok"])), {
    types: new Set(),
    secrets: SECRETS,
  });
  assertEquals(other.found, []);
});

Deno.test("screenAnswer() takes placeholders of the request for no findings, and makes others", async () => {
  const known = new Map([["<EMAIL_ADDRESS_1>", "x@y.example"]]);
  const outcome = await screened(singly(...text(letters(`To <EMAIL_ADDRESS_1> and ${MAIL}.`))), { known });
  assertEquals(textOf(outcome), "To <EMAIL_ADDRESS_1> and <EMAIL_ADDRESS_2>.");
});

Deno.test("screenAnswer() masks names of fields that come whole, and refuses names of tools", async () => {
  const { parts, found } = await screened(singly(
    { type: "search-start", block: 0, choice: 0, id: "s", query: `who is ${MAIL}` },
    {
      type: "search-end",
      block: 0,
      hits: [{
        url: `https://x.example/?q=${MAIL}`,
        title: `About ${MAIL}`,
        extra: { format: "messages", fields: { t: MAIL } },
      }],
    },
    {
      type: "text-start",
      block: 1,
      choice: 0,
      extra: { format: "chat_completions", fields: { note: [MAIL] } },
    },
    { type: "text-delta", block: 1, text: `See ${MAIL} here.` },
    {
      type: "citation",
      block: 1,
      citation: {
        kind: "url",
        url: "https://x.example",
        title: MAIL,
        quote: `to ${MAIL}`,
        start: 26,
        end: 30,
        extra: { format: "messages", fields: { cited_text: MAIL } },
      },
    },
    { type: "text-end", block: 1 },
    {
      type: "opaque",
      block: 2,
      choice: 0,
      format: "messages",
      value: { type: "x", content: [{ text: MAIL }] },
    },
  ));
  assert(!JSON.stringify(parts).includes("jane"), JSON.stringify(parts));
  assertEquals(found.length, 10);
  const citation = parts.find((part) => part.type === "citation");
  const masked = textOf({ parts } as Outcome);
  assertEquals(masked.slice(citation!.citation.start, citation!.citation.end), "here");
  assertEquals(parts.find((part) => part.type === "opaque")?.value, {
    type: "x",
    content: [{ text: "<EMAIL_ADDRESS_1>" }],
  });
  const named = await screened(singly(...call(["{}"], 0, 0, `mail_${CARD.replaceAll(" ", "")}`)), {
    types: DEFAULT_TYPES,
  });
  assert(!JSON.stringify(named.parts).includes("4539"), JSON.stringify(named.parts));
});

Deno.test("screenAnswer() takes log probabilities away that spell out what was masked", async () => {
  const delta = (text: string): Part => ({
    type: "text-delta",
    block: 0,
    text,
    logprobs: [{ token: text, logprob: -1, top: [] }],
  });
  const { parts } = await screened(singly(
    { type: "text-start", block: 0, choice: 0 },
    ...["Mail ", "jane.", "doe@corp", ".example", " now"].map(delta),
    { type: "text-end", block: 0 },
  ));
  assertEquals(JSON.stringify(parts).match(/jane|doe|corp/), null);
  assertEquals(
    collect(parts).choices[0].blocks.map((b) => b.type === "text" && b.logprobs?.map((l) => l.token)),
    [["Mail ", " now"]],
  );
});

Deno.test("screenAnswer() lets no token tell what its text does not", async () => {
  const token = (said: string, more: Partial<TokenLogprob> = {}) => [{
    token: said,
    logprob: -1,
    top: [],
    ...more,
  }];
  const tokens = [`Card `, ...CARD.match(/.{1,5}/g)!, " now"].flatMap((said) => token(said));
  const deltas: Part[][] = [
    // All tokens behind their text, as some providers send them.
    [{ type: "text-delta", block: 0, text: `Card ${CARD} now` }, {
      type: "text-delta",
      block: 0,
      text: "",
      logprobs: tokens,
    }],
    [{ type: "text-delta", block: 0, text: "Hello", logprobs: token(CARD) }],
    [{ type: "text-delta", block: 0, text: "Hello", logprobs: token("Hello", { top: token(CARD) }) }],
    [{
      type: "text-delta",
      block: 0,
      text: "Hello",
      logprobs: token("Hello", { bytes: [...new TextEncoder().encode(CARD)] }),
    }],
    [{
      type: "text-delta",
      block: 0,
      text: "Hello",
      logprobs: token("Hello", { logprob: 4539578763621486 }),
    }],
  ];
  for (const some of deltas) {
    const { parts } = await screened(singly({ type: "text-start", block: 0, choice: 0 }, ...some, {
      type: "text-end",
      block: 0,
    }));
    assertEquals(JSON.stringify(parts).match(/4539|5787|52,53,51/), null, JSON.stringify(parts));
  }
  const kept: Part = {
    type: "text-delta",
    block: 0,
    text: "Né ",
    logprobs: [
      ...token("N", { bytes: [78], top: token("M", { bytes: [77] }) }),
      ...token("é", { bytes: [195, 169] }),
      ...token(" "),
    ],
  };
  const { parts } = await screened(singly({ type: "text-start", block: 0, choice: 0 }, kept, {
    type: "text-delta",
    block: 0,
    text: " ",
  }, { type: "text-end", block: 0 }));
  assertEquals(parts.find((part) => part.type === "text-delta"), kept);
});

Deno.test("screenAnswer() goes on masking a value that is longer than it waits for", async () => {
  const key = `-----BEGIN RSA PRIVATE KEY-----\n${
    "MIIEowIBAAKCAQEAx7Jz\n".repeat(80)
  }-----END RSA PRIVATE KEY-----`;
  for (const step of [1, 7, 64, 300, 5000]) {
    const said = `key:\n${key}\nthat was it`;
    const pieces = said.match(new RegExp(`[^]{1,${step}}`, "g"))!;
    const outcome = await screened(singly(...text(pieces)));
    assert(!textOf(outcome).includes("MIIE"), `${step}: ${textOf(outcome)}`);
    assert(textOf(outcome).endsWith("that was it"), `${step}: ${textOf(outcome)}`);
  }
});

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

Deno.test("screenAnswer() only tells of findings in mode alert, and holds nothing back", async () => {
  const said = `Mail ${MAIL} and ${CARD}`;
  const outcome = await screened(singly(...text(letters(said))), { answers: "alert" });
  assertEquals(textOf(outcome), said);
  assertEquals(outcome.batches.length, said.length + 5);
  assertEquals(outcome.found.map(({ type }) => type), ["EMAIL_ADDRESS", "CREDIT_CARD"]);
});

Deno.test("screenAnswer() finds stop words of several words and patterns, cut anywhere", async () => {
  const options: Options = {
    types: new Set(),
    stopWords: [{ value: "Project Blue Heron", match: "exact" }, { value: "Falcon Nine", match: "fuzzy" }],
    patterns: [{ name: "ORDER", pattern: "AB-\\d{4}" }],
  };
  const said = "Of project  blue heron and falcom nine by AB-1234 we know.";
  for (const pieces of cuts(said)) {
    const outcome = await screened(singly(...text(pieces)), options);
    assertEquals(
      textOf(outcome),
      "Of <STOP_WORD_1> and <STOP_WORD_2> by <ORDER_1> we know.",
      JSON.stringify(pieces),
    );
  }
});

Deno.test("screenAnswer() keeps a structured answer JSON", async () => {
  const said = '{"who": "jane.doe@corp.example", "card": 4539578763621486, "n": [1]}';
  for (const pieces of [...cuts(said), letters(said)]) {
    const outcome = await screened(singly(...text(pieces)));
    assertEquals(JSON.parse(textOf(outcome)), {
      who: "<EMAIL_ADDRESS_1>",
      card: "<CREDIT_CARD_1>",
      n: [1],
    }, JSON.stringify(pieces));
  }
});

Deno.test("screenAnswer() masks an address whose signs are written out, cut anywhere", async () => {
  for (const value of ["jane.doe (at) corp.example", "jane.doe [at] corp [dot] example"]) {
    const said = `Write to ${value} soon.`;
    for (
      const pieces of [
        ...cuts(said),
        letters(said),
        said.match(/[^]{1,3}/g)!,
        said.split(/(?= )/),
        said.split(/(?<= )/),
      ]
    ) {
      const outcome = await screened(singly(...text(pieces)));
      assertEquals(textOf(outcome), "Write to <EMAIL_ADDRESS_1> soon.", JSON.stringify(pieces));
    }
  }
});

Deno.test("screenAnswer() finds the gateway's own secrets whatever they are glued to", async () => {
  for (const said of [`鍵は${OWN}です`, `x${OWN}y`, `${OWN}${OWN}`]) {
    for (const pieces of [[said], letters(said)]) {
      const outcome = await screened(singly(...text(pieces)), { types: new Set(), secrets: SECRETS });
      assert(!textOf(outcome).includes(OWN), textOf(outcome));
      assertEquals(outcome.found[0].type, "GATEWAY_SECRET");
    }
  }
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

Deno.test("screenAnswer() ends an answer that has more findings than are worth masking, and tells of no more", async () => {
  const mails = Array.from({ length: 60_000 }, (_, i) => `u${i}@corp.example `).join("");
  const masked = await screened([whole(...text([mails]))]);
  assertEquals([reasonOf(masked), masked.found.length], ["content-filter", 50_000]);
  const told = await screened([whole(...text([mails]))], { answers: "alert" });
  assertEquals([reasonOf(told), told.found.length, textOf(told)], ["stop", 50_000, mails]);
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
