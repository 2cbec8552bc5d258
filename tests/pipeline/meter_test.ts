/** The record and the caller: which of the two is first, and what is recorded of a call that breaks. */
import { assertEquals } from "@std/assert";
import { loopbackProvider, sseResponse } from "../support/provider.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { eventually, turns } from "../support/time.ts";

const chunk = (fields: Record<string, unknown>) => `data: ${JSON.stringify({ id: "c", ...fields })}\n\n`;
const TEXT = chunk({ choices: [{ index: 0, delta: { content: "hello" }, finish_reason: null }] });
const STOP = chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
const USAGE = chunk({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } });
const DONE = "data: [DONE]\n\n";

/** Path, and the words that end a stream. */
const FORMATS = {
  chat_completions: ["/v1/chat/completions", "[DONE]"],
  messages: ["/v1/messages", "message_stop"],
  responses: ["/v1/responses", "response.completed"],
} as const;

function bodyOf(format: keyof typeof FORMATS, stream: boolean) {
  const model = "p/model";
  if (format === "responses") return { model, stream, input: "hi" };
  return { model, stream, max_tokens: 50, messages: [{ role: "user", content: "hi" }] };
}

for (const [format, [path, end]] of Object.entries(FORMATS)) {
  for (const stream of [true, false]) {
    const title = `${format}: the caller sees no end before the record is written, stream ${stream}`;
    Deno.test(title, async () => {
      const provider = loopbackProvider(() =>
        stream ? sseResponse([TEXT, STOP, USAGE, DONE]) : Response.json({
          id: "c",
          choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
          usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
        })
      );
      const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } });
      let letWrite = () => {};
      const mayWrite = new Promise<void>((resolve) => letWrite = resolve);
      let seen = "";
      let seenBefore: string | null = null;
      // The ledger takes its time: whatever the caller is told meanwhile is told too early.
      const { accounts } = gateway.gateway;
      const { admit } = accounts;
      accounts.admit = async (request) => {
        const reservation = await admit(request);
        return {
          rates: reservation.rates,
          output: reservation.output,
          extend: (spent, next) => reservation.extend(spent, next),
          release: () => reservation.release(),
          async settle(ending, prices) {
            // What comes before the end may take its time, too.
            if (stream) await eventually(() => seen.includes("hello"));
            await turns(20);
            seenBefore = seen;
            letWrite();
            await reservation.settle(ending, prices);
          },
        };
      };
      try {
        const response = await gateway.post(path, bodyOf(format as keyof typeof FORMATS, stream));
        if (!stream) seen = "the status";
        for await (const text of response.body!.pipeThrough(new TextDecoderStream())) seen += text;
        await mayWrite;
        assertEquals(seen.includes(stream ? end : "hello"), true);
        if (stream) assertEquals([seenBefore!.includes("hello"), seenBefore!.includes(end)], [true, false]);
        else assertEquals(seenBefore, "");
      } finally {
        await gateway.close();
        await provider.close();
      }
    });
  }
}

Deno.test("an answer that breaks off leaves a record that costs nothing; a refused call leaves none", async () => {
  const provider = loopbackProvider((_, nth) => {
    if (nth === 0) return Response.json({ error: { message: "no" } }, { status: 400 });
    const pieces = [TEXT, USAGE];
    let i = 0;
    const encoder = new TextEncoder();
    return new Response(
      new ReadableStream<Uint8Array>({
        pull(controller) {
          if (i === pieces.length) controller.error(new Error("broken"));
          else controller.enqueue(encoder.encode(pieces[i++]));
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  });
  const gateway = await testGateway({
    p: { api: "openai-chat", url: provider.url, model: { pricing: { prompt: "1", completion: "1" } } },
  }, { keys: [{ name: "test", secret: SECRET }] });
  try {
    for (let i = 0; i < 2; i++) {
      await (await gateway.post("/v1/messages", bodyOf("messages", true))).text();
    }
    await gateway.gateway.idle();
    const { data } = await gateway.gateway.accounts.generations({});
    assertEquals(
      data.map((g) => [g.status, g.error_code, g.provider, g.cost]),
      [["failed", "provider_unavailable", "p", "0.00"]],
    );
  } finally {
    await gateway.close();
    await provider.close();
  }
});
