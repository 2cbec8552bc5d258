/** Settings of clients: foreign names in snippets, files that were there, and keys that nobody would see. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { parse as parseYaml } from "@std/yaml/parse.js";
import { clientNamed, writeSettings } from "../../src/commands/connect.ts";
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
    const write = (model: string) =>
      writeSettings(clientNamed("claude-code")({ url: URL, secret: SECRET, model }), home);
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
