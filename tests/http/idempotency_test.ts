/** Requests that may be repeated: one generation, one record, one bill, whoever asks how often and where. */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";
import { eventually } from "../support/time.ts";
import { onCluster } from "../support/cluster.ts";

const OTHER = "sk_live_otherkeyotherkeyotherkey0002";
const KEYS = [{ name: "test", secret: SECRET }, { name: "other", secret: OTHER }];
const WHOLE = {
  id: "c",
  object: "chat.completion",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
};
const part = (delta: unknown, finish: string | null = null) =>
  `data: ${
    JSON.stringify({
      id: "c",
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
  }\n\n`;
const STREAM = [
  part({ content: "hel" }),
  part({ content: "lo" }),
  part({}, "stop"),
  `data: ${JSON.stringify({ id: "c", choices: [], usage: WHOLE.usage })}\n\n`,
  "data: [DONE]\n\n",
];
const PATHS = { chat: "/v1/chat/completions", messages: "/v1/messages", responses: "/v1/responses" } as const;

function bodyOf(format: keyof typeof PATHS, stream: boolean, text = "hi"): Record<string, unknown> {
  const model = "p/model";
  if (format === "responses") return { model, stream, input: text };
  return { model, stream, max_tokens: 50, messages: [{ role: "user", content: text }] };
}

/** A provider that counts its calls, answers when it may, and refuses the first so many. */
function counting({ refusals = 0 } = {}) {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let calls = 0;
  const provider = loopbackProvider(async ({ body: { stream } }) => {
    calls++;
    asked.resolve();
    await gate.promise;
    if (calls <= refusals) return Response.json({ error: { message: "no" } }, { status: 500 });
    return stream ? sseResponse(STREAM) : Response.json(WHOLE);
  });
  return {
    url: `${provider.url}/v1`,
    close: () => provider.close(),
    asked: asked.promise,
    get calls() {
      return calls;
    },
    open: () => gate.resolve(),
  };
}

const headersOf = (key: string, more: Record<string, string> = {}) => ({
  headers: { "x-svc-resume": "true", "idempotency-key": key, ...more },
});

async function seen(response: Response) {
  const { status, headers } = response;
  return {
    status,
    id: headers.get("x-request-id"),
    joined: headers.get("x-svc-joined"),
    text: await response.text(),
  };
}

async function recordsOf(gateway: TestGateway) {
  await gateway.gateway.idle();
  await gateway.gateway.accounts.flush();
  return (await gateway.gateway.accounts.generations({})).data;
}

async function withGateway(
  body: (gateway: TestGateway, provider: ReturnType<typeof counting>) => Promise<void>,
  options: { refusals?: number } = {},
): Promise<void> {
  const provider = counting(options);
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } }, { keys: KEYS });
  try {
    await body(gateway, provider);
  } finally {
    provider.open();
    await gateway.close();
    await provider.close();
  }
}

for (const format of Object.keys(PATHS) as (keyof typeof PATHS)[]) {
  for (const stream of [false, true]) {
    Deno.test(`${format}, stream ${stream}: repeats join while it runs and when it has ended`, async () => {
      await withGateway(async (gateway, provider) => {
        const ask = () => gateway.post(PATHS[format], bodyOf(format, stream), headersOf("one")).then(seen);
        const first = ask();
        await provider.asked;
        const others = [ask(), ask(), ask()];
        provider.open();
        const own = await first;
        assertEquals([own.status, own.joined], [200, null]);
        for (const other of [...await Promise.all(others), await ask()]) {
          assertEquals(other, { ...own, joined: "true" });
        }
        assertEquals(provider.calls, 1);
        assertEquals((await recordsOf(gateway)).map((g) => [g.id, g.usage?.output_tokens]), [[own.id, 7]]);
      });
    });

    Deno.test(`${format}, stream ${stream}: another request under the key is refused by name`, async () => {
      await withGateway(async (gateway, provider) => {
        provider.open();
        const post = (body: unknown, more: Record<string, string> = {}) =>
          gateway.post(PATHS[format], body, headersOf("one", more));
        const body = bodyOf(format, stream);
        const own = await seen(await post(body));
        const refused = await post(bodyOf(format, stream, "something else"));
        assertEquals(refused.status, 422);
        const { error } = await refused.json();
        assertEquals(error.code, "validation_error");
        assertEquals(error.param ?? error.details.param, "Idempotency-Key");
        // The same in other words is the same.
        const turned = Object.fromEntries(Object.entries(body).reverse());
        const again = await seen(await post(JSON.stringify(turned, null, 2)));
        assertEquals([again.id, again.joined], [own.id, "true"]);
        // Headers that the answer depends on are part of the request; those that say what it is for are not.
        assertEquals((await post(body, { "x-svc-repair": "true" })).status, 422);
        assertEquals((await post(body, { "anthropic-beta": "some" })).status, 422);
        assertEquals((await seen(await post(body, { "x-svc-tags": "a=b" }))).id, own.id);
        // The same text of another key is another one's.
        const others = await seen(await post(body, { authorization: `Bearer ${OTHER}` }));
        assertEquals([others.status, others.joined], [200, null]);
        assertNotEquals(others.id, own.id);
        assertEquals(provider.calls, 2);
      });
    });
  }
}

Deno.test("the same body in another format is another request", async () => {
  await withGateway(async (gateway, provider) => {
    provider.open();
    const body = bodyOf("chat", false);
    assertEquals((await seen(await gateway.post(PATHS.chat, body, headersOf("k")))).status, 200);
    assertEquals((await seen(await gateway.post(PATHS.messages, body, headersOf("k")))).status, 422);
  });
});

Deno.test("a key has 1 to 255 characters, where it counts", async () => {
  await withGateway(async (gateway, provider) => {
    provider.open();
    const ask = async (key: string, resume?: string) => {
      const response = await gateway.post(PATHS.responses, bodyOf("responses", false), {
        headers: { "idempotency-key": key, ...(resume !== undefined && { "x-svc-resume": resume }) },
      });
      return { status: response.status, error: (await response.json()).error };
    };
    for (const key of ["", "x".repeat(256)]) {
      const { status, error } = await ask(key, "true");
      assertEquals([status, error?.code, error?.param], [422, "validation_error", "Idempotency-Key"]);
      assertEquals((await ask(key)).status, 200);
    }
    assertEquals((await ask("x".repeat(255), "true")).status, 200);
    assertEquals((await ask("é !\"'%", "true")).status, 200);
    // Without the other header it is none of our business: clients send it to everybody.
    const before = provider.calls;
    await ask("same");
    await ask("same");
    assertEquals(provider.calls, before + 2);
  });
});

for (const stream of [false, true]) {
  Deno.test(`a refusal is told to those who wait for it, and the next repeat runs anew, stream ${stream}`, async () => {
    await withGateway(async (gateway, provider) => {
      const ask = () => gateway.post(PATHS.chat, bodyOf("chat", stream), headersOf("one")).then(seen);
      const first = ask();
      await provider.asked;
      const waiting = ask();
      await eventually(async () =>
        (await (await fetch(`${gateway.url}/metrics`)).text()).includes('outcome="joined"} 1')
      );
      provider.open();
      const [own, other] = await Promise.all([first, waiting]);
      assertEquals(own.status, 502);
      assertEquals(other, { ...own, joined: "true" });
      const next = await ask();
      assertEquals([next.status, next.joined, provider.calls], [200, null, 2]);
      assertEquals((await recordsOf(gateway)).filter((g) => g.usage !== null).length, 1);
    }, { refusals: 1 });
  });
}

Deno.test("a request that never began gives its key back", async () => {
  await withGateway(async (gateway, provider) => {
    provider.open();
    const wrong = await gateway.post(PATHS.chat, { ...bodyOf("chat", true), model: "p/none" }, headersOf("k"))
      .then(seen);
    assertEquals(wrong.status, 404);
    const right = await gateway.post(PATHS.chat, bodyOf("chat", true), headersOf("k")).then(seen);
    assertEquals([right.status, right.joined], [200, null]);
  });
});

async function twoNodes(store: Record<string, unknown>): Promise<void> {
  const provider = counting();
  const config = { keys: KEYS, store };
  const node = () => testGateway({ p: { api: "openai-chat", url: provider.url } }, config);
  const nodes = [await node(), await node()];
  try {
    const wanted: Promise<{ stream: boolean; i: number; answer: Awaited<ReturnType<typeof seen>> }>[] = [];
    for (let i = 0; i < 10; i++) {
      for (const stream of [true, false]) {
        for (const gateway of [...nodes, ...nodes]) {
          const asked = gateway.post(PATHS.chat, bodyOf("chat", stream), headersOf(`k${i}${stream}`));
          wanted.push(asked.then(seen).then((answer) => ({ stream, i, answer })));
        }
      }
    }
    await provider.asked;
    provider.open();
    const groups = Map.groupBy(await Promise.all(wanted), ({ stream, i }) => `${i}${stream}`);
    for (const answers of groups.values()) {
      const [one] = answers;
      for (const { answer } of answers) {
        assertEquals([answer.status, answer.id, answer.text], [200, one.answer.id, one.answer.text]);
      }
      assertEquals(answers.filter(({ answer }) => answer.joined === null).length, 1);
    }
    assertEquals(provider.calls, 20);
    const records = (await recordsOf(nodes[0])).concat(await recordsOf(nodes[1]));
    assertEquals(new Set(records.map(({ id }) => id)).size, 20);
    assert(records.every((g) => g.usage?.output_tokens === 7));
  } finally {
    provider.open();
    for (const gateway of nodes) await gateway.close();
    await provider.close();
  }
}

const TITLE = "of repeats on two nodes at the same instant exactly one runs";

Deno.test(`sqlite: ${TITLE}`, async () => {
  const folder = await Deno.makeTempDir();
  await twoNodes({ url: `sqlite:${folder}/store.db` });
  await Deno.remove(folder, { recursive: true });
});

onCluster((cluster) => {
  Deno.test(`postgres: ${TITLE}`, async () => {
    const folder = await Deno.makeTempDir();
    await twoNodes({ url: cluster().url, journal: `${folder}/node` });
    await Deno.remove(folder, { recursive: true });
  });
});
