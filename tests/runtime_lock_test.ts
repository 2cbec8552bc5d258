/**
 * The list of packages that the image, the binary, workers and `deno run` with it fetch: those that the program needs, in the
 * versions of the list of all. (`deno task` by itself installs whatever `deno.json` names.)
 */
import { assert, assertEquals } from "@std/assert";
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

Deno.test("the list is the one that `deno task lock` would write", async () => {
  const args = manifest.tasks.lock.command.split(" ").slice(1);
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [args[0], "--frozen", ...args.slice(1)],
    cwd: ROOT,
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
  }).output();
  assert(success, `deno task lock has to be run anew: ${new TextDecoder().decode(stderr)}`);
});
