/** The program from outside: start, first key, commands, reload, drain, exit status. */
import manifest from "../deno.json" with { type: "json" };
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { loopbackProvider } from "./support/provider.ts";
import { runProgram, serveProgram, type Serving } from "./support/program.ts";

async function inFolder(test: (cwd: string) => Promise<void>): Promise<void> {
  const cwd = await Deno.makeTempDir();
  try {
    await test(cwd);
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}

async function stopped(program: Serving): Promise<void> {
  program.kill("SIGTERM");
  assertEquals(await program.ended, 0);
}

/** Runs a curl line of the welcome text as what it says, without needing curl. */
async function paste(line: string): Promise<Response> {
  const url = /^curl (\S+)/.exec(line)![1];
  const headers = [...line.matchAll(/-H "([^:"]+): ([^"]*)"/g)].map(([, name, value]) => [name, value]);
  const body = /-d '(.*)'$/.exec(line)![1];
  return await fetch(url, { method: "POST", headers: headers as [string, string][], body });
}

Deno.test("demo mode shows a key once, and its three lines work", () =>
  inFolder(async (cwd) => {
    const first = await serveProgram([], { cwd });
    await first.said("/v1/responses");
    const secret = /sk_live_\w{20,}/.exec(first.out())![0];
    assertMatch(first.out(), /^sluice listening on http:\/\/127\.0\.0\.1:\d+\n/);
    const lines = first.out().split("\n").filter((line) => line.startsWith("curl "));
    assertEquals(lines.length, 3);
    const answers = await Promise.all(lines.map(async (line) => {
      const response = await paste(line);
      assertEquals(response.status, 200);
      return await response.text();
    }));
    for (const answer of answers) assertStringIncludes(answer, "demo");
    assert(answers[0].endsWith("data: [DONE]\n\n"));
    assertStringIncludes(answers[1], "event: message_stop");
    assertStringIncludes(answers[2], "event: response.completed");
    assertStringIncludes(first.out(), "set SLUICE_ADMIN_KEY");
    await stopped(first);

    const admin = "console-of-the-demo-1";
    const second = await serveProgram([], { cwd, env: { SLUICE_ADMIN_KEY: admin } });
    await second.said("Console: ");
    assertStringIncludes(second.out(), `\nConsole: ${second.url}/console\n`);
    assert(!second.out().includes(admin));
    const session = await fetch(`${second.url}/console/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ admin_key: admin }),
    });
    assertEquals([session.status, (await session.json()).role], [200, "owner"]);
    assert(!second.out().includes("sk_live_"), "the key is shown once");
    const models = await fetch(`${second.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
    assertEquals(models.status, 200);
    assertEquals((await models.json()).data[0].id, "svc/auto");
    const { out } = await runProgram(["generations", "--json"], { cwd });
    assertEquals(JSON.parse(out).data.map((g: { status: string }) => g.status), Array(3).fill("completed"));
    await stopped(second);
  }));

Deno.test("a first key is not made before the port is bound, since nobody would see it", () =>
  inFolder(async (cwd) => {
    const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const port = String((taken.addr as Deno.NetAddr).port);
    const refused = await runProgram(["--port", port], { cwd });
    assertEquals([refused.code, refused.out], [2, ""]);
    assertMatch(
      refused.err,
      /^Cannot listen: 127\.0\.0\.1:\d+ is in use; --port N, PORT or server\.port takes another port\n$/,
    );
    taken.close();
    const { out } = await runProgram(["keys", "list"], { cwd });
    assertEquals(out, "Nothing.\n");
  }));

Deno.test("commands on keys, usage, generations and models", () =>
  inFolder(async (cwd) => {
    const run = (...args: string[]) => runProgram(args, { cwd });
    const made = JSON.parse((await run("keys", "create", "ada", "--json")).out);
    assertMatch(made.secret, /^sk_live_/);
    const again = await run("keys", "create", "ada");
    assertEquals([again.code, again.err], [
      2,
      'Cannot read name: expected a name that no other key has, got "ada"\n',
    ]);
    const rotated = await run("keys", "rotate", "ada", "--overlap", "60");
    assertEquals(rotated.code, 0);
    assertMatch(rotated.out, /sk_live_\w+\nThe secret is shown only once/);
    assert(!rotated.out.includes(made.secret));
    const listed = await run("keys", "list");
    assertMatch(listed.out, /ada +store +default +valid/);
    assert(!listed.out.includes("sk_live_"));
    assertEquals((await run("keys", "revoke", made.id)).code, 0);
    assertMatch((await run("keys", "list")).out, /ada +store +default +revoked/);
    assertEquals((await run("keys", "revoke", "nobody")).code, 2);
    assertEquals((await run("usage", "--by", "day", "--json")).out, "[]\n");
    assertEquals((await run("generations")).out, "Nothing.\n");
    assertMatch((await run("models")).out, /^demo\/small\t/);
    const lost = await run("backup", "absent/store.backup");
    assertEquals([lost.code, lost.err], [2, "Cannot open absent/store.backup: there is no such folder\n"]);
  }));

Deno.test("help, version, and what cannot be followed", () =>
  inFolder(async (cwd) => {
    const run = (args: string[], env: Record<string, string> = {}) => runProgram(args, { cwd, env });
    const help = await run(["--help"]);
    assertEquals(help.code, 0);
    assertStringIncludes(help.out, "sluice keys create NAME");
    assertMatch((await run(["--version"])).out, /^sluice \d+\.\d+\.\d+\n$/);
    const cases: [string[], Record<string, string>, RegExp][] = [
      [["frobnicate"], {}, /expected one of serve, check/],
      [["check", "--config", "nowhere.jsonc"], {}, /no such file/],
      [["restore", "absent.backup"], {}, /^Cannot open absent\.backup: there is no such file\n$/],
      [["import", "litellm", "absent.yaml"], {}, /^Cannot read absent\.yaml: there is no such file\n$/],
      [["import", "litellm", "."], {}, /^Cannot read \.: expected a file, got a folder\n$/],
      [
        ["init", "absent/sluice.jsonc"],
        {},
        /^Cannot write absent\/sluice\.jsonc: there is no such folder\n$/,
      ],
      [
        ["try", "hi", "--models", "nobody/*"],
        {},
        /^Cannot try: no model of the catalog fits "nobody\/\*"\n$/,
      ],
      [["try", "hi", "--json", "--models", "nobody/*"], {}, /^Cannot try: no model/],
      [["--hostname", "0.0.0.0"], {}, /expected a loopback address in demo mode/],
      [[], { PORT: "abc" }, /PORT: expected a whole number/],
      [[], { SLUICE_CONFIG: "{" }, /not JSON/],
      // The command line wins over the environment.
      [["--demo", "--hostname", "0.0.0.0"], { SLUICE_CONFIG: "{" }, /loopback address in demo mode/],
      [["check"], { SLUICE_CONFIG: '{"providers":{},"modles":[]}' }, /modles.*models/s],
      [
        ["keys", "list"],
        { SLUICE_STORE: "sqlite:/dev/null/x.db" },
        /SLUICE_STORE: expected the path of a file that can be written/,
      ],
    ];
    for (const [args, env, expected] of cases) {
      const { code, out, err } = await run(args, env);
      assertEquals([code, out], [2, ""], args.join(" "));
      assertMatch(err, expected);
      assert(!err.includes("    at "), `no stack: ${err}`);
    }
    assertEquals((await run(["check"])).code, 0);
  }));

/** A provider that streams one word, and the rest when it is told to. */
function slowProvider() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => open = resolve);
  const chunk = (delta: unknown, finish: string | null) =>
    `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const provider = loopbackProvider(() => {
    const encoder = new TextEncoder();
    return new Response(
      new ReadableStream({
        async start(controller) {
          controller.enqueue(encoder.encode(chunk({ role: "assistant", content: "first" }, null)));
          await opened;
          controller.enqueue(encoder.encode(chunk({ content: " last" }, "stop") + "data: [DONE]\n\n"));
          controller.close();
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  });
  return { provider, open };
}

const SECRET = "sk_live_ofthefile00000000000000000000000";

Deno.test("a configuration from the environment; reload; and a stream that outlives SIGTERM", () =>
  inFolder(async (cwd) => {
    const { provider, open } = slowProvider();
    const config = (more: object = {}) =>
      JSON.stringify({
        store: { url: "sqlite:./s.db" },
        providers: { p: { api: "openai-chat", base_url: `${provider.url}/v1` } },
        models: [{ id: "p/one", routes: [{ provider: "p", model: "one" }] }],
        keys: [{ name: "k", secret: SECRET }],
        ...more,
      });
    await Deno.writeTextFile(`${cwd}/sluice.jsonc`, config());
    const program = await serveProgram([], {
      cwd,
      env: { SLUICE_CONFIG: "sluice.jsonc", SLUICE_ADMIN_KEY: "the-admin-key" },
    });
    assert(!program.out().includes("Demo mode"));
    const names = async () => {
      const response = await fetch(`${program.url}/v1/models`, {
        headers: { authorization: `Bearer ${SECRET}` },
      });
      return (await response.json()).data.map((m: { id: string }) => m.id);
    };
    assertEquals(await names(), ["p/one"]);
    const admin = await fetch(`${program.url}/admin/keys`, {
      headers: { authorization: "Bearer the-admin-key" },
    });
    assertEquals((await admin.json()).data.length, 1);
    const metric = async (name: string) => {
      const answer = await fetch(`${program.url}/metrics`, {
        headers: { authorization: "Bearer the-admin-key" },
      });
      return new RegExp(`^${name}(\\S*) (\\S+)$`, "m").exec(await answer.text())!.slice(1);
    };
    assertEquals(await metric("sluice_build_info"), [`{version="${manifest.version}"}`, "1"]);
    const [, started] = await metric("sluice_start_time_seconds");
    assert(Number(started) <= Date.now() / 1000 && Number(started) > 1.7e9);
    assertEquals(await metric("sluice_config_last_reload_successful"), ["", "1"]);

    await Deno.writeTextFile(`${cwd}/sluice.jsonc`, config({ keys: [{ name: "k", secret: "wrong" }] }));
    program.kill("SIGHUP");
    await program.said("Cannot use configuration sluice.jsonc: 1 mistake; keys[0].secret: expected ");
    assert(!program.err().includes('"wrong"'), "a secret is not repeated");
    assertEquals(await names(), ["p/one"]);
    assertEquals(await metric("sluice_config_last_reload_successful"), ["", "0"]);

    const two = [{ id: "p/two", routes: [{ provider: "p", model: "two" }] }];
    const server = { port: 1, max_messages: 5 };
    await Deno.writeTextFile(
      `${cwd}/sluice.jsonc`,
      config({ models: two, server, store: { url: "sqlite:./s.db", retention_days: 5 } }),
    );
    program.kill("SIGHUP");
    await program.said("configuration reloaded");
    const told = program.err().split("\n").filter((line) => line.includes("needs a restart"));
    assertEquals(told.map((line) => line.split(" ").slice(1).join(" ")), [
      "warning: store.retention_days: the change needs a restart and is not applied",
    ]);
    assertEquals(await names(), ["p/two"]);
    assertEquals(await metric("sluice_config_last_reload_successful"), ["", "1"]);

    const response = await fetch(`${program.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${SECRET}` },
      body: JSON.stringify({
        model: "p/two",
        stream: true,
        messages: [{ role: "user", content: "a long prompt" }],
      }),
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader.read()).value!;
    assertStringIncludes(text, "first");
    program.kill("SIGTERM");
    await program.said("stopping");
    open();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) text += piece.value;
    assertStringIncludes(text, " last");
    assert(text.endsWith("data: [DONE]\n\n"));
    assertEquals(await program.ended, 0);
    const { out } = await runProgram(["generations", "--json", "--config", "sluice.jsonc"], { cwd });
    assertEquals(JSON.parse(out).data.map((g: { status: string }) => g.status), ["completed"]);
    await provider.close();
  }));

Deno.test("SLUICE_CONFIG as the text itself, PORT and SLUICE_STORE over it", () =>
  inFolder(async (cwd) => {
    const program = await serveProgram([], {
      cwd,
      env: {
        SLUICE_CONFIG: JSON.stringify({
          server: { port: 1 },
          store: { url: "sqlite:./here.db" },
          providers: { d: { api: "demo" } },
          models: [{ id: "d/m", routes: [{ provider: "d", model: "m" }] }],
        }),
        SLUICE_STORE: "sqlite:./elsewhere.db",
        PORT: "0",
      },
    });
    assertEquals(await (await fetch(`${program.url}/readyz`)).text(), "ready\n");
    assertEquals((await Deno.stat(`${cwd}/elsewhere.db`)).isFile, true);
    program.kill("SIGINT");
    assertEquals(await program.ended, 0);
  }));

Deno.test({
  name: "a command that cannot print, as on a full disk, says why and fails",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    inFolder(async (cwd) => {
      const through = ["sh", "-c", 'exec "$0" "$@" > /dev/full'];
      const { code, err } = await runProgram(["providers"], { cwd, through });
      assertEquals([code, err.trim()], [2, "No space left on device (os error 28)"]);
    }),
});
