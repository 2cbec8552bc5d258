/** Settings of clients: foreign names in snippets, files that were there, and keys that nobody would see. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { parse as parseYaml } from "@std/yaml/parse.js";
import { CLIENT_NAMES, clientNamed } from "../../src/commands/connect.ts";
import { writeSettings } from "../../src/commands/settings_file.ts";
import { address, UsageError } from "../../src/commands/option_values.ts";
import { setUp } from "../../src/commands/setup.ts";
import { loadConfig } from "../../src/config/load.ts";

const SECRET = "sk_live_connectconnectconnect0001";
const URL = "http://127.0.0.1:8787";
/** What a provider may list: it must not run, and must not end a string. */
const HOSTILE = [
  "a/$(touch$IFS/tmp/ran)",
  "a/`id`",
  "a/b';id;'",
  'a/b";id;"',
  "a/b&id|id;#x",
  "a/\\",
  "@cf/meta/llama",
  "a/b:free",
];

async function words(script: string): Promise<string[]> {
  const { stdout, code } = await new Deno.Command("/bin/sh", {
    args: ["-c", `${script}\nprintf '%s\\0' "$@"`, "sh"],
    clearEnv: true,
    env: { PATH: "/nowhere" },
  }).output();
  assertEquals(code, 0, script);
  return new TextDecoder().decode(stdout).split("\0").slice(0, -1);
}

Deno.test({
  name: "connect prints the name of a model as one text, whatever is in it",
  ignore: Deno.build.os === "windows",
  async fn() {
    for (const model of HOSTILE) {
      const text = (client: string) => clientNamed(client)({ url: URL, secret: SECRET, model }).text;
      const file = (client: string) =>
        clientNamed(client)({ url: URL, secret: SECRET, model }).file!.write(null)!;
      const cline = await words(`set -- ${text("cline")}`);
      assertEquals(cline.slice(-5), [SECRET, "-m", model, "-b", `${URL}/v1`]);
      const curl = await words(`set -- ${text("curl")}`);
      assertEquals(JSON.parse(curl.at(-1)!).model, model);
      // TOML has the escapes of JSON.
      assertEquals(JSON.parse(/^model = (".*")$/m.exec(file("codex"))![1]), model);
      // deno-lint-ignore no-explicit-any
      const yaml = (client: string) => parseYaml(file(client)) as any;
      assertEquals(yaml("aider").model, `openai/${model}`);
      assertEquals(yaml("continue").models[0].model, model);
      assertEquals(yaml("llm")[0].model_name, model);
      const [, qwen] = /OPENAI_MODEL=(.*)/.exec(file("qwen-code"))!;
      assertEquals(await words(`set -- ${qwen}`), [model]);
      const [, name] = /sluice\((".*")\);/.exec(text("ai-sdk"))!;
      assertEquals(JSON.parse(name), model);
    }
  },
});

const FACTS = { context: 128_000, output: 16_000, images: true, reasons: true };

Deno.test("connect tells clients the size of the model, and whether it reads images", () => {
  const settings = (client: string, facts?: typeof FACTS) =>
    clientNamed(client)({ url: URL, secret: SECRET, model: "a/b", facts });
  const json = (client: string) => JSON.parse(settings(client, FACTS).file!.write(null)!);
  const { env } = json("claude-code");
  assertEquals([env.CLAUDE_CODE_MAX_CONTEXT_TOKENS, env.ANTHROPIC_DEFAULT_HAIKU_MODEL], ["128000", "a/b"]);
  assertEquals(json("opencode").provider.sluice.models["a/b"], {
    reasoning: true,
    attachment: true,
    tool_call: true,
    modalities: { input: ["text", "image"], output: ["text"] },
    limit: { context: 128_000, output: 16_000 },
  });
  // Only with the responses or the messages format does opencode return the proofs of reasoning.
  assertEquals(json("opencode").provider.sluice.npm, "@ai-sdk/openai");
  assertEquals(json("pi").providers.sluice.models[0].contextWindow, 128_000);
  assertEquals(json("crush").providers.sluice.models[0].context_window, 128_000);
  assertEquals(json("droid").customModels[0].maxOutputTokens, 16_000);
  // Droid keeps images and proofs of reasoning only in this format.
  assertEquals(json("droid").customModels[0].provider, "openai");
  // Keys of TOML that belong to no table come first.
  assert(/^model_context_window = 128000$/m.test(settings("codex", FACTS).file!.write(null)!.split("[")[0]));
  // deno-lint-ignore no-explicit-any
  const { models: [yaml] } = parseYaml(settings("continue", FACTS).file!.write(null)!) as any;
  assertEquals([yaml.capabilities, yaml.defaultCompletionOptions.contextLength], [
    ["tool_use", "image_input"],
    128_000,
  ]);
  const goose = settings("goose", FACTS).text;
  assertStringIncludes(goose, "export GOOSE_CONTEXT_LIMIT=128000");
  assertStringIncludes(settings("copilot", FACTS).text, "export COPILOT_PROVIDER_MAX_PROMPT_TOKENS=112000");
  for (const client of CLIENT_NAMES) assert(!/undefined|null|NaN/.test(settings(client).text), client);
});

Deno.test("a size that is not known is removed with the model that had it, and models of others stay", () => {
  const connect = (client: string, model: string, before: string | null, facts?: typeof FACTS) =>
    clientNamed(client)({ url: URL, secret: SECRET, model, facts }).file!.write(before);
  const first = connect("claude-code", "a/b", null, FACTS);
  assertEquals(
    JSON.parse(connect("claude-code", "a/c", first)!).env.CLAUDE_CODE_MAX_CONTEXT_TOKENS,
    undefined,
  );
  const others = JSON.stringify({ customModels: [{ displayName: "Mine" }] });
  const twice = connect("droid", "a/b", connect("droid", "a/b", others));
  // deno-lint-ignore no-explicit-any
  assertEquals(JSON.parse(twice!).customModels.map((one: any) => one.displayName), ["Mine", "Sluice: a/b"]);
});

Deno.test("settings of Claude Code for another model, or another way to sign in, do not stay", () => {
  const connect = (before: string, model: string, passes?: string) =>
    JSON.parse(
      clientNamed("claude-code")({ url: URL, secret: SECRET, model, passes, facts: FACTS }).file!.write(
        before,
      )!,
    ).env;
  const key = `x-svc-key: ${SECRET}`;
  const own = { ANTHROPIC_CUSTOM_HEADERS: "x-team: a", ANTHROPIC_DEFAULT_OPUS_MODEL: "mine/opus" };
  const other = connect(JSON.stringify({ env: { ...own, ANTHROPIC_API_KEY: "k" } }), "openai/gpt");
  assertEquals(other, {
    ANTHROPIC_API_KEY: "k",
    ANTHROPIC_AUTH_TOKEN: SECRET,
    ANTHROPIC_BASE_URL: URL,
    ANTHROPIC_CUSTOM_HEADERS: "x-team: a",
    ANTHROPIC_DEFAULT_HAIKU_MODEL: "openai/gpt",
    ANTHROPIC_DEFAULT_OPUS_MODEL: "openai/gpt",
    ANTHROPIC_DEFAULT_SONNET_MODEL: "openai/gpt",
    ANTHROPIC_MODEL: "openai/gpt",
    CLAUDE_CODE_MAX_CONTEXT_TOKENS: "128000",
  });
  const signedIn = connect(JSON.stringify({ env: other }), "anthropic/claude", "anthropic-messages");
  assertEquals(signedIn, {
    ANTHROPIC_BASE_URL: URL,
    ANTHROPIC_CUSTOM_HEADERS: `x-team: a\n${key}`,
    ANTHROPIC_MODEL: "anthropic/claude",
  });
  const claude = {
    ANTHROPIC_AUTH_TOKEN: SECRET,
    ANTHROPIC_BASE_URL: URL,
    ANTHROPIC_MODEL: "anthropic/claude",
    CLAUDE_CODE_MAX_CONTEXT_TOKENS: "128000",
  };
  // The header of the old key would be used instead of the token.
  assertEquals(connect(JSON.stringify({ env: signedIn }), "anthropic/claude"), {
    ...claude,
    ANTHROPIC_CUSTOM_HEADERS: "x-team: a",
  });
  assertEquals(
    connect(JSON.stringify({ env: { ANTHROPIC_CUSTOM_HEADERS: key } }), "anthropic/claude"),
    claude,
  );
  // What the user has chosen stays.
  assertEquals(connect(JSON.stringify({ env: own }), "anthropic/claude"), { ...claude, ...own });
});

Deno.test("connect knows the size of a model from the file, and of known models without asking anybody", async () => {
  const { config } = loadConfig(
    JSON.stringify({
      providers: { openai: {} },
      models: [{ id: "a/b", context_length: 77_000, routes: [{ provider: "openai", model: "gpt-5" }] }],
    }),
    { env: (name) => name === "OPENAI_API_KEY" ? "k" : undefined },
  );
  let printed = "";
  await setUp({ command: "connect", client: "codex", model: "a/b", write: false, secret: SECRET }, {
    env: () => undefined,
    load: () => Promise.resolve(config),
    log: () => {},
    makeKey: () => Promise.reject(new Error("a key is given")),
    open: () => Promise.reject(new Error("nobody is asked")),
    print: (line) => printed += line,
    note: () => {},
    failed() {},
  });
  assertStringIncludes(printed, "model_context_window = 77000");
});

Deno.test("--url may contain the version, as clients have it", () => {
  for (const url of [URL, `${URL}/`, `${URL}/v1`, `${URL}/v1/`]) assertEquals(address(url), URL);
  assertEquals(address(`${URL}/team/v1`), `${URL}/team`);
});

Deno.test({
  name: "writeSettings() keeps the first file, and leaves the key to its owner",
  ignore: Deno.build.os === "windows",
  async fn() {
    const home = await Deno.makeTempDir();
    await Deno.mkdir(`${home}/.claude`);
    const path = `${home}/.claude/settings.json`;
    await Deno.writeTextFile(path, '{"theme":"dark"}', { mode: 0o644 });
    const write = async (model: string) =>
      (await writeSettings(clientNamed("claude-code")({ url: URL, secret: SECRET, model }), home)).message;
    assertStringIncludes(await write("a/one"), `what was there is in ${path}.before-sluice`);
    assertStringIncludes(await write("a/two"), `what was there at first is in ${path}.before-sluice`);
    assertEquals(await Deno.readTextFile(`${path}.before-sluice`), '{"theme":"dark"}');
    assertStringIncludes(await Deno.readTextFile(path), "a/two");
    for (const file of [path, `${path}.before-sluice`]) {
      assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);
    }
    await Deno.remove(home, { recursive: true });
  },
});

Deno.test("connect --write makes no key that nobody sees", async () => {
  const { config } = loadConfig(
    '{"providers":{"openai":{}},"models":[{"id":"a/b","routes":[{"provider":"openai","model":"m"}]}]}',
    {
      env: (name) => name === "OPENAI_API_KEY" ? "k" : undefined,
    },
  );
  const connect = (home: string | undefined) => {
    let printed = "";
    let made = 0;
    const done = setUp({ command: "connect", client: "claude-code", model: "a/b", write: true }, {
      env: (name) => name === "HOME" ? home : undefined,
      load: () => Promise.resolve(config),
      log: () => {},
      makeKey: () => {
        made++;
        return Promise.resolve(SECRET);
      },
      open: () => Promise.reject(new Error("nobody is asked")),
      print: (line) => printed += line,
      note: () => {},
      failed() {},
    });
    return { done, made: () => made, printed: () => printed };
  };
  const homeless = connect(undefined);
  await assertRejects(() => homeless.done, UsageError, "HOME");
  assertEquals(homeless.made(), 0);
  // A folder in the place of the file.
  const home = await Deno.makeTempDir();
  await Deno.mkdir(`${home}/.claude/settings.json`, { recursive: true });
  const refused = connect(home);
  await assertRejects(() => refused.done);
  assert(refused.made() === 1 && refused.printed().includes(SECRET));
  await Deno.remove(home, { recursive: true });
});

Deno.test("connect --write fails if it writes nothing, and shows the settings", async () => {
  const { config } = loadConfig(
    '{"providers":{"openai":{}},"models":[{"id":"a/b","routes":[{"provider":"openai","model":"m"}]}]}',
    { env: (name) => name === "OPENAI_API_KEY" ? "k" : undefined },
  );
  const home = await Deno.makeTempDir();
  const connect = async (client: string, write: boolean) => {
    const printed: string[] = [];
    const noted: string[] = [];
    let failed = false;
    await setUp({ command: "connect", client, model: "a/b", secret: SECRET, write }, {
      env: (name) => name === "HOME" ? home : undefined,
      load: () => Promise.resolve(config),
      log: () => {},
      makeKey: () => Promise.reject(new Error("a key is given")),
      open: () => Promise.reject(new Error("nobody is asked")),
      print: (line) => void printed.push(line),
      note: (line) => void noted.push(line),
      failed: () => failed = true,
    });
    return { printed: printed.join("\n"), noted: noted.join("\n"), failed };
  };
  await Deno.writeTextFile(`${home}/.aider.conf.yml`, "model: x\n");
  const kept = await connect("aider", true);
  assert(kept.failed && kept.printed.includes(SECRET));
  assertStringIncludes(kept.noted, "left as it is");
  const without = await connect("goose", true);
  assert(without.failed && without.printed.includes(SECRET));
  assertStringIncludes(without.noted, "no file");
  for (const [client, write] of [["aider", false], ["claude-code", true]] as const) {
    const { failed, noted } = await connect(client, write);
    assert(!failed, client);
    assertEquals(noted, "");
  }
  await Deno.remove(home, { recursive: true });
});
