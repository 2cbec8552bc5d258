/**
 * The same bytes of a provider's stream, in one piece and cut anywhere: the caller is told the same, and the same is
 * recorded, whichever way the text takes through the gateway.
 */
import { assertEquals } from "@std/assert";
import type { Failure } from "../../src/exchange/failure.ts";
import type { Part } from "../../src/exchange/part.ts";
import { chatCompletions } from "../../src/formats/chat_completions/mod.ts";
import { AnswerReader } from "../../src/pipeline/generation/answer_reader.ts";
import { chatChunk } from "../support/answers.ts";
import { joined } from "../support/event_stream.ts";
import { type FaultyProvider, faultyProvider } from "../support/faulty_provider.ts";
import { type TestGateway, testGateway } from "../support/gateway.ts";
import { turns } from "../support/time.ts";

const encoder = new TextEncoder();

const DONE = "data: [DONE]\n\n";
const END = chatChunk({}, "stop") + DONE;
const text = (content: string, more: Record<string, unknown> = {}) => chatChunk({ content, ...more });
const words = (count: number) => Array.from({ length: count }, (_, i) => text(` word${i}`)).join("");
const reported = (tokens: number) =>
  `data: ${
    JSON.stringify({ id: "c", choices: [], usage: { prompt_tokens: 5, completion_tokens: tokens } })
  }\n\n`;
const withUsage = (content: string, tokens: number) =>
  text(content).replace(/\}\n\n$/, `,"usage":{"prompt_tokens":5,"completion_tokens":${tokens}}}\n\n`);
const call = (fields: Record<string, unknown>) => chatChunk({ tool_calls: [{ index: 0, ...fields }] });
const padded = (content: string, padding: string) =>
  text(content).replace(/\}\n\n$/, `,"obfuscation":"${padding}"}\n\n`);

const STREAMS: Record<string, string | Uint8Array<ArrayBuffer>> = {
  "words": words(8) + reported(9) + END,
  "letters of several bytes": ["ü", "ñ🙂", "мир", "\u2028", "\ufeffa", "\x7f"].map((t) => text(t)).join("") +
    words(3) + END,
  "escapes between words": words(3) + text('a "b" \\ \n') + words(3) + text("\u0000") + words(2) + END,
  "halves of a character": words(3) + text("a\ud83d") + text("\ude42b") + words(2) + END,
  "line ends CR LF": (words(4) + END).replaceAll("\n", "\r\n"),
  "line ends CR": (words(4) + END).replaceAll("\n", "\r"),
  "line ends that change": words(3) + words(2).replaceAll("\n", "\r\n") + words(2) +
    words(2).replaceAll("\n", "\r") + words(3) + END,
  "comments": words(3) + ": still there\n\n" + words(2) + ":\n" + words(2) + ": a\n: b\r\n\r\n" + words(1) +
    END,
  "names of events": (words(4) + END).replaceAll("data:", "event: delta\ndata:") + DONE,
  "names of some events": words(3) + words(2).replaceAll("data:", "event: x\ndata:") + words(3) + END,
  "no space behind the colon": (words(4) + END).replaceAll("data: ", "data:"),
  "several lines of data": words(3) + words(3).replaceAll('"choices"', '\ndata: "choices"') + words(2) + END,
  "other fields": words(3) + "id: 4\nretry: 5\n" + words(3) + END,
  "empty texts": words(3) + text("") + text("") + words(2) + text("") + END,
  "long texts": words(3) + text("x".repeat(5000)) + words(2) + text("é".repeat(3000)) + words(2) + END,
  "usage in every chunk": [1, 2, 3, 4].map((n) => withUsage(` w${n}`, n)).join("") + END,
  "padding": ["", "a", "abc", "ab"].map((p, i) => padded(` w${i}`, p)).join("") + padded("esc\n", "a") +
    padded("x", "b") + END,
  "a call between texts": words(3) +
    call({ id: "t1", type: "function", function: { name: "f", arguments: "" } }) +
    call({ function: { arguments: '{"a":' } }) + call({ function: { arguments: "1}" } }) + words(3) + END,
  "reasoning between texts": words(3) + chatChunk({ reasoning_content: "hm" }) +
    chatChunk({ reasoning_content: " so" }) +
    chatChunk({ reasoning_content: " be" }) + chatChunk({ reasoning_content: " it" }) + words(3) + END,
  "several choices":
    [0, 1, 0, 1, 1, 1, 1, 0, 0, 0].map((i) => text(`${i}`).replace('"index":0', `"index":${i}`)).join("") +
    END,
  "a byte order mark": "\ufeff" + words(4) + END,
  "an end that comes early": words(3) + DONE + words(3) + DONE,
  "no end": words(4),
  "no end, but a reason": words(4) + chatChunk({}, "stop"),
  "the last blank line left out": words(4) + chatChunk({}, "stop") + "data: [DONE]",
  "an error between texts": words(4) + 'data: {"error":{"message":"overloaded","code":503}}\n\n' + words(2) +
    END,
  "an event that is no JSON": words(4) + "data: {nothing\n\n" + words(2) + END,
  "our credential": words(3) + text("it is provider-secret.") +
    ["prov", "ider-", "sec", "ret", " and more"].map((t) => text(t)).join("") + words(2) + END,
  "our credential, spelt otherwise": words(3) +
    text("provider-secret").replace("provider", "\\u0070rovider") + words(2) +
    text("provider-sec") + chatChunk({}, "stop") + DONE,
  "bytes that are no UTF-8": joined([
    encoder.encode(words(3)),
    bytesIn(text("a?b"), 0xff),
    bytesIn(text("a?b"), 0xe2),
    bytesIn(text("a?b"), 0xc0),
    encoder.encode(words(2) + END),
  ]),
};

/** The question mark in a text as this byte. */
function bytesIn(text: string, byte: number): Uint8Array<ArrayBuffer> {
  const bytes = encoder.encode(text);
  bytes[bytes.indexOf(63)] = byte;
  return bytes;
}

function inPieces(bytes: Uint8Array, length: number): Uint8Array[] {
  return Array.from(
    { length: Math.ceil(bytes.length / length) },
    (_, i) => bytes.subarray(i * length, (i + 1) * length),
  );
}

/** Behind each blank line. */
function byEvent(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (let at = 1; at < bytes.length; at++) {
    const isEnd = bytes[at] === bytes[at - 1]
      ? bytes[at] === 10 || bytes[at] === 13
      : bytes[at] === 10 && bytes[at - 2] === 10;
    if (!isEnd) continue;
    pieces.push(bytes.subarray(from, at + 1));
    from = at + 1;
  }
  pieces.push(bytes.subarray(from));
  return pieces.filter(({ length }) => length > 0);
}

const chunked = (bytes: Uint8Array) =>
  joined([encoder.encode(`${bytes.length.toString(16)};a="b"\r\n`), bytes, encoder.encode("\r\n")]);

interface Told {
  events: string;
  record: unknown;
}

interface Stage {
  path: string;
  provider: FaultyProvider;
  gateway: TestGateway;
}

/** What a caller is told of such pieces, and what is recorded. @param slowly each is read by itself */
async function toldOf(
  { path, provider, gateway }: Stage,
  pieces: readonly Uint8Array[],
  slowly = true,
): Promise<Told> {
  provider.play(async ({ head, write, flush }) => {
    head(200, { "content-type": "text/event-stream", "transfer-encoding": "chunked", connection: "close" });
    for (const piece of pieces) {
      write(piece);
      if (slowly) await flush();
      else await turns(1);
    }
  });
  const response = await gateway.post(path, {
    model: "p/model",
    stream: true,
    ...(path.endsWith("responses")
      ? { input: "hi" }
      : { max_tokens: 100, messages: [{ role: "user", content: "hi" }] }),
  });
  const id = response.headers.get("x-request-id")!;
  const events = (await response.text()).replaceAll(id, "ID")
    .replaceAll(/"(created|created_at|completed_at)":\d+/g, '"$1":0')
    .replaceAll(/"(id|item_id)":"[^"]*"/g, '"$1":"ID"');
  await gateway.gateway.idle();
  const record = await gateway.gateway.accounts.generation(id);
  const { status, error_code, usage, usage_estimated, cost } = record;
  return { events, record: { status, error_code, usage, usage_estimated, cost } };
}

for (const path of ["/v1/chat/completions", "/v1/messages", "/v1/responses"]) {
  Deno.test(`${path}: a stream that is cut anywhere is told and recorded as in one piece`, async () => {
    const provider = await faultyProvider(() => {});
    const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
    const stage = { path, provider, gateway };
    const last = encoder.encode("0\r\n\r\n");
    for (const [name, stream] of Object.entries(STREAMS)) {
      const bytes = typeof stream === "string" ? encoder.encode(stream) : stream;
      const wire = joined([chunked(bytes), last]);
      const whole = await toldOf(stage, [wire]);
      assertEquals(
        await toldOf(stage, [...byEvent(bytes).map(chunked), last]),
        whole,
        `${name}, event by event`,
      );
      const few = inPieces(bytes, 61).map(chunked);
      assertEquals(await toldOf(stage, [...few, last], false), whole, `${name}, in pieces of 61 bytes`);
    }
    await gateway.close();
    await provider.close();
  });
}

Deno.test("what comes before a broken chunk is told, also where both come at once; a whole answer is billed", async () => {
  const path = "/v1/chat/completions";
  const provider = await faultyProvider(() => {});
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } });
  const stage = { path, provider, gateway };
  const broken = encoder.encode("zz\r\nab\r\n");
  const begun = encoder.encode(words(5));
  const half = await toldOf(stage, [joined([...byEvent(begun).map(chunked), broken])]);
  assertEquals(half, await toldOf(stage, [...byEvent(begun).map(chunked), broken]));
  assertEquals([...half.events.matchAll(/ word\d/g)].join(""), " word0 word1 word2 word3 word4");
  assertEquals((half.record as { status: string }).status, "failed");
  const all = encoder.encode(words(5) + reported(9) + END);
  const whole = await toldOf(stage, [joined([chunked(all), encoder.encode("0\r\n\r\n")])]);
  assertEquals(await toldOf(stage, [joined([chunked(all), broken])]), whole);
  await gateway.close();
  await provider.close();
});

Deno.test("the bytes of a stream one by one give the same parts as all of them at once", () => {
  for (const [name, stream] of Object.entries(STREAMS)) {
    const bytes = typeof stream === "string" ? encoder.encode(stream) : stream;
    assertEquals(partsOf(inPieces(bytes, 1)), partsOf([bytes]), name);
  }
});

function partsOf(pieces: readonly Uint8Array[]): { parts: Part[]; failure: string | undefined } {
  const reader = new AnswerReader(chatCompletions);
  const parts: Part[] = [];
  let failure: Failure | undefined;
  for (const piece of pieces) failure ??= reader.push(piece, parts);
  failure ??= reader.end(parts);
  return { parts, failure: failure?.message };
}
