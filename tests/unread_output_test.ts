/**
 * A gateway whose output nobody reads, or reads slowly: a pipe holds 64 KB, and whoever writes more to it than
 * that, and waits, stands still.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { LAZY_IMPORTS, V8_FLAGS } from "../src/memory.ts";
import { eventually } from "./support/time.ts";

const ROOT = new URL("../", import.meta.url).pathname;
const SECRET = "sk_live_unreadunreadunreadunreadunread";
/** A pipe's size, and more. */
const MUCH = 100_000;

function configOf(more: Record<string, unknown>) {
  return {
    store: { url: "sqlite:./store.db" },
    providers: { demo: { api: "demo" } },
    models: [{
      id: "demo/small",
      routes: [{ provider: "demo", model: "small" }],
      pricing: { prompt: "0", completion: "0" },
    }],
    keys: [{ name: "unread", secret: SECRET }],
    ...more,
  };
}

interface Started {
  child: Deno.ChildProcess;
  url: string;
  /** Reads standard output from here on. */
  readOutput(): Promise<string>;
}

/** Starts the program; its standard output is read up to the line that says where it listens. */
async function start(folder: string, config: unknown): Promise<Started> {
  await Deno.writeTextFile(`${folder}/sluice.json`, JSON.stringify(config));
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      LAZY_IMPORTS,
      V8_FLAGS,
      "--no-lock",
      `--config=${ROOT}deno.json`,
      `${ROOT}src/main.ts`,
    ]
      .concat(["--config", "sluice.json", "--port", "0"]),
    cwd: folder,
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const found = /listening on (\S+)\n/.exec(text);
    if (found) return { child, url: found[1], readOutput };
    const { value, done } = await reader.read();
    assert(!done, text);
    text += value;
  }

  async function readOutput(): Promise<string> {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return text;
      text += value;
    }
  }
}

async function call(url: string): Promise<void> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${SECRET}`, connection: "close" },
    body: JSON.stringify({ model: "demo/small", messages: [{ role: "user", content: "hi" }] }),
  });
  assertEquals(response.status, 200, await response.text());
}

async function calls(url: string, count: number): Promise<void> {
  for (let i = 0; i < count; i += 20) await Promise.all(Array.from({ length: 20 }, () => call(url)));
}

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "sluice-unread-" });
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a gateway starts, answers and ends although nobody reads its log", () =>
  inFolder(async (folder) => {
    const models = Array.from({ length: 1500 }, (_, i) => ({
      id: `demo/${i}`,
      routes: [{ provider: "demo", model: "small" }],
    }));
    const config = configOf({});
    config.models.push(...models as typeof config.models);
    const { child, url, readOutput } = await start(folder, config);
    await call(url);
    child.kill("SIGTERM");
    assertEquals((await child.status).code, 0);
    const [errors] = await Promise.all([new Response(child.stderr).text(), readOutput()]);
    assertMatch(errors, /warning: models\[1\]\.pricing: /);
  }));

Deno.test({
  name: "a worker that dies is replaced, and all end, although nobody reads their log",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    inFolder(async (folder) => {
      const { child, url, readOutput } = await start(
        folder,
        configOf({ logs: "json", server: { workers: 2 } }),
      );
      const workers = async () => {
        const { stdout } = await new Deno.Command("pgrep", { args: ["-P", String(child.pid)] }).output();
        return new TextDecoder().decode(stdout).trim().split("\n").map(Number);
      };
      // A line has some 800 bytes.
      await calls(url, 2 * MUCH / 800);
      const [first, second] = await workers();
      Deno.kill(first, "SIGKILL");
      await eventually(async () => {
        const now = await workers();
        return now.length === 2 && !now.includes(first) && now.includes(second);
      });
      child.kill("SIGTERM");
      assertEquals((await child.status).code, 0);
      await Promise.all([child.stderr.cancel(), readOutput()]);
    }),
});

Deno.test({
  name: "the lines of several workers stay whole where their reader is slow",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    inFolder(async (folder) => {
      const { child, url, readOutput } = await start(
        folder,
        configOf({ log_generations: true, server: { workers: 2 } }),
      );
      // A line has some 200 bytes.
      const count = 3 * MUCH / 200;
      await calls(url, count);
      const errors = new Response(child.stderr).text();
      child.kill("SIGTERM");
      assertEquals((await child.status).code, 0);
      const lines = (await errors).trimEnd().split("\n").filter((line) => !line.includes(" stopping: "));
      for (const line of lines) assertMatch(line, /^\d{4}-\S+Z generation id=gen_\w{32} .* cost=0\.00$/);
      assertEquals(lines.length, count);
      await readOutput();
    }),
});
