/** What of an answer is masked, refused or left alone, in each kind of its parts. */
import { assert, assertEquals } from "@std/assert";
import { DEFAULT_TYPES } from "../../src/dlp/entities.ts";
import { collect } from "../../src/exchange/answer.ts";
import type { Part } from "../../src/exchange/part.ts";
import type { Usage } from "../../src/exchange/usage.ts";
import {
  argumentsOf,
  call,
  CALLER,
  CARD,
  cuts,
  FINISH,
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

Deno.test("screenAnswer() has no part of a provider's tool carried in which something is found", async () => {
  const part = (code: string): Part[] => {
    const proof = {
      api: "gemini",
      kind: "part",
      data: JSON.stringify({ executableCode: { code } }),
    } as const;
    const block = code.length;
    return [{ type: "reasoning-start", block, choice: 0, kind: "summary" }, {
      type: "reasoning-end",
      block,
      proof,
    }];
  };
  const { parts } = await screened(
    singly(...part(`send("${MAIL}")`), ...part("1 + 1"), ...text(["Done."], 2)),
  );
  const proofs = parts.flatMap((p) => p.type === "reasoning-end" ? [p.proof?.data] : []);
  assertEquals(proofs, [undefined, JSON.stringify({ executableCode: { code: "1 + 1" } })]);
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
      extra: { format: "messages", fields: { note: [MAIL] } },
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

Deno.test("screenAnswer() ends no answer for fields that the caller does not get", async () => {
  const note = { format: "chat_completions", fields: { note: MAIL } } as const;
  const parts: Part[] = [
    { type: "start", extra: note },
    ...text(["hi"]),
    { type: "opaque", block: 9, choice: 0, format: "chat_completions", value: { note: MAIL } },
    { type: "finish", choice: 0, reason: "stop", extra: note },
  ];
  for (const answers of ["block", "mask"] as const) {
    const foreign = await screened(parts.map((part) => [part]), { answers });
    assertEquals(foreign.found, []);
    assertEquals(foreign.parts.at(-1), { type: "finish", choice: 0, reason: "stop", extra: undefined });
    const own = await screened(parts.map((part) => [part]), { answers, format: "chat_completions" });
    assertEquals(JSON.stringify(own.parts).includes(MAIL), false);
    assertEquals(own.found.length > 0, true);
  }
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
