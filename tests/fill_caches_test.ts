/** What starts that may not write to Deno's folder find there: see .deploy/fill_caches.ts. */
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { packagesFolder } from "../.deploy/compile.ts";

const ROOT = new URL("../", import.meta.url);

Deno.test("the caches that are filled for a read-only folder hold the compiled code of every module of a start, and can be read there", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sluice-caches-" });
  try {
    await Deno.symlink(await packagesFolder(), `${folder}/npm`);
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-lock", "--allow-read", "--allow-run", ".deploy/fill_caches.ts"],
      cwd: ROOT,
      env: { DENO_DIR: folder },
    }).output();
    assert(success, new TextDecoder().decode(stderr));
    for (const cache of ["dep_analysis_cache_v2", "node_analysis_cache_v2", "v8_code_cache_v2"]) {
      // Without these two SQLite opens none of them in a folder without the right to write.
      for (const end of ["", "-wal", "-shm"]) assert((await Deno.stat(`${folder}/${cache}${end}`)).isFile);
    }
    const compiled = new DatabaseSync(`${folder}/v8_code_cache_v2`);
    const kept = new Set(
      compiled.prepare("SELECT specifier FROM codecache").all().map((row) => String(row.specifier)),
    );
    compiled.close();
    const list = await Deno.readTextFile(new URL("src/start_modules.ts", ROOT));
    const modules = [...list.matchAll(/import "(\.\/.*?)";/g)].map(([, path]) =>
      new URL(path, new URL("src/", ROOT)).href
    );
    assert(modules.length > 100);
    assertEquals(modules.filter((module) => !kept.has(module)), []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
