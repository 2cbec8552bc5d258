/** Resumed streams: what a client puts together of pieces is byte for byte the one answer. */
import { assertEquals, assertMatch } from "@std/assert";
import { chatChunk } from "../support/answers.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";
import { eventually, StoppedClock } from "../support/time.ts";
import {
  eventsOf,
  FORMATS,
  idOf,
  idsOf,
  readEvents,
  RESUME,
  resume,
  steered,
  USAGE,
  withGateway,
} from "./resumable.ts";

type Format = keyof typeof FORMATS;
/** What of it is no event, and what only its id is. */
const plain = (text: string) => text.replaceAll(/^id: .*\n/gm, "").replaceAll(/^:.*\n\n/gm, "");

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

Deno.test("a client that leaves does not end its stream, and comes back to the end of it", async () => {
  const left = Promise.withResolvers<void>();
  await withGateway(
    async (gateway, provider) => {
      provider.open(3);
      const first = await gateway.post(FORMATS.responses.path, FORMATS.responses.body, { headers: RESUME });
      const id = idOf(first);
      const had = await readEvents(first, 4);
      await left.promise;
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
    },
    {},
    { onRequest: ({ signal }) => signal.addEventListener("abort", () => left.resolve()) },
  );
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
