/**
 * What the compiled binary carries. The runtime that it is packed with is this Deno itself, so that nothing is downloaded; such
 * a binary cannot be run.
 */
import { assert, assertEquals } from "@std/assert";
import manifest from "../deno.json" with { type: "json" };

const ROOT = new URL("../", import.meta.url);

/** Packages that the program reaches. A package of the tests alone in the binary is dead weight. */
const CARRIED = [
  "aws4fetch",
  "deno-std",
  "entities",
  "github-slugger",
  "gpt-tokenizer",
  "jose",
  "jsonc-parser",
  "libphonenumber-js",
  "marked",
  "postgres",
  "re2-wasm",
  "zod",
  "unpdf",
  "@noble",
  "@scure",
];

Deno.test("the compiled binary carries the packages that the program reaches, and the worker modules", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const args = manifest.tasks.compile.command.split(" ").slice(1).map((arg) =>
      arg === "dist/sluice" ? `${folder}/sluice` : arg
    );
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args,
      cwd: ROOT,
      env: { DENORT_BIN: Deno.execPath(), NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    }).output();
    const listed = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert(success, listed);
    // A package of a scope is listed under the scope.
    const packages = [...listed.matchAll(/^│ {3}[├└]─[─┬] (@?[\w.-]+)/gm)].map(([, name]) => name);
    assertEquals(packages.filter((name) => !CARRIED.includes(name)), [], listed);
    for (const needed of ["zod", "re2-wasm"]) assert(packages.includes(needed), listed);
    for (const worker of args.filter((_, i) => args[i - 1] === "--include")) {
      // A folder that is carried whole is listed without its files.
      const [folder, file] = worker.split("/").slice(-2);
      assert(listed.includes(file) || listed.includes(`${folder}/*`), `${worker} is missing: ${listed}`);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
