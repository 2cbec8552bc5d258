/** What several workers say and serve together: lines of the log of all of them, and HTTPS. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { permissionFlags } from "../src/commands/permissions.ts";
import { describe } from "../src/config/describe.ts";
import { loadValue } from "../src/config/load.ts";
import { SECRET } from "./support/gateway.ts";
import { flagsOf } from "../src/supervise.ts";
import { runWorkers } from "../src/workers.ts";
import { serveProgram } from "./support/program.ts";
import { eventually } from "./support/time.ts";
import { CA, TLS } from "./support/tls.ts";

const CONFIG = {
  store: { url: "sqlite:./s.db" },
  providers: { demo: { api: "demo" } },
  models: [{
    id: "demo/small",
    routes: [{ provider: "demo", model: "small" }],
    pricing: { prompt: "0.000001", completion: "0.000002" },
  }],
  keys: [{ name: "test", secret: SECRET }],
};
const FILES = { cert: "cert.pem", key: "key.pem" };

Deno.test({
  name: "workers serve HTTPS on one port, and every generation of each has its line in the log",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const cwd = await Deno.makeTempDir({ prefix: "sluice-supervise-" });
    await Deno.writeTextFile(`${cwd}/cert.pem`, TLS.cert);
    await Deno.writeTextFile(`${cwd}/key.pem`, TLS.key);
    await Deno.writeTextFile(
      `${cwd}/sluice.json`,
      JSON.stringify({ ...CONFIG, logs: "json", server: { port: 0, workers: 2, tls: FILES } }),
    );
    const program = await serveProgram(["--config", "sluice.json"], { cwd });
    assertMatch(program.url, /^https:/);
    const ids: string[] = [];
    const lines = () =>
      program.out().split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
    const generations = () => lines().filter(({ event }) => event === "generation");
    // The kernel deals connections out: until both workers have had one.
    await eventually(async () => {
      const client = Deno.createHttpClient({ caCerts: [CA] });
      const response = await fetch(`https://localhost:${new URL(program.url).port}/v1/messages`, {
        client,
        method: "POST",
        headers: { authorization: `Bearer ${SECRET}` },
        body: JSON.stringify({
          model: "demo/small",
          max_tokens: 5,
          messages: [{ role: "user", content: "hi" }],
        }),
      });
      await response.text();
      client.close();
      ids.push(response.headers.get("x-request-id")!);
      return new Set(generations().map(({ worker }) => worker)).size === 2;
    });
    await eventually(() => generations().length === ids.length);
    assertEquals(generations().map(({ generation }) => generation.id).sort(), ids.toSorted());
    program.kill("SIGTERM");
    assertEquals(await program.ended, 0);
    assert(lines().some(({ message }) => /^stopping/.test(message ?? "")));
    assertEquals(program.err(), "");
    await Deno.remove(cwd, { recursive: true });
  },
});

Deno.test({
  name: "workers take or leave a configuration together, and the command line wins over it in each of them",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const cwd = await Deno.makeTempDir({ prefix: "sluice-supervise-" });
    const write = (port: unknown, workers: unknown) =>
      Deno.writeTextFile(
        `${cwd}/sluice.json`,
        JSON.stringify({ ...CONFIG, server: { port, workers } }),
      );
    await write(0, "wrong, and nobody asks for it");
    // An empty variable: the port is the file's.
    const args = ["--config", "sluice.json", "--workers", "2"];
    const program = await serveProgram(args, { cwd, env: { PORT: "" } });
    const count = (said: string) => program.err().split(said).length - 1;
    await write("x", 1);
    program.kill("SIGHUP");
    await eventually(() => count("configuration not reloaded") + count("configuration reloaded") === 2);
    assertEquals(count("expected a whole number from 0 to 65535"), 2);
    await write(0, 3);
    program.kill("SIGHUP");
    await eventually(() => count("configuration reloaded") === 2);
    assertEquals(count("needs a restart"), 0);
    const keys = CONFIG.keys.map((key) => ({ ...key, dlp_policy: "lost" }));
    await Deno.writeTextFile(
      `${cwd}/sluice.json`,
      JSON.stringify({ ...CONFIG, keys, log_level: "warn", server: { port: 0 } }),
    );
    program.kill("SIGHUP");
    await eventually(() => count("configuration reloaded") === 4);
    assertEquals(count("warning: keys[0].dlp_policy"), 1, "one worker warns for all");
    assertEquals(count("warning: log_level: the change needs a restart"), 1);
    program.kill("SIGTERM");
    assertEquals(await program.ended, 0);
    await Deno.remove(cwd, { recursive: true });
  },
});

Deno.test("what is said of HTTPS names it, and its files may be read", () => {
  const value = { ...CONFIG, server: { tls: { cert: "/etc/a/cert.pem", key: "/etc/a/key.pem" } } };
  const { config } = loadValue(value, { env: () => undefined });
  assertMatch(describe(config), /^listens on https:/);
  const place = { source: null, program: [], deno: "deno" };
  const read = permissionFlags(config, [], () => undefined, place).find((flag) =>
    flag.startsWith("--allow-read")
  )!;
  assert(read.includes("/etc/a/cert.pem") && read.includes("/etc/a/key.pem"), read);
});

Deno.test({
  name: "workers that hang as they exit are killed once their time is up",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const said = Promise.withResolvers<void>();
    const logged: string[] = [];
    const deaf =
      `trap "" TERM; echo "sluice listening on http://127.0.0.1:9"; echo "both listen"; exec sleep 600`;
    const workers = runWorkers({
      count: 2,
      spawn: () =>
        new Deno.Command("sh", { args: ["-c", deaf], stdin: "null", stdout: "piped", stderr: "piped" })
          .spawn(),
      print: (line) => line === "both listen" && said.resolve(),
      printError: () => {},
      log: (line) => logged.push(line),
      patienceMs: 100,
    });
    await said.promise;
    workers.stop();
    assertEquals(await workers.ended, { status: 0, killed: true });
    assertEquals(logged, ["workers that did not end in time are killed"]);
  },
});

Deno.test("flags for workers are read as lines or as words, and none of them is empty", () => {
  const two = ["--allow-net", "--allow-read=/a,/b"];
  // `sluice permissions | tr '\n' ' '` ends with a blank.
  for (
    const text of [
      `${two[0]} ${two[1]} `,
      ` ${two[0]}  ${two[1]}`,
      `${two[0]}\n${two[1]}\n`,
      two.join("\r\n"),
    ]
  ) {
    assertEquals(flagsOf(text), two, JSON.stringify(text));
  }
  assertEquals(flagsOf("--allow-net\n--allow-read=/my files,/b\n"), [
    "--allow-net",
    "--allow-read=/my files,/b",
  ]);
  assertEquals(flagsOf("--allow-net\n"), ["--allow-net"]);
});
