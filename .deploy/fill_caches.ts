/**
 * Fills Deno's caches for starts that may not write to them, as in the image and under systemd: which modules each module imports,
 * what each is without types, and its compiled code. A start that finds none takes twice as long.
 *
 * The caches are SQLite databases in WAL mode. Such a one can be opened in a folder without the right to write only while its
 * files `-wal` and `-shm` are there, and Deno deletes them at the end of a process; so this one exits before that.
 */
import { LAZY_IMPORTS, V8_FLAGS } from "../src/memory.ts";

if (Deno.args[0] === "load") {
  await import("../src/main.ts");
  const { importSeldom } = await import("../src/seldom.ts");
  await importSeldom();
  Deno.exit(0);
}

// Compiled code is found again by a process with the same flags alone.
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
  // Says why it failed.
  stderr: "inherit",
}).output();
Deno.exit(success ? 0 : 1);
