import { assert, assertEquals } from "@std/assert";
import type { Part } from "../../src/exchange/part.ts";
import { SplitSecrets } from "../../src/pipeline/generation/split_secrets.ts";
import { testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";

const SECRET = "nvapi-8d7f6a5s4d3f2g1h";
const OTHER = "nvapi-8d7f0000000000";

const delta = (text: string, block = 0): Part => ({ type: "text-delta", block, text });
const textOf = (parts: readonly Part[]) => parts.map((part) => "text" in part ? part.text : "").join("");

function through(batches: readonly (readonly Part[])[], secrets = [SECRET, OTHER]): Part[] {
  const split = new SplitSecrets(secrets);
  return [...batches.flatMap((batch) => [...split.take(batch)]), ...split.end()];
}

Deno.test("SplitSecrets withholds a secret wherever it is cut", () => {
  const text = `The key is ${SECRET}, not ${OTHER}.`;
  for (let size = 1; size <= text.length; size++) {
    const pieces = text.match(new RegExp(`.{1,${size}}`, "g"))!;
    const said = textOf(through(pieces.map((piece) => [delta(piece)])));
    assert(!said.includes(SECRET.slice(4)) && !said.includes(OTHER.slice(4)), said);
    assert(/^The key is (?:n?v?a?)\[withheld\], not (?:n?v?a?)\[withheld\]\.$/.test(said), said);
  }
  for (let at = 0; at <= text.length; at++) {
    for (let then = at; then <= text.length; then++) {
      const said = textOf(
        through([[delta(text.slice(0, at)), delta(text.slice(at, then)), delta(text.slice(then))]]),
      );
      assert(!said.includes(SECRET.slice(4)), said);
    }
  }
});

Deno.test("SplitSecrets loses nothing of what only begins like a secret, in the order of blocks", () => {
  const batches: Part[][] = [
    [{ type: "text-start", block: 0, choice: 0 }, delta("see nvapi-8d7")],
    [delta("x is none; nvap"), delta("i-", 1), { type: "text-end", block: 0 }],
    [delta("8d7f6", 1)],
  ];
  const parts = through(batches);
  assertEquals(
    textOf(parts.filter((part) => "block" in part && part.block === 0)),
    "see nvapi-8d7x is none; nvap",
  );
  assertEquals(textOf(parts.filter((part) => "block" in part && part.block === 1)), "i-8d7f6");
  const end = parts.findIndex((part) => part.type === "text-end");
  assert(parts.findLastIndex((part) => part.type === "text-delta" && part.block === 0) < end);
});

Deno.test("SplitSecrets hands on batches without a trace of a secret as they are", () => {
  const split = new SplitSecrets([SECRET]);
  for (const text of ["Good", " morn", "ing, n", "v", "a", " nva", "x", "nvax"]) {
    const batch = [delta(text)];
    assert(split.take(batch) === batch, text);
  }
});

/** Blocks of one kind, one after the other, each in pieces of so many characters. */
function blocks(texts: readonly string[], { kind = "text", choice = 0, size = 1000 } = {}): Part[] {
  return texts.flatMap((text, block): Part[] => [
    { type: `${kind}-start`, block, choice } as Part,
    ...(text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []).map((piece) =>
      ({ type: `${kind}-delta`, block, text: piece, section: 0 }) as Part
    ),
    { type: `${kind}-end`, block } as Part,
  ]);
}

Deno.test("SplitSecrets withholds what a secret that is cut across blocks goes on with", () => {
  const text = `it is ${SECRET}.`;
  for (const kind of ["text", "reasoning"]) {
    for (let at = 7; at < text.length - 1; at++) {
      for (const size of [1, 3, 1000]) {
        const said = textOf(through([blocks([text.slice(0, at), text.slice(at)], { kind, size })]));
        // Of the beginning as much may be told as where nothing follows.
        assert(
          !said.includes(SECRET.slice(0, 12)) && !said.includes(SECRET.slice(-4)),
          `${at} ${size} ${said}`,
        );
        assert(said.endsWith("[withheld].") || at + 1 >= text.length, said);
      }
    }
    const each = textOf(through([blocks([...text], { kind })]));
    assert(each.includes("[withheld]") && !each.includes(SECRET.slice(0, 12)), each);
  }
});

Deno.test("SplitSecrets withholds a secret in a block that is joined from pieces, and leaves others as they are", () => {
  const at = { type: "opaque", block: 0, choice: 0, format: "chat_completions" } as const;
  const value = { note: `see ${SECRET}`, list: [{ output: OTHER }, 1, null] };
  const clean = { note: "see [withheld]", list: [{ output: "[withheld]" }, 1, null] };
  assertEquals(through([[{ ...at, value }]]), [{ ...at, value: clean }]);
  const batch: Part[] = [{ ...at, value: { note: "nvapi-8d7f", list: [SECRET.slice(1)] } }];
  assert(new SplitSecrets([SECRET, OTHER]).take(batch) === batch);
});

Deno.test("SplitSecrets reads blocks of other kinds and choices apart, and loses nothing of them", () => {
  const [first, second] = [SECRET.slice(0, 10), SECRET.slice(10)];
  const parts: Part[] = [
    { type: "text-start", block: 0, choice: 0 },
    delta(first),
    { type: "text-end", block: 0 },
    { type: "text-start", block: 1, choice: 1 },
    delta(second, 1),
    { type: "text-end", block: 1 },
    { type: "reasoning-start", block: 2, choice: 0, kind: "text" },
    { type: "reasoning-delta", block: 2, section: 0, text: second },
    { type: "reasoning-end", block: 2 },
  ];
  assertEquals(textOf(through([parts])), first + second + second);
  const harmless = ["it begins: nvapi-8d7", "f, and then", " nva", "pi-x, nv", "a", "p"];
  assertEquals(textOf(through([blocks(harmless)])), harmless.join(""));
});

Deno.test("a gateway withholds its credential from the frames of a stream, and from escapes of a whole answer", async () => {
  const frame = (content: string) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
  const escaped = [...SECRET].map((c) => `\\u00${c.charCodeAt(0).toString(16)}`).join("");
  const provider = loopbackProvider((seen) =>
    seen.body.stream
      ? sseResponse([
        ...SECRET.match(/.{1,3}/g)!.map(frame),
        'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
        "data: [DONE]\n\n",
      ])
      : new Response(
        `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"it is ${escaped}."}}]}`,
        { headers: { "content-type": "application/json" } },
      )
  );
  const gateway = await testGateway({
    p: { api: "openai-chat", url: `${provider.url}/v1`, more: { api_key: SECRET } },
  });
  for (const stream of [false, true]) {
    const messages = [{ role: "user", content: "hi" }];
    const response = await gateway.post("/v1/chat/completions", { model: "p/model", stream, messages });
    const said = [...(await response.text()).matchAll(/"content":"([^"]*)"/g)].map(([, text]) => text).join(
      "",
    );
    assertEquals(said, stream ? "nva[withheld]" : "it is [withheld].");
  }
  await gateway.close();
  await provider.close();
});
