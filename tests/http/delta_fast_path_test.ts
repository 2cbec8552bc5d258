/**
 * Text deltas of a stream that are passed directly from one connection to the other: frames that arrive one by one are sent, counted and
 * withheld like frames that arrive together.
 */
import { assert, assertEquals } from "@std/assert";
import { chatChunk } from "../support/answers.ts";
import { loopbackProvider } from "../support/provider.ts";
import { testGateway } from "../support/gateway.ts";
import { StoppedClock, turns } from "../support/time.ts";

const encoder = new TextEncoder();

const USAGE = `data: ${
  JSON.stringify({ id: "c", choices: [], usage: { prompt_tokens: 5, completion_tokens: 70 } })
}\n\n`;
const DONE = "data: [DONE]\n\n";

const WORDS = ["Hello", " there", " from", " afar", ' "quoted" \\ and\n', " ünïcödé 🙂", " provider", "-sec"];
const MORE = ["ret", " is it", " a provid", "er-secret", " again", "."];
const SAID = [...WORDS, ...MORE];
const TOLD = SAID.join("").replaceAll("provider-secret", "[withheld]");
const FRAMES = [
  chatChunk({ role: "assistant", content: "" }),
  ...WORDS.map((content) => chatChunk({ content })),
  ": still there\n\n",
  ...MORE.map((content) => chatChunk({ content })),
];
const END = [chatChunk({}, "stop"), DONE];

interface Format {
  path: string;
  textOf(event: Record<string, unknown>): string;
}

const FORMATS: Format[] = [
  {
    path: "/v1/chat/completions",
    textOf: ({ choices }) => (choices as { delta?: { content?: string } }[])?.[0]?.delta?.content ?? "",
  },
  { path: "/v1/messages", textOf: ({ delta }) => (delta as { text?: string })?.text ?? "" },
];

interface Reading {
  /** Behind the pieces the connection breaks off. */
  breaks?: boolean;
  /** The caller leaves once it has this text; what follows comes then. */
  leavesAt?: string;
}

/** The stream that a caller gets of an answer that arrives in these pieces, and its record. */
async function read({ path, textOf }: Format, pieces: readonly string[], { breaks, leavesAt }: Reading = {}) {
  const went = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const clock = new StoppedClock();
  let sent = "";
  let at = 0;
  const provider = loopbackProvider(() =>
    new Response(
      new ReadableStream({
        async pull(controller) {
          if (at === pieces.length) {
            return breaks ? controller.error(new Error("the provider breaks off")) : controller.close();
          }
          if (leavesAt !== undefined && sent.includes(leavesAt)) await went.promise;
          // Each is read by itself.
          await turns(3);
          sent += pieces[at];
          controller.enqueue(encoder.encode(pieces[at++]));
        },
      }, { highWaterMark: 0 }),
      { headers: { "content-type": "text/event-stream" } },
    )
  );
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url + "/v1" } }, {}, {
    clock,
    onRequest: (request) => request.signal.addEventListener("abort", () => left.resolve()),
  });
  const abort = new AbortController();
  const response = await gateway.post(path, {
    model: "p/model",
    stream: true,
    max_tokens: 100,
    messages: [{ role: "user", content: "hi" }],
  }, { signal: abort.signal });
  assertEquals(response.status, 200);
  const decoder = new TextDecoder();
  let events = "";
  const reader = response.body!.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
    if (done) break;
    events += decoder.decode(value, { stream: true });
    if (leavesAt === undefined || abort.signal.aborted || !events.includes(leavesAt)) continue;
    abort.abort();
    await left.promise;
    // Calls look at their connections now and then.
    await clock.moveOn(1000);
    went.resolve();
  }
  await gateway.gateway.idle();
  const { data: [{ status, usage, usage_estimated, client_gone }] } = await gateway.gateway.accounts
    .generations({});
  await gateway.close();
  await provider.close();
  const text = [...events.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => textOf(JSON.parse(data))).join("");
  return { text, record: { status, usage, usage_estimated, client_gone } };
}

for (const format of FORMATS) {
  Deno.test(`${format.path}: frames that arrive one by one are sent and counted like all of them at once`, async () => {
    const one = await read(format, [...FRAMES, ...END]);
    const once = await read(format, [[...FRAMES, ...END].join("")]);
    assertEquals(one, once);
    assertEquals([one.text, one.record.status, one.record.usage_estimated], [TOLD, "completed", true]);
    const reported = await read(format, [...FRAMES, USAGE, ...END]);
    assertEquals([reported.text, reported.record.usage?.output_tokens], [TOLD, 70]);
  });

  Deno.test(`${format.path}: frames that are split anywhere are sent unchanged`, async () => {
    const all = [...FRAMES, ...END].join("");
    const cut = all.match(/[^]{1,60}/gu)!;
    assert(cut.length > FRAMES.length);
    assertEquals((await read(format, cut)).text, TOLD);
  });

  Deno.test(`${format.path}: text before a lost connection is sent, and the call fails`, async () => {
    const { text, record } = await read(format, FRAMES, { breaks: true });
    assertEquals([text, record.status], [TOLD, "failed"]);
  });

  Deno.test(`${format.path}: a caller who leaves among frames pays for all of them`, async () => {
    const whole = await read(format, [...FRAMES, ...END]);
    const { record } = await read(format, [...FRAMES, ...END], { leavesAt: "afar" });
    assertEquals(record, { ...whole.record, client_gone: true });
  });
}
