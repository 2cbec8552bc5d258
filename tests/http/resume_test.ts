/** Streams that come back: what a client puts together of pieces is byte for byte the one answer. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { chatChunk } from "../support/answers.ts";
import { SECRET, type TestGateway, testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";
import { eventually, StoppedClock } from "../support/time.ts";

const WORDS = Array.from({ length: 30 }, (_, i) => `word${i} `);
const USAGE = `data: ${
  JSON.stringify({
    id: "c",
    choices: [],
    usage: { prompt_tokens: 5, completion_tokens: 30, total_tokens: 35 },
  })
}\n\n`;
const FRAMES = [
  ...WORDS.map((content) => chatChunk({ content })),
  chatChunk({}, "stop"),
  USAGE,
  "data: [DONE]\n\n",
];

const FORMATS = {
  chat: {
    path: "/v1/chat/completions",
    body: { model: "p/model", stream: true, messages: [{ role: "user", content: "hi" }] },
  },
  messages: {
    path: "/v1/messages",
    body: { model: "p/model", stream: true, max_tokens: 99, messages: [{ role: "user", content: "hi" }] },
  },
  responses: { path: "/v1/responses", body: { model: "p/model", stream: true, input: "hi" } },
} as const;
type Format = keyof typeof FORMATS;

const RESUME = { "x-svc-resume": "true" };

/** A provider that goes on when it is told to. */
function steered() {
  const gates = FRAMES.map(() => Promise.withResolvers<void>());
  let calls = 0;
  const provider = loopbackProvider(() => {
    calls++;
    const encoder = new TextEncoder();
    return new Response(
      new ReadableStream({
        async start(controller) {
          for (const [i, frame] of FRAMES.entries()) {
            await gates[i].promise;
            controller.enqueue(encoder.encode(frame));
          }
          controller.close();
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  });
  return {
    url: `${provider.url}/v1`,
    close: () => provider.close(),
    get calls() {
      return calls;
    },
    /** Lets frames out, up to one of them. */
    open: (until = FRAMES.length) => gates.slice(0, until).forEach(({ resolve }) => resolve()),
  };
}

async function withGateway(
  body: (gateway: TestGateway, provider: ReturnType<typeof steered>) => Promise<void>,
  config: Record<string, unknown> = {},
): Promise<void> {
  const provider = steered();
  const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } }, config);
  try {
    await body(gateway, provider);
  } finally {
    provider.open();
    await gateway.close();
    await provider.close();
  }
}

function resume(
  gateway: TestGateway,
  id: string,
  { last, query, secret = SECRET }: { last?: string; query?: string; secret?: string } = {},
): Promise<Response> {
  const search = query === undefined ? "" : `?starting_after=${encodeURIComponent(query)}`;
  return fetch(`${gateway.url}/v1/generations/${id}/stream${search}`, {
    headers: { authorization: `Bearer ${secret}`, ...(last !== undefined && { "last-event-id": last }) },
  });
}

const idsOf = (text: string) => [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id);
const eventsOf = (text: string) =>
  text.split("\n\n").filter((event) => event !== "" && !event.startsWith(":"));
/** What of it is no event, and what only its id is. */
const plain = (text: string) => text.replaceAll(/^id: .*\n/gm, "").replaceAll(/^:.*\n\n/gm, "");
const idOf = (response: Response) => response.headers.get("x-request-id")!;

async function readEvents(response: Response, count: number): Promise<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (eventsOf(text.slice(0, text.lastIndexOf("\n\n") + 2)).length < count) {
    const { value, done } = await reader.read();
    if (done) break;
    text += value;
  }
  await reader.cancel();
  return eventsOf(text).slice(0, count).map((event) => `${event}\n\n`).join("");
}

for (const format of Object.keys(FORMATS) as Format[]) {
  const { path, body } = FORMATS[format];

  Deno.test(`${format}: every event has an id, and without them it is the stream that others get`, async () => {
    await withGateway(async (gateway, provider) => {
      provider.open();
      const kept = await gateway.post(path, body, { headers: RESUME });
      assertEquals([kept.status, kept.headers.get("x-svc-resume")], [200, "300"]);
      const id = idOf(kept);
      const text = await kept.text();
      assertEquals(idsOf(text), eventsOf(text).map((_, i) => `${id}:${i}`));
      const other = await gateway.post(path, body);
      assertEquals(other.headers.get("x-svc-resume"), null);
      const same = (text: string) =>
        plain(text).replaceAll(/(?:gen|resp|msg|chatcmpl)_\w+/g, "ID").replaceAll(
          /"(created|created_at|completed_at)":\d+/g,
          "",
        );
      assertEquals(same(text), same(await other.text()));
      assertEquals((await resume(gateway, idOf(other))).status, 404);
    });
  });

  Deno.test(`${format}: after a cut the stream goes on behind the last event, live and to the same end`, async () => {
    await withGateway(async (gateway, provider) => {
      provider.open(10);
      const first = await gateway.post(path, body, { headers: RESUME });
      const id = idOf(first);
      const had = await readEvents(first, 7);
      const back = await resume(gateway, id, { last: idsOf(had).at(-1) });
      assertEquals(back.status, 200);
      assertEquals(back.headers.get("x-request-id"), id);
      provider.open();
      const rest = await back.text();
      const whole = await (await resume(gateway, id)).text();
      assertEquals(had + rest, whole);
      assertEquals(idsOf(whole), eventsOf(whole).map((_, i) => `${id}:${i}`));
      for (const query of [`${id}:11`, "11"]) {
        const text = await (await resume(gateway, id, { query })).text();
        assertEquals(text, whole.slice(whole.indexOf(`id: ${id}:12\n`)));
      }
      const behind = await resume(gateway, id, { last: idsOf(whole).at(-1) });
      assertEquals([behind.status, await behind.text()], [204, ""]);
      assertEquals(provider.calls, 1);
      const { data } = await gateway.gateway.accounts.generations({});
      assertEquals(data.map((g) => [g.id, g.status, g.usage?.output_tokens]), [[id, "completed", 30]]);
    });
  });
}

Deno.test("a stream is there for its own key alone", async () => {
  const other = "sk_live_otherkeyotherkeyotherkey0002";
  await withGateway(async (gateway, provider) => {
    provider.open();
    const response = await gateway.post(FORMATS.chat.path, FORMATS.chat.body, { headers: RESUME });
    await response.text();
    const id = idOf(response);
    assertEquals((await resume(gateway, id)).status, 200);
    for (
      const [asked, secret] of [[id, other], [`${id.slice(0, -1)}x`, SECRET], ["gen_1", SECRET], [
        "%00",
        SECRET,
      ]]
    ) {
      const refused = await resume(gateway, asked, { secret });
      assertEquals([refused.status, (await refused.json()).error.code], [404, "not_found"]);
    }
    assertEquals((await resume(gateway, id, { secret: "sk_live_wrong" })).status, 401);
    // Clients of the messages format send their key so.
    const byHeader = await fetch(`${gateway.url}/v1/generations/${id}/stream`, {
      headers: { "x-api-key": SECRET },
    });
    assertEquals(byHeader.status, 200);
    await byHeader.text();
  }, { keys: [{ name: "test", secret: SECRET }, { name: "other", secret: other }] });
});

Deno.test("an id that is none of the stream's events is refused by name", async () => {
  await withGateway(async (gateway, provider) => {
    provider.open();
    const response = await gateway.post(FORMATS.chat.path, FORMATS.chat.body, { headers: RESUME });
    const text = await response.text();
    const id = idOf(response);
    const count = eventsOf(text).length;
    const wrong = [
      "x",
      "-1",
      `${id}:-1`,
      `${id}:`,
      `gen_0123:1`,
      `${id}:${count}`,
      `${id}:99999999999999999999999`,
      "9007199254740993",
      `${id}:1 or 1`,
      "1e3",
    ];
    for (const last of wrong) {
      const refused = await resume(gateway, id, { last });
      const { error } = await refused.json();
      assertEquals([last, refused.status, error.code, error.param], [
        last,
        422,
        "validation_error",
        "Last-Event-ID",
      ]);
      assertEquals((await resume(gateway, id, { query: last }).then(drained)).status, 422);
    }
    // Without an id, and with an empty one: from the start.
    assertEquals(await (await resume(gateway, id, { last: "" })).text(), text);
    // The header of a client that reconnects is newer than its address.
    const both = await fetch(`${gateway.url}/v1/generations/${id}/stream?starting_after=1`, {
      headers: { authorization: `Bearer ${SECRET}`, "last-event-id": `${id}:${count - 2}` },
    });
    assertEquals(eventsOf(await both.text()).length, 1);
  });
});

async function drained(response: Response): Promise<Response> {
  await response.body?.cancel();
  return response;
}

Deno.test("streams are kept for the time of their key, which may want it for all or for none", async () => {
  const secrets = ["", "2", "3"].map((n) => `sk_live_resumekeyresumekeyresume0${n}`);
  let now = Date.now();
  const provider = loopbackProvider(() => sseResponse(FRAMES));
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } }, {
    keys: [
      { name: "always", secret: secrets[0], resume_seconds: 2 },
      { name: "never", secret: secrets[1], resume_seconds: 0 },
      { name: "asked", secret: secrets[2] },
    ],
  }, { now: () => now });
  const ask = async (secret: string, resume?: string) => {
    const response = await gateway.post(FORMATS.chat.path, FORMATS.chat.body, {
      headers: { authorization: `Bearer ${secret}`, ...(resume !== undefined && { "x-svc-resume": resume }) },
    });
    const text = await response.text();
    return {
      id: idOf(response),
      said: response.headers.get("x-svc-resume"),
      ids: idsOf(text).length,
      response,
    };
  };
  const there = async (id: string, secret: string) =>
    (await resume(gateway, id, { secret }).then(drained)).status;
  try {
    const always = await ask(secrets[0]);
    assertEquals([always.said, always.ids > 0, await there(always.id, secrets[0])], ["2", true, 200]);
    const not = await ask(secrets[0], "false");
    assertEquals([not.said, not.ids, await there(not.id, secrets[0])], [null, 0, 404]);
    const never = await ask(secrets[1], "true");
    assertEquals([never.said, never.ids, await there(never.id, secrets[1])], ["unavailable", 0, 404]);
    assertEquals([(await ask(secrets[1])).said, (await ask(secrets[2])).said], [null, null]);
    const asked = await ask(secrets[2], "true");
    now += 1999;
    assertEquals(await there(always.id, secrets[0]), 200);
    now += 1;
    assertEquals(await there(always.id, secrets[0]), 404);
    assertEquals(await there(asked.id, secrets[2]), 200);
    now += 298_000;
    assertEquals(await there(asked.id, secrets[2]), 404);
    const wrong = await ask(secrets[2], "yes");
    assertEquals(wrong.response.status, 422);
  } finally {
    await gateway.close();
    await provider.close();
  }
});

Deno.test("many follow at once, one behind the other", async () => {
  await withGateway(async (gateway, provider) => {
    provider.open(5);
    const first = await gateway.post(FORMATS.messages.path, FORMATS.messages.body, { headers: RESUME });
    const id = idOf(first);
    const others = await Promise.all(
      [undefined, `${id}:0`, `${id}:2`].map((last) => resume(gateway, id, { last })),
    );
    provider.open();
    const [whole, ...parts] = await Promise.all([first, ...others].map((response) => response.text()));
    assertEquals(parts[0], whole);
    assertEquals(parts[1], whole.slice(whole.indexOf(`id: ${id}:1\n`)));
    assertEquals(parts[2], whole.slice(whole.indexOf(`id: ${id}:3\n`)));
  });
});

Deno.test("what is kept cannot be read without the pepper", async () => {
  const folder = await Deno.makeTempDir();
  await withGateway(async (gateway, provider) => {
    provider.open();
    await (await gateway.post(FORMATS.chat.path, FORMATS.chat.body, { headers: RESUME })).text();
    let bytes = "";
    for (const { name } of Deno.readDirSync(folder)) {
      bytes += new TextDecoder("latin1").decode(Deno.readFileSync(`${folder}/${name}`));
    }
    assert(bytes.includes("stream_pieces"));
    for (const word of ["word7", "chat.completion", btoa("word7").slice(0, 5)]) {
      assert(!bytes.includes(word), word);
    }
  }, { store: { url: `sqlite:${folder}/store.db` } });
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a client that leaves does not end its stream, and comes back to the end of it", async () => {
  await withGateway(async (gateway, provider) => {
    provider.open(3);
    const first = await gateway.post(FORMATS.responses.path, FORMATS.responses.body, { headers: RESUME });
    const id = idOf(first);
    const had = await readEvents(first, 4);
    provider.open();
    await gateway.gateway.idle();
    const { data: [record] } = await gateway.gateway.accounts.generations({});
    assertEquals([record.status, record.client_gone], ["completed", true]);
    const back = await resume(gateway, id, { last: idsOf(had).at(-1) });
    const whole = had + await back.text();
    assertMatch(whole, /response\.completed[^]*\[DONE\]\n\n$/);
    const numbers = [...whole.matchAll(/"sequence_number":(\d+)/g)].map(([, n]) => Number(n));
    assertEquals(numbers, numbers.map((_, i) => i));
    assertEquals(idsOf(whole).length, numbers.length + 1);
  });
});

Deno.test("a key that was revoked cannot go on, and one that was rotated can with either secret", async () => {
  await withGateway(async (gateway, provider) => {
    provider.open();
    const { accounts } = gateway.gateway;
    const { key, secret } = await accounts.createKey({ name: "own" });
    const response = await gateway.post(FORMATS.chat.path, FORMATS.chat.body, {
      headers: { ...RESUME, authorization: `Bearer ${secret}` },
    });
    const text = await response.text();
    const id = idOf(response);
    const rotated = await accounts.rotateKey(key.id, { overlapSeconds: 60 });
    for (const one of [secret, rotated.secret]) {
      assertEquals(await (await resume(gateway, id, { secret: one })).text(), text);
    }
    await accounts.revokeKey(key.id);
    assertEquals((await resume(gateway, id, { secret: rotated.secret }).then(drained)).status, 401);
  });
});

Deno.test("no more than sixty-four read one stream", async () => {
  await withGateway(async (gateway, provider) => {
    provider.open(3);
    const first = await gateway.post(FORMATS.chat.path, FORMATS.chat.body, { headers: RESUME });
    const id = idOf(first);
    const readers = await Promise.all(Array.from({ length: 70 }, () => resume(gateway, id)));
    const codes = Map.groupBy(readers, ({ status }) => status);
    assertEquals([codes.get(200)?.length, codes.get(503)?.length], [63, 7]);
    provider.open();
    const texts = await Promise.all([first, ...codes.get(200)!].map((r) => r.text()));
    for (const text of texts) assertEquals(text, texts[0]);
    await Promise.all(codes.get(503)!.map(drained));
  });
});

Deno.test("what is kept of a masked call is what its caller got", async () => {
  const provider = loopbackProvider(({ text }) => {
    const placeholder = /<EMAIL_ADDRESS_1>/.exec(text)?.[0] ?? "none";
    return sseResponse([
      chatChunk({ content: `Write to ${placeholder.slice(0, 5)}` }),
      chatChunk({ content: `${placeholder.slice(5)} now.` }),
      chatChunk({}, "stop"),
      USAGE,
      "data: [DONE]\n\n",
    ]);
  });
  const gateway = await testGateway({ p: { api: "openai-chat", url: `${provider.url}/v1` } }, {
    keys: [{ name: "test", secret: SECRET, dlp_policy: "mask" }],
    dlp_policies: { mask: { mode: "mask", entity_types: ["EMAIL_ADDRESS"] } },
    dlp: { enabled: true, restore: true },
  });
  try {
    const response = await gateway.post(FORMATS.chat.path, {
      ...FORMATS.chat.body,
      messages: [{ role: "user", content: "My address is someone@example.org." }],
    }, { headers: RESUME });
    const text = await response.text();
    const said = [...text.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content).join("");
    assertEquals(said, "Write to someone@example.org now.");
    assertEquals(await (await resume(gateway, idOf(response))).text(), text);
  } finally {
    await gateway.close();
    await provider.close();
  }
});

Deno.test("a silent stream keeps its followers, and its own keep-alives have ids where they are events", async () => {
  for (const format of ["messages", "chat"] as const) {
    const { clock, options } = stopped();
    const provider = steered();
    const gateway = await testGateway({ p: { api: "openai-chat", url: provider.url } }, {}, options);
    try {
      const asked = gateway.post(FORMATS[format].path, FORMATS[format].body, { headers: RESUME });
      await eventually(() => provider.calls === 1);
      await clock.moveOn(15_000);
      const first = await asked;
      const id = idOf(first);
      const back = await resume(gateway, id);
      provider.open();
      const [text, again] = await Promise.all([first.text(), back.text()]);
      assertEquals(plain(again), plain(text));
      assertEquals(idsOf(text), eventsOf(text).map((_, i) => `${id}:${i}`));
      assertEquals(text.startsWith(`id: ${id}:0\nevent: ping`), format === "messages");
    } finally {
      await gateway.close();
      await provider.close();
    }
  }
});

function stopped() {
  const clock = new StoppedClock();
  return { clock, options: { clock } };
}
