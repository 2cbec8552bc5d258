/** `sluice init`: what it writes can be started, and only its owner can read it. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { initFile } from "../../src/commands/init.ts";
import { writePrivateFile } from "../../src/commands/private_file.ts";
import { loadConfig } from "../../src/config/load.ts";
import { PRESET_NAMES } from "../../src/providers/presets.ts";

const SECRET = "sk_live_0123456789abcdef0123";
const env = (variables: Record<string, string>) => (name: string) => variables[name];
const nobody = () => null;

Deno.test("initFile() writes for every provider a configuration that loads once its variables are set", () => {
  for (const provider of PRESET_NAMES) {
    const { text, notes } = initFile({ providers: [provider, "openai", provider] }, env({}), nobody, SECRET);
    const named = notes.join().match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? [];
    const variables = Object.fromEntries([...named, "OPENAI_API_KEY"].map((name) => [name, "value-1"]));
    const { config } = loadConfig(text, { env: env(variables) });
    assertEquals(config.providers.map(({ name }) => name), [...new Set([provider, "openai"])]);
    // Alone, too: nobody else brings models.
    loadConfig(initFile({ providers: [provider] }, env({}), nobody, SECRET).text, { env: env(variables) });
  }
  assertStringIncludes(
    initFile({ providers: ["azure"] }, env({}), nobody, SECRET).notes.join(),
    "names of your deployments",
  );
});

Deno.test({
  name: "init --force leaves the file with the key to its owner",
  ignore: Deno.build.os === "windows",
  async fn() {
    const file = await Deno.makeTempFile();
    await Deno.chmod(file, 0o644);
    await writePrivateFile(file, "a");
    assertEquals([await Deno.readTextFile(file), (await Deno.stat(file)).mode! & 0o777], ["a", 0o600]);
    // Behind a link, as people keep their settings.
    await Deno.symlink(file, `${file}.link`);
    await writePrivateFile(`${file}.link`, "behind");
    assertEquals([await Deno.readTextFile(file), (await Deno.lstat(`${file}.link`)).isSymlink], [
      "behind",
      true,
    ]);
    // A device is written to, and not replaced.
    await writePrivateFile("/dev/null", "a");
    assertEquals((await Deno.stat("/dev/null")).isFile, false);
    await Deno.remove(`${file}.link`);
    await Deno.remove(file);
    await writePrivateFile(file, "b");
    assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);
    await assertRejects(() => writePrivateFile(file, "c", { createNew: true }), Deno.errors.AlreadyExists);
    assertEquals(await Deno.readTextFile(file), "b");
    await Deno.remove(file);
  },
});
