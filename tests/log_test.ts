import { leastAnswer } from "./support/answers.ts";
import { testGateway } from "./support/gateway.ts";
import { loopbackProvider } from "./support/provider.ts";
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { GenerationView } from "../src/accounts/mod.ts";
import { Log, writeTo } from "../src/log.ts";
import { serveProgram } from "./support/program.ts";
import { eventually, heldTimers } from "./support/time.ts";
import { exporting, otlpReceiver } from "./telemetry/receiver.ts";

const linesOf = (text: string) =>
  text.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));

Deno.test("Log writes events and generations as lines, several together", async () => {
  const written: string[] = [];
  const log = new Log({
    form: "json",
    level: "info",
    now: () => 0,
    write: (text) => Promise.resolve(void written.push(text)),
  });
  log.event('two\nlines and a "quote"', "warn");
  log.generation({ id: "gen_1", status: "failed" } as GenerationView);
  log.generation({ id: "gen_2", status: "completed" } as GenerationView);
  await log.flush();
  assertEquals(written.length, 1);
  const time = "1970-01-01T00:00:00.000Z";
  assertEquals(linesOf(written[0]), [
    { time, level: "warn", event: "message", message: 'two\nlines and a "quote"' },
    {
      time,
      level: "warn",
      event: "generation",
      request_id: "gen_1",
      generation: { id: "gen_1", status: "failed" },
    },
    {
      time,
      level: "info",
      event: "generation",
      request_id: "gen_2",
      generation: { id: "gen_2", status: "completed" },
    },
  ]);
});

Deno.test("Log goes on where nobody takes its lines, and says how many it left out", async () => {
  let take = () => {};
  const written: string[] = [];
  const log = new Log({
    form: "json",
    level: "info",
    now: () => 0,
    write: async (text) => {
      written.push(text);
      if (written.length === 1) await new Promise<void>((resolve) => take = resolve);
      if (written.length === 2) throw new Error("EPIPE");
    },
  });
  log.event("first", "info");
  await eventually(() => written.length === 1);
  for (let i = 0; i < 100; i++) log.event("x".repeat(1 << 20), "info");
  take();
  await log.flush();
  assert(written[1].length < 12 << 20, `${written.length}`);
  assertMatch(written.at(-1)!, /\d\d lines of the log were left out/);
});

Deno.test("Log.flush() waits two seconds for a reader that takes nothing, and ten for one that takes a little each time", async () => {
  for (const [takes, times] of [[0, 1], [2, 3], [9, 5]]) {
    using timers = heldTimers(2000);
    const { held } = timers;
    let take: (() => void) | null = null;
    const log = new Log({
      form: "text",
      level: "info",
      now: () => 0,
      write: (_, taken) => new Promise(() => take = taken),
    });
    log.event("unread", "info");
    await eventually(() => take !== null);
    let over = false;
    const flushed = log.flush().then(() => over = true);
    for (let i = 1; i <= times; i++) {
      await eventually(() => held.length === i);
      assertEquals(over, false);
      if (i <= takes) take!();
      held[i - 1].run();
    }
    await flushed;
    assertEquals(held.length, times);
  }
});

Deno.test("writeTo() writes at most 64 KB at a time, and what the reader did not take again", async () => {
  const sizes: number[] = [];
  const bytes: number[] = [];
  let taken = 0;
  const write = writeTo({
    write(piece) {
      sizes.push(piece.length);
      const length = Math.min(piece.length, 50_000);
      bytes.push(...piece.subarray(0, length));
      return Promise.resolve(length);
    },
  });
  const text = "ä".repeat(60_000) + "end";
  await write(text, () => taken++);
  assertEquals(sizes, [65_536, 65_536, 20_003]);
  assertEquals([taken, new TextDecoder().decode(Uint8Array.from(bytes)) === text], [3, true]);
});

Deno.test("logs: json tells each generation with its record, and nothing of what was said", async () => {
  const folder = await Deno.makeTempDir();
  const canary = "CANARY-7c1f3a";
  const secret = "sk_live_0123456789abcdef0123456789";
  await Deno.writeTextFile(
    `${folder}/sluice.json`,
    JSON.stringify({
      logs: "json",
      server: { port: 0 },
      store: { url: "sqlite::memory:" },
      providers: { demo: { api: "demo" } },
      models: [{
        id: "demo/small",
        routes: [{ provider: "demo", model: "small" }],
        pricing: { prompt: "0.000001", completion: "0.000002" },
      }],
      keys: [{ name: "dev", secret }],
    }),
  );
  const program = await serveProgram(["--config", "sluice.json"], { cwd: folder });
  const response = await fetch(`${program.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "x-svc-tags": "team=blue" },
    body: JSON.stringify({ model: "demo/small", messages: [{ role: "user", content: canary }] }),
  });
  const said = (await response.json()).choices[0].message.content as string;
  await program.said('"event":"generation"');
  program.kill("SIGTERM");
  assertEquals(await program.ended, 0);
  const lines = linesOf(program.out());
  const { generation, level } = lines.find(({ event }) => event === "generation");
  assertEquals([level, generation.id, generation.key, generation.tags, generation.status], [
    "info",
    response.headers.get("x-request-id"),
    "dev",
    { team: "blue" },
    "completed",
  ]);
  assert(lines.some(({ event, message }) => event === "message" && /^stopping/.test(message)));
  for (const text of [program.out(), program.err()]) {
    assert(!text.includes(canary) && !text.includes(secret) && !text.includes(said.slice(0, 40)));
  }
  assertEquals(program.err(), "");
  await Deno.remove(folder, { recursive: true });
});

Deno.test("lines of JSON have the fields that the manual lists, each of them, and no others", async () => {
  const manual = await Deno.readTextFile(new URL("../src/manual/pages/operation.md", import.meta.url));
  const [, table] = /\n\| field +\| value[^]*?\n((?:\|.*\n)+)/.exec(manual.slice(manual.indexOf("## Logs")))!;
  const listed = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name).sort();
  const folder = await Deno.makeTempDir();
  const secret = "sk_live_0123456789abcdef0123456789";
  const admin = "the-admin-key-of-tests";
  const receiver = otlpReceiver();
  const failing = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => Response.json({ error: { message: "no" } }, { status: 400 }),
  );
  const program = await serveProgram(["serve"], {
    cwd: folder,
    env: {
      ...exporting(receiver),
      SLUICE_CONFIG: JSON.stringify({
        logs: "json",
        admin_key: admin,
        server: { port: 0, workers: 2 },
        store: { url: "sqlite:./s.db" },
        providers: {
          demo: { api: "demo" },
          bad: { api: "openai-chat", base_url: `http://127.0.0.1:${failing.addr.port}` },
        },
        models: ["demo", "bad"].map((provider) => ({
          id: `${provider}/m`,
          routes: [{ provider, model: "small" }],
          pricing: { prompt: "0.000001", completion: "0.000002" },
        })),
        keys: [{ name: "dev", secret }],
      }),
    },
  });
  try {
    for (const model of ["demo/m", "bad/m", "none/m"]) {
      const response = await fetch(`${program.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}` },
        body: JSON.stringify({ model, messages: [{ role: "user", content: "x" }] }),
      });
      await response.text();
    }
    const told = () => linesOf(program.out()).filter(({ event }) => event === "generation");
    await eventually(() => told().length >= 1);
    const { data: [record] } = await (await fetch(`${program.url}/admin/generations`, {
      headers: { authorization: `Bearer ${admin}` },
    })).json();
    for (const { generation, request_id } of told()) {
      assertEquals(Object.keys(generation).sort(), Object.keys(record).sort());
      assertEquals(request_id, generation.id);
    }
    program.kill("SIGHUP");
    await eventually(() => program.out().includes("configuration reloaded"));
  } finally {
    program.kill("SIGTERM");
    await program.ended;
    await failing.shutdown();
    await receiver.close();
    await Deno.remove(folder, { recursive: true });
  }
  const lines = linesOf(program.out());
  assertEquals([...new Set(lines.flatMap((line) => Object.keys(line)))].sort(), listed);
  for (const { time, level, event, message, generation } of lines) {
    assertMatch(time, /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);
    assert(["info", "warn"].includes(level));
    assertEquals(
      [typeof message, typeof generation],
      event === "message" ? ["string", "undefined"] : ["undefined", "object"],
    );
  }
});

Deno.test("Log writes text that a terminal may show, leaves out lower levels, and names requests", async () => {
  const written: string[] = [];
  const write = (text: string) => Promise.resolve(void written.push(text));
  const id = `gen_${"0".repeat(32)}`;
  const record = {
    id,
    status: "failed",
    error_code: "provider_timeout",
    key: "two words\u001b[31m",
    team: null,
    format: "messages",
    model: "v/m",
    provider: null,
    usage: null,
    searches: 0,
    ttft_ms: null,
    latency_ms: 5,
    cost: "0",
  } as GenerationView;
  const text = new Log({ form: "text", level: "warn", now: () => 0, write });
  text.event("left out", "info");
  text.generation({ ...record, status: "completed" });
  text.event("line\nbreak", "warn");
  text.generation(record, "abc");
  await text.flush();
  const time = "1970-01-01T00:00:00.000Z";
  assertEquals(written.join("").split("\n"), [
    `${time} line\\u000abreak`,
    `${time} generation id=${id} trace_id=abc status=failed error_code=provider_timeout ` +
    'key="two words\\\\u001b[31m" format=messages model=v/m latency_ms=5 cost=0',
    "",
  ]);
  written.length = 0;
  const json = new Log({ form: "json", level: "info", now: () => 0, write });
  json.event(`${id} v/m: it failed`, "warn");
  await json.flush();
  assertEquals(linesOf(written[0])[0].request_id, id);
});

Deno.test("what fails is logged as a warning, and its end as information", async () => {
  let status = 500;
  const provider = loopbackProvider((seen) =>
    status === 200 ? leastAnswer(seen) : new Response("down", { status })
  );
  const lines: string[] = [];
  const breaker = { failures: 2, window_seconds: 60, open_seconds: 1 };
  let now = Date.UTC(2026, 10, 27);
  const gateway = await testGateway(
    {
      p: { api: "openai-chat", url: `${provider.url}/v1`, more: { breaker } },
      gone: { api: "openai-chat", url: "http://127.0.0.1:1/v1" },
    },
    {},
    {
      log: (line, level = "info") => lines.push(`${level} ${line.replace(/gen_\w+ /, "")}`),
      now: () => now,
      clock: { now: () => now },
    },
  );
  try {
    const ask = async (model: string) => {
      const messages = [{ role: "user", content: "hello" }];
      await (await gateway.post("/v1/chat/completions", { model, messages })).text();
    };
    await ask("gone/model");
    await ask("p/model");
    await ask("p/model");
    status = 200;
    await eventually(async () => {
      now += 5000;
      await ask("p/model");
      return lines.some((line) => line.includes("circuit breaker closed"));
    });
  } finally {
    await gateway.close();
    await provider.close();
  }
  const levels = (text: string) =>
    lines.filter((line) => line.includes(text)).map((line) => line.split(" ")[0]);
  assertEquals(levels("the provider cannot be reached").includes("info"), false);
  assert(levels("the provider cannot be reached").length > 0, lines.join("\n"));
  assertEquals(levels("circuit breaker open"), ["warn"], lines.join("\n"));
  assertEquals(levels("circuit breaker closed"), ["info"], lines.join("\n"));
});
