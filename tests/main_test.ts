/** The life of the program: starting, reloading, sharing a port, ending. Each test runs it as its user does. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { SECRET } from "./support/gateway.ts";
import { loopbackProvider } from "./support/provider.ts";

const MAIN = new URL("../src/main.ts", import.meta.url).pathname;
const chunk = (content: string, finish: string | null = null) =>
  `data: ${
    JSON.stringify({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta: { content }, finish_reason: finish }],
    })
  }\n\n`;

interface Program {
  url: string;
  /** Everything it has printed. */
  out: string[];
  err: string[];
  child: Deno.ChildProcess;
  folder: string;
  configure(models: readonly string[]): void;
  /** Waits for a line on stderr. */
  logged(text: string): Promise<void>;
}

/** A provider whose streams say one word, and another once `release` is called. */
function slowProvider() {
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  const provider = loopbackProvider(({ body }) => {
    if (body.stream !== true) {
      return Response.json({
        id: "c",
        object: "chat.completion",
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: "whole" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      });
    }
    const encoder = new TextEncoder();
    const stream = new ReadableStream({
      async start(controller) {
        controller.enqueue(encoder.encode(chunk("first")));
        await held;
        controller.enqueue(encoder.encode(chunk(" last", "stop") + "data: [DONE]\n\n"));
        controller.close();
      },
    });
    return new Response(stream, { headers: { "content-type": "text/event-stream" } });
  });
  return { provider, release };
}

async function program(
  provider: string,
  args: readonly string[],
  use: (p: Program) => Promise<void>,
): Promise<void> {
  const folder = Deno.makeTempDirSync({ prefix: "sluice-main-" });
  const path = `${folder}/sluice.json`;
  const configure = (models: readonly string[]) =>
    Deno.writeTextFileSync(
      path,
      JSON.stringify({
        server: { port: 0, shutdown_grace_seconds: 30 },
        store: { url: `sqlite:${folder}/sluice.db` },
        providers: { p: { api: "openai-chat", base_url: provider } },
        models: models.map((id) => ({ id, routes: [{ provider: "p", model: "m" }] })),
        keys: [{ name: "test", secret: SECRET }],
      }),
    );
  configure(["p/one"]);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", MAIN, "--config", path, ...args],
    stdout: "piped",
    stderr: "piped",
    env: { SLUICE_CONFIG: "", PORT: "", SLUICE_STORE: "", DATABASE_URL: "", SLUICE_ADMIN_KEY: "" },
  }).spawn();
  const out: string[] = [];
  const err: string[] = [];
  const reading = [linesOf(child.stdout, out), linesOf(child.stderr, err)];
  try {
    await until(() => out.length > 0 || err.some((line) => line.includes("error")));
    const url = /^sluice listening on (\S+)$/.exec(out[0] ?? "")?.[1] ?? "";
    assert(url !== "", [...out, ...err].join("\n"));
    await use({
      url,
      out,
      err,
      child,
      folder,
      configure,
      logged: (text) => until(() => err.some((line) => line.includes(text))),
    });
  } finally {
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await child.status;
    await Promise.all(reading);
    Deno.removeSync(folder, { recursive: true });
  }
}

async function linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>, into: string[]): Promise<void> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    into.push(...lines);
  }
}

/** Looks until it is so; the test's own limit is what fails it. */
async function until(is: () => boolean | Promise<boolean>): Promise<void> {
  while (!await is()) await new Promise((resolve) => setTimeout(resolve, 20));
}

function ask(url: string, stream: boolean, model = "p/one"): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${SECRET}`, connection: "close" },
    body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "hi" }] }),
  });
}

Deno.test("SIGTERM lets a stream finish, takes no more calls, and ends with 0", async () => {
  const { provider, release } = slowProvider();
  await program(provider.url, [], async ({ url, child, logged }) => {
    assertEquals(await fetch(`${url}/readyz`).then((r) => r.text()), "ready\n");
    const response = await ask(url, true);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    assertStringIncludes((await reader.read()).value ?? "", "first");
    child.kill("SIGTERM");
    await logged("stopping");
    // Nothing is accepted any more: no connection, or a refusal.
    const late = await ask(url, false).then(async (r) => {
      await r.body?.cancel();
      return r.status;
    }, () => null);
    assert(late === null || late === 503, String(late));
    release();
    let rest = "";
    for (let read = await reader.read(); !read.done; read = await reader.read()) rest += read.value;
    assertStringIncludes(rest, "last");
    assertStringIncludes(rest, "data: [DONE]");
    assertEquals((await child.status).code, 0);
  });
  await provider.close();
});

Deno.test("SIGTERM waits for a stream whose caller has left, and it is recorded", async () => {
  const { provider, release } = slowProvider();
  await program(provider.url, [], async ({ url, child, logged, folder }) => {
    const abort = new AbortController();
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      signal: abort.signal,
      headers: { authorization: `Bearer ${SECRET}` },
      body: JSON.stringify({ model: "p/one", stream: true, messages: [{ role: "user", content: "hi" }] }),
    });
    await response.body!.getReader().read();
    abort.abort();
    child.kill("SIGTERM");
    await logged("stopping");
    release();
    assertEquals((await child.status).code, 0);
    const records = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", MAIN, "generations", "--json", "--config", `${folder}/sluice.json`],
    }).output();
    const { data } = JSON.parse(new TextDecoder().decode(records.stdout));
    assertEquals(data.map((r: { status: string }) => r.status), ["completed"]);
  });
  await provider.close();
});

Deno.test("SIGHUP changes the catalog and drops no stream; a bad file changes nothing", async () => {
  const { provider, release } = slowProvider();
  await program(provider.url, [], async ({ url, child, logged, configure, folder }) => {
    const response = await ask(url, true);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    await reader.read();
    configure(["p/two"]);
    child.kill("SIGHUP");
    await logged("configuration reloaded");
    assertEquals((await ask(url, false)).status, 404);
    assertEquals((await ask(url, false, "p/two")).status, 200);
    Deno.writeTextFileSync(`${folder}/sluice.json`, "{");
    child.kill("SIGHUP");
    await logged("configuration not reloaded");
    assertEquals((await ask(url, false, "p/two")).status, 200);
    release();
    let rest = "";
    for (let read = await reader.read(); !read.done; read = await reader.read()) rest += read.value;
    assertStringIncludes(rest, "data: [DONE]");
    child.kill("SIGTERM");
    assertEquals((await child.status).code, 0);
  });
  await provider.close();
});

/** The worker that answers, by its number in the metrics. */
async function workerAt(url: string): Promise<string> {
  const page = await (await fetch(`${url}/metrics`, { headers: { connection: "close" } })).text();
  return /^sluice_in_flight\{worker="(\d)"\}/m.exec(page)?.[1] ?? "";
}

function pidsOf(parent: number): number[] {
  const text = Deno.readTextFileSync(`/proc/${parent}/task/${parent}/children`);
  return text.trim().split(" ").filter((pid) => pid !== "").map(Number);
}

Deno.test({
  name: "--workers shares one port, replaces a worker that died, and ends with all of them",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const { provider } = slowProvider();
    await program(provider.url, ["--workers", "2"], async ({ url, child, out, logged }) => {
      assertEquals(out.length, 1);
      const seen = new Set<string>();
      await until(async () => seen.add(await workerAt(url)).size === 2);
      assertEquals([...seen].sort(), ["1", "2"]);
      for (let i = 0; i < 10; i++) {
        const response = await ask(url, false);
        assertEquals(response.status, 200);
        await response.body?.cancel();
      }

      const [killed, left] = pidsOf(child.pid);
      Deno.kill(killed, "SIGKILL");
      await logged("worker 1 ended (SIGKILL)");
      await until(() => pidsOf(child.pid).length === 2);
      const again = new Set<string>();
      await until(async () => again.add(await workerAt(url)).size === 2);
      assert(pidsOf(child.pid).includes(left));
      assertEquals(out.length, 1);

      const pids = pidsOf(child.pid);
      child.kill("SIGTERM");
      assertEquals((await child.status).code, 0);
      for (const pid of pids) assert(!isAlive(pid), String(pid));
    });
    await provider.close();
  },
});

Deno.test({
  name: "--workers end when the process that started them is killed",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const { provider } = slowProvider();
    await program(provider.url, ["--workers", "2"], async ({ child }) => {
      const pids = pidsOf(child.pid);
      child.kill("SIGKILL");
      await child.status;
      await until(() => !pids.some(isAlive));
    });
    await provider.close();
  },
});

function isAlive(pid: number): boolean {
  try {
    // A process that ended and that nobody has asked after is listed still, as a zombie.
    return !/^State:\s+Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}
