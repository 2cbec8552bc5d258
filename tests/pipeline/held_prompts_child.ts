/**
 * Prints how many bytes a call holds whose messages have a megabyte: of each kind once its stream has begun, and of one whose
 * provider has not answered yet. Run with --v8-flags=--expose-gc.
 */
import { chatChunk } from "../support/answers.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { eventually, turns } from "../support/time.ts";

const CALLS = 8;
const BYTES = 1_000_000;

const gc = (globalThis as unknown as { gc(options: { type: string }): void }).gc;

const text = (of: number) => `${of}: ${"lorem ipsum ".repeat(BYTES / 12)}`;
const messages = (of: number) => [{ role: "user", content: text(of) }];

interface Asked {
  path: string;
  /** Lines of its head. */
  head?: string;
  body: Record<string, unknown>;
}

const KINDS: Record<string, (of: number) => Asked> = {
  chat_completions: (of) => ({ path: "chat/completions", body: { messages: messages(of) } }),
  messages: (of) => ({ path: "messages", body: { max_tokens: 9, messages: messages(of) } }),
  responses: (of) => ({ path: "responses", body: { input: text(of) } }),
  screened: (of) => ({
    path: "chat/completions",
    body: { messages: messages(of), plugins: { dlp: { mode: "mask", answers: "mask" } } },
  }),
  repaired: (of) => ({
    path: "chat/completions",
    head: "x-svc-repair: true\r\n",
    body: { messages: messages(of) },
  }),
};

const encoder = new TextEncoder();
let silent = false;
const held: ReadableStreamDefaultController<Uint8Array>[] = [];
const provider = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
  for await (const _ of request.body!);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      held.push(controller);
      if (!silent) controller.enqueue(encoder.encode(chatChunk({ role: "assistant", content: "hi" })));
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
});
const gateway = await testGateway({
  p: { api: "openai-chat", url: `http://127.0.0.1:${provider.addr.port}/v1` },
});
const port = Number(new URL(gateway.url).port);

/** Sends a request, and keeps nothing of it. */
async function send({ path, head: more = "", body }: Asked): Promise<Deno.TcpConn> {
  const bytes = encoder.encode(JSON.stringify({ model: "p/model", stream: true, ...body }));
  const head = `POST /v1/${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${SECRET}\r\n${more}` +
    `content-type: application/json\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  for (let rest of [encoder.encode(head), bytes]) {
    while (rest.length > 0) rest = rest.subarray(await conn.write(rest));
  }
  return conn;
}

/** Bytes that each of so many calls of one kind holds. */
async function each(kind: string): Promise<number> {
  const conns: Deno.TcpConn[] = [];
  const open = async (of: number) => {
    const before = held.length;
    const conn = await send(KINDS[kind](of));
    conns.push(conn);
    if (silent) await eventually(() => held.length > before);
    else await conn.read(new Uint8Array(4096));
  };
  const used = async () => {
    await turns(20);
    gc({ type: "major" });
    return Deno.memoryUsage().heapUsed;
  };
  // What the first call loads.
  await open(0);
  const before = await used();
  for (let of = 1; of <= CALLS; of++) await open(of);
  const after = await used();
  for (const controller of held.splice(0)) controller.close();
  for (const conn of conns) conn.close();
  return Math.round((after - before) / CALLS);
}

const found: Record<string, number> = {};
for (const kind of Object.keys(KINDS)) found[kind] = await each(kind);
silent = true;
found.unanswered = await each("chat_completions");
console.log(JSON.stringify(found));
Deno.exit(0);
