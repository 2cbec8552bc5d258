/** Several processes on one port, and what a single one does when it is told to end. */
import { assert, assertEquals } from "@std/assert";
import { SECRET } from "./support/gateway.ts";
import { runProgram, serveProgram, type Serving } from "./support/program.ts";
import { loopbackProvider, sseResponse } from "./support/provider.ts";
import { eventually } from "./support/time.ts";

const ADMIN = "the-admin-key-of-workers";
const linux = Deno.build.os === "linux";

/** A provider whose streams say one word, and another once `release` is called. */
function slowProvider() {
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  const chunk = (content: string, finish: string | null = null) =>
    `data: ${
      JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content }, finish_reason: finish }] })
    }\n\n`;
  const provider = loopbackProvider(({ body }) => {
    if (body.stream !== true) {
      const choices = [{ index: 0, message: { role: "assistant", content: "whole" }, finish_reason: "stop" }];
      const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
      return Response.json({ id: "c", object: "chat.completion", model: "m", choices, usage });
    }
    const last = new TextEncoder().encode(chunk(" last", "stop") + "data: [DONE]\n\n");
    const first = sseResponse([chunk("first")]).body!;
    return new Response(
      first.pipeThrough(
        new TransformStream({
          async flush(controller) {
            await held;
            controller.enqueue(last);
          },
        }),
      ),
      { headers: { "content-type": "text/event-stream" } },
    );
  });
  return { provider, release };
}

async function serving(
  args: readonly string[],
  use: (p: Serving & { cwd: string; release(): void }) => Promise<void>,
): Promise<void> {
  const cwd = await Deno.makeTempDir({ prefix: "sluice-workers-" });
  const { provider, release } = slowProvider();
  await Deno.writeTextFile(
    `${cwd}/sluice.jsonc`,
    JSON.stringify({
      admin_key: ADMIN,
      store: { url: "sqlite:./s.db" },
      providers: { p: { api: "openai-chat", base_url: provider.url } },
      models: [{
        id: "p/one",
        routes: [{ provider: "p", model: "m" }],
        pricing: { prompt: "0.001", completion: "0.001" },
      }],
      accounts: [{ name: "default", credits: "1.00" }],
      keys: [{ name: "test", secret: SECRET }],
    }),
  );
  const program = await serveProgram(["--config", "sluice.jsonc", ...args], { cwd });
  try {
    await use({ ...program, cwd, release });
  } finally {
    try {
      program.kill("SIGKILL");
    } catch {
      // It has ended, as it should.
    }
    await program.ended;
    await provider.close();
    await Deno.remove(cwd, { recursive: true });
  }
}

/** A connection of its own each time, so that the kernel deals anew. */
function ask(url: string, stream: boolean, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    signal,
    headers: { authorization: `Bearer ${SECRET}`, connection: "close" },
    body: JSON.stringify({
      model: "p/one",
      stream,
      max_tokens: 10,
      messages: [{ role: "user", content: "hi" }],
    }),
  });
}

/** Answers of each worker to requests for models, which are made until two have given some. One answer has the metrics of all. */
async function answersByWorker(url: string): Promise<string[]> {
  const workers: string[] = [];
  await eventually(async () => {
    const models = await fetch(`${url}/v1/models`, { headers: { connection: "close" } });
    await models.body?.cancel();
    const page = await (await fetch(`${url}/metrics`, {
      headers: { connection: "close", authorization: `Bearer ${ADMIN}` },
    })).text();
    const found = page.matchAll(/^sluice_responses_total\{surface="v1",status="401",worker="(\d)"\}/gm);
    workers.splice(0, workers.length, ...[...found].map(([, worker]) => worker));
    return workers.length === 2;
  });
  return workers;
}

function childrenOf(pid: number): number[] {
  const text = Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`);
  return text.split(" ").filter((child) => child !== "").map(Number);
}

function isAlive(pid: number): boolean {
  try {
    // A process that ended and that nobody has asked after is listed still, as a zombie.
    return !/^State:\s+Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}

Deno.test("SIGTERM waits for a stream whose caller has left, and it is recorded", () =>
  serving([], async (program) => {
    const abort = new AbortController();
    const response = await ask(program.url, true, abort.signal);
    await response.body!.getReader().read();
    abort.abort();
    program.kill("SIGTERM");
    await program.said("stopping");
    program.release();
    assertEquals(await program.ended, 0);
    const { out } = await runProgram(["generations", "--json", "--config", "sluice.jsonc"], program);
    assertEquals(JSON.parse(out).data.map((g: { status: string }) => g.status), ["completed"]);
  }));

Deno.test("--workers share one port, say once that they listen, and are replaced when they die", {
  ignore: !linux,
}, () =>
  serving(["--workers", "2"], async (program) => {
    assertEquals(await answersByWorker(program.url), ["1", "2"]);
    const [killed, left] = childrenOf(program.pid);
    Deno.kill(killed, "SIGKILL");
    await program.said("ended (SIGKILL)");
    assertEquals(await answersByWorker(program.url), ["1", "2"]);
    const children = childrenOf(program.pid);
    assert(children.length === 2 && children.includes(left) && !children.includes(killed));
    assertEquals(program.out().match(/listening/g)?.length, 1);
    program.kill("SIGTERM");
    assertEquals(await program.ended, 0);
    for (const pid of children) assert(!isAlive(pid), String(pid));
  }));

Deno.test(
  "--workers all know what an administrator has changed when that is answered",
  { ignore: !linux },
  () =>
    serving(["--workers", "2"], async (program) => {
      await answersByWorker(program.url);
      const call = async (path: string, bearer: string, method = "GET", body?: unknown) => {
        const response = await fetch(program.url + path, {
          method,
          headers: { authorization: `Bearer ${bearer}`, connection: "close" },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        return { status: response.status, body: await response.json() };
      };
      // One in 2^23 runs asks one worker alone.
      const statuses = async (path: string, secret: string) => {
        const seen = new Set<number>();
        for (let i = 0; i < 24; i++) seen.add((await call(path, secret)).status);
        return [...seen];
      };
      const { body: { id, secret } } = await call("/admin/keys", ADMIN, "POST", { name: "changing" });
      assertEquals(await statuses("/v1/key", secret), [200]);
      const rotated = await call(`/admin/keys/${id}/rotate`, ADMIN, "POST", { overlap_seconds: 0 });
      assertEquals(await statuses("/v1/key", secret), [401]);
      assertEquals(await statuses("/v1/key", rotated.body.secret), [200]);
      assertEquals((await call(`/admin/keys/${id}`, ADMIN, "DELETE")).status, 200);
      assertEquals(await statuses("/v1/key", rotated.body.secret), [401]);
      const token = (await call("/admin/tokens", ADMIN, "POST", { name: "t", role: "auditor" })).body;
      assertEquals(await statuses("/admin/keys", token.secret), [200]);
      await call(`/admin/tokens/${token.id}`, ADMIN, "DELETE");
      assertEquals(await statuses("/admin/keys", token.secret), [401]);
    }),
);

Deno.test(
  "--workers all know that somebody has signed out when that is answered",
  { ignore: !linux },
  () =>
    serving(["--workers", "2"], async ({ url }) => {
      await answersByWorker(url);
      const signed = await fetch(`${url}/console/session`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ admin_key: ADMIN }),
      });
      const { csrf } = await signed.json();
      const headers = {
        cookie: signed.headers.get("set-cookie")!.split(";")[0],
        "x-svc-csrf": csrf,
        connection: "close",
      };
      const statuses = async () => {
        const seen = new Set<number>();
        for (let i = 0; i < 24; i++) {
          const response = await fetch(`${url}/console/session`, { headers });
          seen.add(response.status);
          await response.body?.cancel();
        }
        return [...seen];
      };
      assertEquals(await statuses(), [200]);
      const left = await fetch(`${url}/console/session`, { method: "DELETE", headers });
      assertEquals([left.status, (await left.json()).signed_out], [200, true]);
      assertEquals(await statuses(), [401]);
    }),
);

Deno.test(
  "--workers spend one account together, to its last cent and not beyond",
  { ignore: !linux },
  () =>
    serving(["--workers", "2"], async (program) => {
      // A call costs 0.02, of which a dollar pays fifty.
      let good = 0;
      const statuses = new Set<number>();
      for (let round = 0; round < 12; round++) {
        const answers = await Promise.all(Array.from({ length: 8 }, () => ask(program.url, false)));
        for (const answer of answers) {
          statuses.add(answer.status);
          if (answer.status === 200) good++;
          const body = await answer.json();
          // What the other worker holds for its calls may be free again soon: that is no lack of credits yet.
          if (answer.status === 429) assertEquals(body.error.extra?.reserved, true, JSON.stringify(body));
        }
      }
      statuses.delete(429);
      assertEquals([...statuses].sort(), [200, 402]);
      program.kill("SIGTERM");
      assertEquals(await program.ended, 0);
      const { out } = await runProgram(["generations", "--json", "--config", "sluice.jsonc"], program);
      assertEquals(JSON.parse(out).data.length, good);
      // What is reserved beforehand is an upper estimate, so the last call or two may not be admitted.
      assert(good <= 50 && good >= 40, String(good));
    }),
);

Deno.test(
  "--workers end when the process that started them is killed",
  { ignore: !linux },
  () =>
    serving(["--workers", "2"], async (program) => {
      const children = childrenOf(program.pid);
      assertEquals(children.length, 2);
      program.kill("SIGKILL");
      await eventually(() => !children.some(isAlive));
    }),
);

/** Follows the live view by one connection: calls by id with how they stand, and whose calls are seen. */
function watching(url: string) {
  const aborter = new AbortController();
  const calls = new Map<string, string>();
  const seen = { nodes: 0, told: 0 };
  const ended = (async () => {
    const headers = { authorization: `Bearer ${ADMIN}` };
    const { body } = await fetch(`${url}/admin/live`, { headers, signal: aborter.signal });
    for await (const { event, data } of eventsOf(body!, aborter.signal)) {
      if (event === "hello") {
        for (const { id } of data.running) calls.set(id, "running");
        Object.assign(seen, data.seen);
      } else if (event === "seen") Object.assign(seen, data);
      else if (event === "start") calls.set(data.id, "running");
      else if (event === "end") calls.set(data.id, data.status);
    }
  })().catch(() => {});
  return {
    calls,
    seen,
    async close() {
      aborter.abort();
      await ended;
    },
  };
}

/**
 * What a stream tells, event by event, until it is aborted. The signal of a fetch does nothing any more once the garbage
 * collector has taken its Response.
 */
async function* eventsOf(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal,
  // deno-lint-ignore no-explicit-any
): AsyncGenerator<{ event: string; data: any }> {
  let rest = "";
  const texts: ReadableStream<string> = body.pipeThrough(new TextDecoderStream(), { signal });
  for await (const text of texts) {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop()!;
    for (const block of blocks) {
      const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
      if (event !== undefined) yield { event, data: JSON.parse(data) };
    }
  }
}

Deno.test(
  "who watches at one worker sees calls of all of them run and end",
  { ignore: !linux },
  () =>
    serving(["--workers", "2"], async ({ url, release }) => {
      // Two connections: at the same worker or at both of them.
      const watchers = [watching(url), watching(url)];
      try {
        for (const { seen } of watchers) await eventually(() => seen.told === 2 && seen.nodes === 2);
        const streams = await Promise.all(Array.from({ length: 10 }, () => ask(url, true)));
        const states = (of: string) =>
          watchers.map(({ calls }) => [...calls.values()].filter((state) => state === of).length);
        const ids = streams.map(({ headers }) => headers.get("x-request-id")!).sort();
        await eventually(() => states("running").every((n) => n === 10), { what: "10 calls that run" });
        for (const { calls } of watchers) assertEquals([...calls.keys()].sort(), ids);
        release();
        for (const { body } of streams) await body?.pipeTo(new WritableStream());
        await eventually(() => states("completed").every((n) => n === 10), { what: "10 calls that ended" });
      } finally {
        for (const watcher of watchers) await watcher.close();
      }
    }),
);

Deno.test(
  "--workers take no port that the workers of another program have",
  { ignore: !linux },
  () =>
    serving(["--workers", "2"], async ({ url, cwd }) => {
      const { port } = new URL(url);
      const args = ["serve", "--config", "sluice.jsonc", "--workers", "2", "--port", port];
      // A second one that listens is told to end, so that the test does.
      const { code, err } = await runProgram(args, { cwd, through: ["timeout", "60"] });
      assertEquals([code, err.trim()], [
        2,
        `Cannot listen: 127.0.0.1:${port} is in use; --port N, PORT or server.port takes another port`,
      ]);
    }),
);
