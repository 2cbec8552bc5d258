/** Many who read what is kept: repeats that join a generation are bounded as those are who come back to its stream. */
import { assertEquals } from "@std/assert";
import { SECRET, testGateway } from "../support/gateway.ts";
import { eventually } from "../support/time.ts";
import { loopbackProvider } from "../support/provider.ts";

const OTHER = "sk_live_otherkeyotherkeyotherkey0002";
const PATH = "/v1/chat/completions";
const USAGE = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };

interface Rig {
  /** The provider has been asked. */
  asked: Promise<void>;
  /** Asks for the same again and again. */
  ask(options?: { secret?: string }): Promise<Response>;
  open(): void;
}

/** @param size characters of an answer; @param server bounds */
async function withAnswers(
  { size, server = {} }: { size: number; server?: Record<string, unknown> },
  body: (rig: Rig) => Promise<void>,
): Promise<void> {
  const gate = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const content = "\u{1f600}".repeat(size / 2);
  const provider = loopbackProvider(async () => {
    began.resolve();
    await gate.promise;
    const message = { role: "assistant", content };
    return Response.json({ id: "c", choices: [{ index: 0, message, finish_reason: "stop" }], usage: USAGE });
  });
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } }, {
    server,
    keys: [{ name: "test", secret: SECRET }, { name: "other", secret: OTHER }],
  });
  try {
    await body({
      asked: began.promise,
      open: gate.resolve,
      ask: ({ secret = SECRET } = {}) =>
        // Between them is no socket, which would hold much of an answer that nobody takes.
        gateway.gateway.handle(
          new Request(gateway.url + PATH, {
            method: "POST",
            body: JSON.stringify({ model: "p/model", messages: [{ role: "user", content: "hi" }] }),
            headers: {
              authorization: `Bearer ${secret}`,
              "x-svc-resume": "true",
              "idempotency-key": "one",
            },
          }),
        ),
    });
  } finally {
    gate.resolve();
    await gateway.close();
    await provider.close();
  }
}

function count(responses: readonly Response[]): Record<number, number> {
  const found: Record<number, number> = {};
  for (const { status } of responses) found[status] = (found[status] ?? 0) + 1;
  return found;
}

const drained = (responses: readonly Response[]) => Promise.all(responses.map((r) => r.text()));

Deno.test("a long whole answer is read by as many repeats as the key has room for, and others have theirs", () =>
  withAnswers({ size: 256 << 10, server: { max_in_flight: 64 } }, async ({ ask, open }) => {
    open();
    const [first] = await drained([await ask()]);
    // Each counts for five readers, of which a key may have sixteen.
    const readers: Response[] = [];
    for (let i = 0; i < 6; i++) readers.push(await ask());
    assertEquals(count(readers), { 200: 3, 503: 3 });
    const others = [await ask({ secret: OTHER })];
    assertEquals(count(others), { 200: 1 });
    const taken = readers.filter((r) => r.status === 200);
    assertEquals(new Set(await drained(taken)), new Set([first]));
    // Who has taken all of it has left.
    await drained([...others, ...readers.filter((r) => r.status === 503)]);
    const again = await ask();
    assertEquals([again.status, await again.text()], [200, first]);
  }));

Deno.test("repeats that wait for an answer are as many as the key has room for", () =>
  withAnswers({ size: 10, server: { max_in_flight: 64 } }, async ({ ask, open, asked }) => {
    const first = ask();
    await asked;
    const repeats = Array.from({ length: 30 }, () => ask());
    let refused = 0;
    for (const repeat of repeats) void repeat.then(({ status }) => status === 503 && refused++);
    await eventually(() => refused === 14);
    open();
    const all = await Promise.all([first, ...repeats]);
    assertEquals(count(all), { 200: 17, 503: 14 });
    const texts = new Set(await drained(all.filter((r) => r.status === 200)));
    assertEquals(texts.size, 1);
    await drained(all.filter((r) => r.status !== 200));
  }));
