/** Who may go on with a stream, how many at once, and for how long streams are kept. */
import { assert, assertEquals } from "@std/assert";
import { SECRET, testGateway } from "../support/gateway.ts";
import { loopbackProvider, sseResponse } from "../support/provider.ts";
import { eventsOf, FORMATS, FRAMES, idOf, idsOf, RESUME, resume, withGateway } from "./resumable.ts";

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
    for (const value of wrong) {
      for (
        const [named, loc] of [[{ last: value }, ["header", "Last-Event-ID"]], [{ query: value }, [
          "query",
          "starting_after",
        ]]] as const
      ) {
        const refused = await resume(gateway, id, named);
        const { error } = await refused.json();
        assertEquals([value, refused.status, error.code, error.extra.errors[0].loc], [
          value,
          422,
          "validation_error",
          loc,
        ]);
      }
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
