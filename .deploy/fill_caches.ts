/**
 * Fills Deno's caches for starts that are not permitted to write to them, as in the image and under systemd:
 * the imports of each module, its JavaScript without types, and its compiled code. A start without caches
 * takes twice as long.
 *
 * The caches are SQLite databases in WAL mode. Such a database can be opened in a read-only folder only while
 * its files `-wal` and `-shm` exist. Deno deletes these files when a process ends normally, so this program
 * exits before that.
 */
import { LAZY_IMPORTS, V8_FLAGS } from "../src/memory.ts";

if (Deno.args[0] === "load") {
  await import("../src/main.ts");
  const { importLazyModules } = await import("../src/lazy_modules.ts");
  await importLazyModules();
  Deno.exit(0);
}

// A process finds compiled code only if it has the same flags.
const { success } = await new Deno.Command(Deno.execPath(), {
  args: [
    "run",
    "--lock=.deno/runtime.lock",
    "--cached-only",
    "-A",
    LAZY_IMPORTS,
    V8_FLAGS,
    import.meta.filename!,
    "load",
  ],
  cwd: new URL("..", import.meta.url),
  // Shows the reason of a failure.
  stderr: "inherit",
}).output();
Deno.exit(success ? 0 : 1);
