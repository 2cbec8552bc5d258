/** Signals at moments when they are not convenient: while the program starts, and again while it ends. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { SECRET } from "./support/gateway.ts";
import { runProgram, serveProgram } from "./support/program.ts";
import { eventually } from "./support/time.ts";

const CONFIG = {
  providers: { demo: { api: "demo" } },
  models: [{
    id: "demo/small",
    routes: [{ provider: "demo", model: "small" }],
    pricing: { prompt: "0.001", completion: "0.001" },
  }],
  keys: [{ name: "test", secret: SECRET }],
};

async function inFolder(test: (cwd: string) => Promise<void>): Promise<void> {
  const cwd = await Deno.makeTempDir({ prefix: "sluice-signals-" });
  try {
    await Deno.writeTextFile(`${cwd}/sluice.json`, JSON.stringify(CONFIG));
    await test(cwd);
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}

// A word every 20 ms: a minute.
const LONG = "word ".repeat(3000);
const MESSAGES = [{ role: "user", content: LONG }];

type Program = Awaited<ReturnType<typeof serveProgram>>;

const ask = ({ url }: Program, path: string, body: object) =>
  fetch(`${url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${SECRET}` },
    body: JSON.stringify({ model: "demo/small", ...body }),
  });

/** Asks it to end until it has. */
async function endNow(program: Program): Promise<void> {
  let over = false;
  void program.ended.then(() => over = true);
  await eventually(() => {
    try {
      program.kill("SIGINT");
    } catch {
      // It has ended.
    }
    return over;
  });
  assertEquals(await program.ended, 0);
}

async function statuses(cwd: string): Promise<string[]> {
  const { out } = await runProgram(["generations", "--json", "--config", "sluice.json"], { cwd });
  return JSON.parse(out).data.map((g: { status: string }) => g.status);
}

for (const workers of [1, 2]) {
  Deno.test(`whoever asks once more to end does not wait for streams, which are recorded as interrupted, with ${workers} workers`, () =>
    inFolder(async (cwd) => {
      const program = await serveProgram(["--config", "sluice.json", `--workers=${workers}`], { cwd });
      const response = await ask(program, "/v1/chat/completions", { stream: true, messages: MESSAGES });
      const reader = response.body!.getReader();
      await reader.read();
      program.kill("SIGINT");
      await program.said("stopping:");
      await endNow(program);
      assertStringIncludes(program.err(), "stopping now");
      await reader.cancel().catch(() => {});
      assertEquals(await statuses(cwd), ["interrupted"]);
    }));
}

for (const workers of [1, 2]) {
  Deno.test(`while a stream goes on behind SIGTERM /readyz and calls are 503, with ${workers} workers`, () =>
    inFolder(async (cwd) => {
      const program = await serveProgram(["--config", "sluice.json", `--workers=${workers}`], { cwd });
      const response = await ask(program, "/v1/chat/completions", { stream: true, messages: MESSAGES });
      program.kill("SIGTERM");
      await program.said("stopping:");
      // Of two workers one may not have heard of it yet, and one without a stream ends at once, with connections that wait for it.
      await eventually(async () => {
        const ready = await fetch(`${program.url}/readyz`).catch(() => null);
        await ready?.body?.cancel();
        return ready?.status === 503;
      });
      if (workers === 1) {
        const messages = [{ role: "user", content: "Hi" }];
        const refused = await ask(program, "/v1/chat/completions", { messages });
        assertEquals([refused.status, (await refused.json()).error.code], [503, "service_unavailable"]);
      }
      await endNow(program);
      await response.body!.cancel().catch(() => {});
    }));

  Deno.test(`streams that outlast the grace behind SIGTERM end with an error event, with ${workers} workers`, () =>
    inFolder(async (cwd) => {
      const config = { ...CONFIG, server: { shutdown_grace_seconds: 1 } };
      await Deno.writeTextFile(`${cwd}/sluice.json`, JSON.stringify(config));
      const program = await serveProgram(["--config", "sluice.json", `--workers=${workers}`], { cwd });
      const streams = await Promise.all([
        ask(program, "/v1/chat/completions", { stream: true, messages: MESSAGES }),
        ask(program, "/v1/messages", { stream: true, messages: MESSAGES, max_tokens: 20_000 }),
        ask(program, "/v1/responses", { stream: true, input: LONG }),
      ]);
      program.kill("SIGTERM");
      const [chat, plain, named] = await Promise.all(streams.map((response) => response.text()));
      assertMatch(chat, /\ndata: \{"error":\{"code":"service_unavailable".*\}\n\ndata: \[DONE\]\n\n$/);
      assertMatch(plain, /\nevent: error\ndata: \{"type":"error","error":\{.*"service_unavailable".*\}\n\n$/);
      assertMatch(named, /\nevent: error\ndata: .*"service_unavailable".*\n\nevent: response\.failed\n/);
      assertEquals(named.endsWith("\n\ndata: [DONE]\n\n"), true);
      assertEquals(await program.ended, 0);
      assertEquals(await statuses(cwd), ["interrupted", "interrupted", "interrupted"]);
    }));
}

Deno.test("SIGHUP while the program starts does not end it, and a store that is away is told with its reason", () =>
  inFolder(async (cwd) => {
    // A database that takes connections and says nothing: the start waits for it.
    const deaf = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const held: Deno.Conn[] = [];
    const connected = Promise.withResolvers<void>();
    const accepting = (async () => {
      for await (const connection of deaf) {
        held.push(connection);
        connected.resolve();
      }
    })();
    const { port } = deaf.addr as Deno.NetAddr;
    const env = { SLUICE_STORE: `postgres://sluice:hush@127.0.0.1:${port}/sluice` };
    const pid = Promise.withResolvers<number>();
    const starting = serveProgram(["--config", "sluice.json"], { cwd, env, spawned: pid.resolve });
    await connected.promise;
    Deno.kill(await pid.promise, "SIGHUP");
    deaf.close();
    for (const connection of held) connection.close();
    const program = await starting;
    await program.said("configuration reloaded");
    assertMatch(
      program.err(),
      /The store is unavailable \(.*(?:time|gone|ended|REFUSED).*\); starting with what/,
    );
    assertEquals(program.err().includes("hush"), false);
    program.kill("SIGTERM");
    assertEquals(await program.ended, 0);
    await accepting.catch(() => {});
  }));

Deno.test("of two reloads side by side the later one counts, though the earlier one gets its file last", () =>
  inFolder(async (cwd) => {
    const file = `${cwd}/sluice.json`;
    const named = (name: string) =>
      JSON.stringify({ ...CONFIG, models: [{ ...CONFIG.models[0], id: `demo/${name}` }] });
    const program = await serveProgram(["--config", "sluice.json"], { cwd });
    const models = async () => {
      const headers = { authorization: `Bearer ${SECRET}` };
      const { data } = await (await fetch(`${program.url}/v1/models`, { headers })).json();
      return data.map(({ id }: { id: string }) => id).filter((id: string) => id !== "svc/auto");
    };
    assertEquals(await models(), ["demo/small"]);
    await new Deno.Command("mkfifo", { args: [`${cwd}/slow`] }).output();
    await Deno.remove(file);
    await Deno.symlink(`${cwd}/slow`, file);
    program.kill("SIGHUP");
    // Opened once the program reads it.
    const slow = await Deno.open(`${cwd}/slow`, { write: true });
    await Deno.writeTextFile(`${cwd}/next.json`, named("later"));
    await Deno.symlink(`${cwd}/next.json`, `${cwd}/link`);
    await Deno.rename(`${cwd}/link`, file);
    program.kill("SIGHUP");
    // Time in which the later one may overtake the earlier one.
    for (let i = 0; i < 30; i++) await models();
    await slow.write(new TextEncoder().encode(named("earlier")));
    slow.close();
    await eventually(() => program.err().split("configuration reloaded").length === 3);
    assertEquals(await models(), ["demo/later"]);
    program.kill("SIGTERM");
    assertEquals(await program.ended, 0);
  }));

Deno.test({
  name: "a pipe to which nobody writes keeps no reload waiting for ever",
  ignore: Deno.build.os === "windows",
  fn: () =>
    inFolder(async (cwd) => {
      const file = `${cwd}/sluice.json`;
      const program = await serveProgram(["--config", "sluice.json"], { cwd });
      const text = await Deno.readTextFile(file);
      await Deno.remove(file);
      await new Deno.Command("mkfifo", { args: [file] }).output();
      program.kill("SIGHUP");
      await program.said("it is a pipe, and nothing was written to it in time");
      await Deno.remove(file);
      await Deno.writeTextFile(file, text);
      program.kill("SIGHUP");
      await program.said("configuration reloaded");
      program.kill("SIGTERM");
      assertEquals(await program.ended, 0);
    }),
});
