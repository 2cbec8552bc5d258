import { assert, assertEquals } from "@std/assert";
import { restore } from "../../src/dlp/restore.ts";
import type { Part } from "../../src/exchange/part.ts";

const ORIGINALS = new Map([
  ["<EMAIL_ADDRESS_1>", "jane@corp.example"],
  ["<EMAIL_ADDRESS_12>", "x@corp.example"],
  ["<STOP_WORD_1>", 'a "quoted"\nword'],
]);

async function* batches(parts: readonly Part[]): AsyncGenerator<readonly Part[]> {
  for (const part of parts) yield await Promise.resolve([part]);
}

async function restored(parts: readonly Part[]): Promise<Part[]> {
  const out: Part[] = [];
  for await (const batch of restore(batches(parts), ORIGINALS)) out.push(...batch);
  return out;
}

function textOf(parts: readonly Part[]): string {
  return parts.map((part) => part.type === "text-delta" || part.type === "call-delta" ? part.text : "").join(
    "",
  );
}

function text(...pieces: string[]): Part[] {
  return [
    { type: "text-start", block: 0, choice: 0 },
    ...pieces.map((text) => ({ type: "text-delta", block: 0, text }) as const),
    { type: "text-end", block: 0 },
  ];
}

function call(kind: "function" | "custom", ...pieces: string[]): Part[] {
  return [
    { type: "call-start", block: 0, choice: 0, id: "c", name: "f", kind },
    ...pieces.map((text) => ({ type: "call-delta", block: 0, text }) as const),
    { type: "call-end", block: 0 },
  ];
}

Deno.test("restore() turns placeholders back wherever a stream is cut", async () => {
  const said =
    "to <EMAIL_ADDRESS_1>, <EMAIL_ADDRESS_12>, <EMAIL_ADDRESS_3>, a<b and <<STOP_WORD_1>> <EMAIL_ADDRESS_";
  const want =
    'to jane@corp.example, x@corp.example, <EMAIL_ADDRESS_3>, a<b and <a "quoted"\nword> <EMAIL_ADDRESS_';
  for (let i = 0; i <= said.length; i++) {
    for (const j of [i, i + 1, i + 7]) {
      assertEquals(
        textOf(await restored(text(said.slice(0, i), said.slice(i, j), said.slice(j)))),
        want,
        `${i} ${j}`,
      );
    }
  }
  assertEquals(textOf(await restored(text(...said))), want);
});

Deno.test("restore() holds back no more than what may be a placeholder", async () => {
  let sent = 0;
  let most = 0;
  const said = "x <EMAIL_ADDRESS_1> <STOP_WORD_9 <html> <EMAIL <A ".repeat(3);
  async function* counting(): AsyncGenerator<readonly Part[]> {
    for (const part of text(...said)) {
      if (part.type === "text-delta") sent += part.text.length;
      yield await Promise.resolve([part]);
    }
  }
  let got = 0;
  for await (const batch of restore(counting(), new Map([["<EMAIL_ADDRESS_1>", "<EMAIL_ADDRESS_0>"]]))) {
    got += textOf(batch).length;
    most = Math.max(most, sent - got);
  }
  assertEquals(got, said.length);
  assert(most <= "<EMAIL_ADDRESS_1>".length, `held ${most}`);
});

Deno.test("restore() writes originals as JSON into arguments, also for escaped brackets", async () => {
  const said = String.raw`{"to":"<EMAIL_ADDRESS_1>","note":"\u003cSTOP_WORD_1\u003e \u003d \n"}`;
  for (let i = 0; i <= said.length; i++) {
    const got = textOf(await restored(call("function", said.slice(0, i), said.slice(i))));
    assertEquals(JSON.parse(got), { to: "jane@corp.example", note: 'a "quoted"\nword = \n' }, `${i}`);
  }
  assertEquals(textOf(await restored(call("custom", "say <STOP_", "WORD_1>"))), 'say a "quoted"\nword');
});

Deno.test("restore() keeps arguments JSON where a backslash before a name is a value's own", async () => {
  // A backslash before the letters u003c, one before a placeholder, and JSON within JSON.
  const said = String
    .raw`{"p":"\\u003cEMAIL_ADDRESS_1>","q":"C:\\<EMAIL_ADDRESS_1>","r":"{\"to\":\"<EMAIL_ADDRESS_1>\"}"}`;
  const want = {
    p: String.raw`\u003cEMAIL_ADDRESS_1>`,
    q: String.raw`C:\jane@corp.example`,
    r: '{"to":"jane@corp.example"}',
  };
  for (let i = 0; i <= said.length; i++) {
    const got = textOf(await restored(call("function", said.slice(0, i), said.slice(i))));
    assertEquals(JSON.parse(got), want, `${i}`);
  }
});

Deno.test("restore() moves citations with the text, and leaves reasoning as it is signed", async () => {
  const parts: Part[] = [
    { type: "reasoning-start", block: 1, choice: 0, kind: "text" },
    { type: "reasoning-delta", block: 1, section: 0, text: "<EMAIL_ADDRESS_1>" },
    { type: "reasoning-end", block: 1 },
    { type: "text-start", block: 0, choice: 0 },
    { type: "text-delta", block: 0, text: "<EMAIL_ADDRESS_12> says so" },
    { type: "citation", block: 0, citation: { kind: "url", url: "https://x.example", start: 19, end: 23 } },
    { type: "text-end", block: 0 },
    { type: "finish", choice: 0, reason: "stop" },
  ];
  const got = await restored(parts);
  assertEquals(got.slice(0, 3), parts.slice(0, 3));
  const citation = got.find((part) => part.type === "citation");
  assertEquals(textOf(got).slice(citation?.citation.start, citation?.citation.end), "says");
  assertEquals(got.at(-1), parts.at(-1));
});

Deno.test("restore() turns back placeholders with escapes of JSON, Markdown, markup and URLs, wherever cut", async () => {
  const originals = new Map([...ORIGINALS, ["<STOP_WORD_2>", "A & <B>"]]);
  const spelled: readonly (readonly [string, string])[] = [
    [String.raw`{"to":"\u003cEMAIL_ADDRESS_1\u003e"}`, '{"to":"jane@corp.example"}'],
    [
      String.raw`write \<EMAIL\_ADDRESS\_1\> or <EMAIL\_ADDRESS\_12>`,
      "write jane@corp.example or x@corp.example",
    ],
    [
      "<p>&lt;STOP_WORD_2&gt; &amp; &lt;EMAIL_ADDRESS_1&gt;</p>",
      "<p>A &amp; &lt;B&gt; &amp; jane@corp.example</p>",
    ],
    ["https://x.example/?q=%3CSTOP_WORD_2%3e&r=100%", "https://x.example/?q=A%20%26%20%3CB%3E&r=100%"],
    [
      String.raw`C:\<EMAIL_ADDRESS_1> & 5 % \ &lt;b&gt; %3Cb%3E`,
      String.raw`C:\jane@corp.example & 5 % \ &lt;b&gt; %3Cb%3E`,
    ],
  ];
  for (const [said, want] of spelled) {
    for (let i = 0; i <= said.length; i++) {
      const out: Part[] = [];
      for await (const batch of restore(batches(text(said.slice(0, i), said.slice(i))), originals)) {
        out.push(...batch);
      }
      assertEquals(textOf(out), want, `${i}`);
    }
  }
});

Deno.test("restore() keeps blocks that interleave apart", async () => {
  const got = await restored([
    { type: "text-start", block: 0, choice: 0 },
    { type: "text-start", block: 1, choice: 1 },
    { type: "text-delta", block: 0, text: "<EMAIL_" },
    { type: "text-delta", block: 1, text: "<STOP" },
    { type: "text-delta", block: 0, text: "ADDRESS_1>" },
    { type: "text-end", block: 1 },
    { type: "text-end", block: 0 },
  ]);
  const said = (block: number) => textOf(got.filter((part) => "block" in part && part.block === block));
  assertEquals([said(0), said(1)], ["jane@corp.example", "<STOP"]);
});

Deno.test("restore() adds up what several placeholders move a citation by, also where it begins right behind one", async () => {
  const text = "<EMAIL_ADDRESS_1> and <EMAIL_ADDRESS_12> say so, <EMAIL_ADDRESS_1>.";
  const cited = (words: string) => ({
    kind: "url" as const,
    url: "https://x.example",
    start: text.indexOf(words),
    end: text.indexOf(words) + words.length,
  });
  const got = await restored([
    { type: "text-start", block: 0, choice: 0 },
    { type: "text-delta", block: 0, text },
    { type: "citation", block: 0, citation: cited(" say so") },
    { type: "citation", block: 0, citation: cited(".") },
    { type: "text-end", block: 0 },
  ]);
  const said = textOf(got);
  assertEquals(
    got.flatMap((part) =>
      part.type === "citation" ? [said.slice(part.citation.start, part.citation.end)] : []
    ),
    [" say so", "."],
  );
});

/** A value that no JSON string holds as it is. */
const AWKWARD = 'a "quoted"\nword';

Deno.test("restore() keeps JSON in strings of JSON what it is, however deep and wherever cut", async () => {
  const inner = JSON.stringify({ pw: "<STOP_WORD_1>", list: ['x "<STOP_WORD_1>" \u00e9'] });
  const said = JSON.stringify({
    body: inner,
    text: 'he said "<STOP_WORD_1>" <EMAIL_ADDRESS_1>',
    deeper: JSON.stringify([{ body: inner }]),
    list: " [" + JSON.stringify("<STOP_WORD_1>") + "]",
  });
  const mended = { pw: AWKWARD, list: [`x "${AWKWARD}" \u00e9`] };
  for (let i = 0; i <= said.length; i++) {
    const got = JSON.parse(textOf(await restored(call("function", said.slice(0, i), said.slice(i)))));
    assertEquals(JSON.parse(got.body), mended, `${i}`);
    assertEquals(got.text, `he said "${AWKWARD}" jane@corp.example`);
    assertEquals(JSON.parse(JSON.parse(got.deeper)[0].body), mended);
    assertEquals(JSON.parse(got.list), [AWKWARD]);
  }
  assertEquals(textOf(await restored(call("function", ...said))).length > said.length, true);
});

Deno.test("restore() keeps an answer in JSON what it is, alone or as a block of code, and text as it is", async () => {
  const json = '{\n  "note": "x <STOP_WORD_1>", "to": ["<EMAIL_ADDRESS_1>"]}';
  for (const [lead, tail] of [["", ""], [" \n", "\n"], ["```json\n", "\n```\n"], ["```\n", "```"]]) {
    const said = lead + json + tail;
    for (let i = 0; i <= said.length; i++) {
      const got = textOf(await restored(text(said.slice(0, i), said.slice(i))));
      assertEquals(JSON.parse(got.slice(lead.length, got.length - tail.length)), {
        note: `x ${AWKWARD}`,
        to: ["jane@corp.example"],
      }, `${lead} ${i}`);
    }
  }
  for (const said of ['[see "<STOP_WORD_1>"](x)', 'He said "<STOP_WORD_1>".', '{x "<STOP_WORD_1>"}']) {
    assertEquals(textOf(await restored(text(...said))), said.replace("<STOP_WORD_1>", AWKWARD));
  }
});

Deno.test("restore() knows where JSON ends that a text begins with, and where more of it begins", async () => {
  const escaped = JSON.stringify(AWKWARD).slice(1, -1);
  for (
    const [said, want] of [
      ['{"k":1} my 5" pipe, "<STOP_WORD_1>', `{"k":1} my 5" pipe, "${AWKWARD}`],
      ['{} 5" of <STOP_WORD_1>', `{} 5" of ${AWKWARD}`],
      ['[{"k":"}"}] 5" of <STOP_WORD_1>', `[{"k":"}"}] 5" of ${AWKWARD}`],
      ['```json\n{"k":1}\n```\n5" of <STOP_WORD_1>', `\`\`\`json\n{"k":1}\n\`\`\`\n5" of ${AWKWARD}`],
      ['{"k":1}\n{"k":"<STOP_WORD_1>"}\n["<STOP_WORD_1>"]', `{"k":1}\n{"k":"${escaped}"}\n["${escaped}"]`],
      ['{"k":[1,{"l":"<STOP_WORD_1>"}]}', `{"k":[1,{"l":"${escaped}"}]}`],
      [
        JSON.stringify({ k: '{"l":1} 5" of <STOP_WORD_1>' }),
        JSON.stringify({ k: `{"l":1} 5" of ${AWKWARD}` }),
      ],
    ]
  ) {
    for (let i = 0; i <= said.length; i++) {
      assertEquals(textOf(await restored(text(said.slice(0, i), said.slice(i)))), want, `${said} ${i}`);
    }
  }
});

Deno.test("restore() turns back what a citation, a search, a sound and a refusal say", async () => {
  const fields = { type: "char_location", cited_text: "by <EMAIL_ADDRESS_1>", start_char_index: 3 };
  const untouched = {
    kind: "url" as const,
    url: "https://x.example",
    extra: { format: "messages" as const, fields: {} },
  };
  const got = await restored([
    { type: "text-start", block: 0, choice: 0 },
    {
      type: "citation",
      block: 0,
      citation: {
        kind: "document",
        quote: "by <EMAIL_ADDRESS_1>",
        title: "<EMAIL_ADDRESS_12>.txt",
        extra: { format: "messages", fields },
      },
    },
    { type: "citation", block: 0, citation: untouched },
    { type: "text-end", block: 0 },
    { type: "search-start", block: 1, choice: 0, id: "s", query: "who is <EMAIL_ADDRESS_1>" },
    { type: "media", block: 2, choice: 0, mediaType: "audio/wav", data: "", transcript: "<EMAIL_ADDRESS_1>" },
    { type: "finish", choice: 0, reason: "refusal", explanation: "not <EMAIL_ADDRESS_1>" },
  ]);
  const [, first, second, , search, media, finish] = got;
  assertEquals(first, {
    type: "citation",
    block: 0,
    citation: {
      kind: "document",
      quote: "by jane@corp.example",
      title: "x@corp.example.txt",
      extra: { format: "messages", fields: { ...fields, cited_text: "by jane@corp.example" } },
    },
  });
  assert(second.type === "citation" && second.citation === untouched);
  assert(search.type === "search-start" && search.query === "who is jane@corp.example");
  assert(media.type === "media" && media.transcript === "jane@corp.example");
  assert(finish.type === "finish" && finish.explanation === "not jane@corp.example");
});
