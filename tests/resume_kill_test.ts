/** Gateways that are killed while streams run: every event that a client had received is there again, then the error. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { onCluster } from "./support/cluster.ts";
import { SECRET } from "./support/gateway.ts";
import { serveProgram, type Serving } from "./support/program.ts";
import { loopbackProvider } from "./support/provider.ts";
import { readResuming, seeded } from "./support/resuming.ts";
import { eventually, pause } from "./support/time.ts";

const ADMIN = "admin-key-of-the-test";
const PATHS = ["/v1/chat/completions", "/v1/messages", "/v1/responses"] as const;
const HEADERS = {
  authorization: `Bearer ${SECRET}`,
  "content-type": "application/json",
  "x-svc-resume": "true",
};

function bodyOf(path: typeof PATHS[number], stream = true): Record<string, unknown> {
  const base = { model: "p/model", stream };
  if (path === "/v1/responses") return { ...base, input: "hi" };
  return { ...base, max_tokens: 5000, messages: [{ role: "user", content: "hi" }] };
}

/** Says a word every few milliseconds, 400 in all; whole answers only when `release` is called. */
function slowProvider() {
  const released = Promise.withResolvers<void>();
  const frame = (value: unknown) => new TextEncoder().encode(`data: ${JSON.stringify(value)}\n\n`);
  const choice = (content: string, finish: string | null = null) => ({
    id: "c",
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
  });
  const usage = { prompt_tokens: 5, completion_tokens: 400, total_tokens: 405 };
  let gone = false;
  const provider = loopbackProvider(async ({ body }) => {
    if (body.stream !== true) {
      await released.promise;
      const message = { role: "assistant", content: "whole" };
      return Response.json({
        id: "c",
        model: "m",
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage,
      });
    }
    return new Response(
      ReadableStream.from((async function* () {
        for (let i = 0; i < 400 && !gone; i++) {
          yield frame(choice(`word${i} `));
          if (i % 4 === 0) await pause(5);
        }
        yield frame(choice("", "stop"));
        yield frame({ id: "c", choices: [], usage });
        yield new TextEncoder().encode("data: [DONE]\n\n");
      })()),
      { headers: { "content-type": "text/event-stream" } },
    );
  });
  return {
    url: `${provider.url}/v1`,
    seen: provider.seen,
    async close() {
      gone = true;
      released.resolve();
      await provider.close();
    },
  };
}

async function configured(store: Record<string, unknown>, use: (rig: Rig) => Promise<void>): Promise<void> {
  const cwd = await Deno.makeTempDir({ prefix: "sluice-resume-" });
  const provider = slowProvider();
  const started: Serving[] = [];
  const start = async (name = "one", args: string[] = []) => {
    await Deno.writeTextFile(
      `${cwd}/${name}.jsonc`,
      JSON.stringify({
        store: { ...store, ...("journal" in store && { journal: `${cwd}/${name}` }) },
        admin_key: ADMIN,
        providers: { p: { api: "openai-chat", base_url: provider.url, api_key: "k" } },
        models: [{ id: "p/model", routes: [{ provider: "p", model: "m" }] }],
        keys: [{ name: "test", secret: SECRET }],
      }),
    );
    const program = await serveProgram(["--config", `${cwd}/${name}.jsonc`, ...args], { cwd });
    started.push(program);
    return program;
  };
  const kill = async (program: Serving) => {
    program.kill("SIGKILL");
    await program.ended;
  };
  try {
    await use({ start, kill, provider });
  } finally {
    for (const program of started) {
      try {
        program.kill("SIGTERM");
      } catch {
        // It has ended.
      }
      await program.ended;
    }
    await provider.close();
    await Deno.remove(cwd, { recursive: true });
  }
}

interface Rig {
  start(name?: string, args?: string[]): Promise<Serving>;
  kill(program: Serving): Promise<void>;
  provider: ReturnType<typeof slowProvider>;
}

async function recordsAt(url: string): Promise<{ id: string; status: string }[]> {
  const response = await fetch(`${url}/admin/generations?limit=500`, {
    headers: { authorization: `Bearer ${ADMIN}` },
  });
  return (await response.json()).data;
}

const idsOf = (text: string) => [...text.matchAll(/^id: \S+:(\d+)$/gm)].map(([, n]) => Number(n));

/** Reads some streams until a kill, and the rest of each at another gateway. */
async function killedInTheMiddle(
  { kill }: Pick<Rig, "kill">,
  { victim, next, random }: { victim: Serving; next(): Promise<Serving>; random: () => number },
): Promise<void> {
  let url = victim.url;
  let later: Promise<Serving> | undefined;
  // A generation whose answer had not begun has no stream that a client could ask for.
  let waiting = PATHS.length * 2;
  const begun = Promise.withResolvers<void>();
  const killing = begun.promise.then(() => pause(random() * 250)).then(async () => {
    await kill(victim);
    later = next();
    url = (await later).url;
  });
  const streams = await Promise.all(Array.from({ length: PATHS.length * 2 }, (_, i) =>
    readResuming({
      url: () => url,
      path: PATHS[i % 3],
      body: bodyOf(PATHS[i % 3]),
      headers: { ...HEADERS, "idempotency-key": `stream ${i} of ${victim.pid}` },
      begun: () => --waiting === 0 && begun.resolve(),
      before: () => killing,
    })));
  await killing;
  const records = (await eventually(async () => {
    const found = await recordsAt(url);
    return streams.every(({ id }) => found.some((record) => record.id === id)) ? found : null;
  }))!;
  for (const { id, text, status } of streams) {
    assertEquals(idsOf(text), idsOf(text).map((_, i) => i));
    const whole = await (await fetch(`${url}/v1/generations/${id}/stream`, { headers: HEADERS })).text();
    assertEquals(text, whole);
    const own = records.filter((record) => record.id === id);
    assertEquals(own.length, 1);
    if (own[0].status === "interrupted") {
      assertMatch(text, /"code":"service_unavailable"[^]*?"message":"The generation was interrupted/);
    } else assert(text.includes("word399 ") && status <= 204);
    // Behind the last event, the error's, there is nothing.
    const behind = await fetch(`${url}/v1/generations/${id}/stream`, {
      headers: { ...HEADERS, "last-event-id": `${id}:${idsOf(text).at(-1)}` },
    });
    assertEquals([behind.status, await behind.text()], [204, ""]);
  }
}

Deno.test("sqlite: a gateway that is killed and started again has what its clients had received", async () => {
  await configured({ url: "sqlite:./store.db" }, async ({ start, kill, provider }) => {
    const random = seeded(7);
    for (let round = 0; round < 3; round++) {
      const victim = await start();
      const before = provider.seen.length;
      await killedInTheMiddle({ kill }, { victim, next: () => start(), random });
      assertEquals(provider.seen.length, before + 6);
    }
  });
});

Deno.test("a repeated request after a kill gets what was said and the error, and is not run again", async () => {
  await configured({ url: "sqlite:./store.db" }, async ({ start, kill, provider }) => {
    const ask = (url: string, stream: boolean) =>
      fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { ...HEADERS, "idempotency-key": `k${stream}` },
        body: JSON.stringify(bodyOf("/v1/chat/completions", stream)),
      });
    const victim = await start();
    const whole = ask(victim.url, false).catch(() => null);
    const stream = await ask(victim.url, true);
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
    let had = "";
    while (!had.includes("word20 ")) had += (await reader.read()).value;
    await eventually(() => provider.seen.length === 2);
    await kill(victim);
    await reader.cancel().catch(() => {});
    assertEquals(await whole, null);
    const { url } = await start();
    const again = await ask(url, true);
    assertEquals([again.status, again.headers.get("x-svc-joined")], [200, "true"]);
    const text = await again.text();
    assert(text.startsWith(had.slice(0, had.lastIndexOf("\n\n") + 2)));
    assertMatch(text, /The generation was interrupted[^]*\[DONE\]\n\n$/);
    const refused = await ask(url, false);
    assertEquals([refused.status, refused.headers.get("x-should-retry")], [503, "false"]);
    assertMatch((await refused.json()).error.message, /interrupted.*another Idempotency-Key/);
    assertEquals(provider.seen.length, 2);
  });
});

Deno.test("workers share streams and repeats, whichever a connection comes to", async () => {
  await configured({ url: "sqlite:./store.db" }, async ({ start, provider }) => {
    const { url } = await start("one", ["--workers", "2"]);
    const headers = { ...HEADERS, connection: "close", "idempotency-key": "one" };
    const ask = () =>
      fetch(url + PATHS[0], { method: "POST", headers, body: JSON.stringify(bodyOf(PATHS[0])) });
    const answers = await Promise.all(Array.from({ length: 8 }, ask));
    const id = answers[0].headers.get("x-request-id");
    const readers = Array.from({ length: 8 }, () => fetch(`${url}/v1/generations/${id}/stream`, { headers }));
    const texts = await Promise.all([...answers, ...await Promise.all(readers)].map((r) => r.text()));
    for (const text of texts) assertEquals(text.replaceAll(/^:.*\n\n/gm, ""), texts[0]);
    assert(texts[0].includes("word399 "));
    assertEquals(answers.filter((r) => r.headers.get("x-svc-joined") === null).length, 1);
    assertEquals(provider.seen.length, 1);
  });
});

onCluster((cluster) => {
  Deno.test("postgres: one of two nodes is killed, and the other has its streams", async () => {
    await configured({ url: cluster().url, journal: "" }, async ({ start, kill, provider }) => {
      const other = await start("two");
      const victim = await start();
      await killedInTheMiddle({ kill }, {
        victim,
        random: seeded(3),
        // It is missed at once where it is started again; otherwise after half a minute.
        next: async () => {
          await start();
          return other;
        },
      });
      assertEquals(provider.seen.length, 6);
    });
  });

  Deno.test("postgres: a stream is followed live on another node than its own", async () => {
    await configured({ url: cluster().url, journal: "" }, async ({ start, provider }) => {
      const [one, two] = [await start(), await start("two")];
      const nodes = [one, two];
      let at = 0;
      const streams = await Promise.all(PATHS.map(async (path) => {
        const first = await fetch(one.url + path, {
          method: "POST",
          headers: HEADERS,
          body: JSON.stringify(bodyOf(path)),
        });
        const id = first.headers.get("x-request-id")!;
        const there = fetch(`${two.url}/v1/generations/${id}/stream`, { headers: HEADERS });
        return await Promise.all([first.text(), there.then((r) => r.text())]);
      }));
      for (const [here, there] of streams) {
        assert(here.includes("word399 "));
        assertEquals(there.replaceAll(/^:.*\n\n/gm, ""), here);
      }
      // A client that comes back again and again, each time to the other one.
      const turning = await readResuming({
        url: () => nodes[at++ % 2].url,
        path: PATHS[0],
        body: bodyOf(PATHS[0]),
        headers: HEADERS,
      });
      assert(turning.text.includes("word399 "));
      assertEquals(provider.seen.length, 4);
    });
  });
});
