/**
 * The list of packages that the image, the binary, workers and the start task fetch: those that the program needs, in the
 * versions of the list of all.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { THREADS } from "../.deploy/compile.ts";
import manifest from "../deno.json" with { type: "json" };

const ROOT = new URL("../", import.meta.url);

/** What only the tests need, and what only few gateways need. */
const NOT_FETCHED =
  /^(?:openai|@openai|ai|@ai-sdk|@anthropic-ai|@langchain|fast-check|ajv|onnxruntime-web|protobufjs)[@/]/;

Deno.test("the list has the packages of the program, and none of the tests", async () => {
  const read = async (path: string) => JSON.parse(await Deno.readTextFile(new URL(path, ROOT)));
  const runtime: Record<string, { integrity: string }> = (await read(".deno/runtime.lock")).npm;
  const all: Record<string, { integrity: string }> = (await read("deno.lock")).npm;
  const names = Object.keys(runtime);
  assert(names.some((name) => name.startsWith("zod@")));
  assertEquals(names.filter((name) => NOT_FETCHED.test(name)), []);
  // Of other versions nobody has tried whether they work.
  for (const name of names) assertEquals(runtime[name].integrity, all[name]?.integrity, name);
});

/**
 * Before it begins, `deno task` reads what the registry said of every package that `imports` names, and the lists of their packages,
 * to find commands among them: 11 ms. It installs them all, too. Packages of `scopes` are fetched by the program that imports them.
 */
Deno.test("a task looks at no package, and the program is fetched none that only the tests or few gateways need", async () => {
  assertEquals(manifest.lock, false);
  assertEquals("imports" in manifest, false);
  assertStringIncludes(manifest.tasks.test.command, " --frozen --lock=deno.lock ");
  assertStringIncludes(manifest.tasks.ok.command, " --frozen --lock=deno.lock ");
  assertStringIncludes(manifest.tasks.start.command, " --lock=.deno/runtime.lock ");
  const everywhere = manifest.scopes["./"];
  const named = Object.values(everywhere).map((target) => target.replace(/^npm:\/?/, ""));
  assertEquals(named.filter((name) => NOT_FETCHED.test(name)), []);
  const imported = new Set<string>();
  for (const folder of ["src", ".deploy"]) {
    for await (const path of modules(new URL(`${folder}/`, ROOT))) {
      const text = await Deno.readTextFile(path);
      for (const [, name] of text.matchAll(/(?:from |import |import\()\s*"([^"./][^"]*)"/g)) {
        imported.add(name);
      }
    }
  }
  const used = (name: string) =>
    name.endsWith("/") ? [...imported].some((other) => other.startsWith(name)) : imported.has(name);
  // Every package of the standard library is the same one.
  assertEquals(
    Object.keys(everywhere).filter((name) => !name.startsWith("@std/") && !used(name)),
    [],
    "only tests import these: they belong into the scope of the tests",
  );
});

/** An image with a read-only root file system would translate a module that is missing here at each start of its thread. */
Deno.test("the image, the task for systemd and the list of packages name every module that runs as a thread of its own", async () => {
  const dockerfile = await Deno.readTextFile(new URL("Dockerfile", ROOT));
  const [, image] = /^RUN (deno cache .*)$/m.exec(dockerfile)!;
  const { packages, lock } = manifest.tasks;
  for (const command of [image, packages.command.split(" && ")[0], lock.command]) {
    const named = command.split(" ").filter((word) => word.endsWith(".ts"));
    assertEquals(named, ["src/main.ts", ...THREADS], command);
  }
  const started = new Set<string>();
  for await (const path of modules(new URL("src/", ROOT))) {
    const text = await Deno.readTextFile(path);
    for (const [, module] of text.matchAll(/startThread\(\s*new URL\("(.+?)", import\.meta\.url\)/g)) {
      started.add(new URL(module, path).pathname.slice(ROOT.pathname.length));
    }
  }
  // The optional model is fetched by whoever configures it.
  started.delete("src/dlp/model/model_worker.ts");
  assertEquals([...started].sort(), THREADS);
});

async function* modules(folder: URL): AsyncGenerator<URL> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* modules(new URL(`${name}/`, folder));
    else if (/\.[jt]s$/.test(name)) yield new URL(name, folder);
  }
}

Deno.test("the list is the one that `deno task lock` would write", async () => {
  const args = manifest.tasks.lock.command.split(" ").slice(1);
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [args[0], "--frozen", ...args.slice(1)],
    cwd: ROOT,
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
  }).output();
  assert(success, `deno task lock has to be run anew: ${new TextDecoder().decode(stderr)}`);
});
