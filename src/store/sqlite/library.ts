/** `node:sqlite`, loaded on first use: a node on PostgreSQL does not need it, and not every host has it. */
type Library = typeof import("node:sqlite");

let library: Library | null = null;

/** Null: already loaded. */
export function loadingSqlite(): Promise<void> | null {
  return library === null ? import("node:sqlite").then((loaded) => void (library = loaded)) : null;
}

/** The loaded library, synchronously: `await import()` of a loaded module takes ten times as long. */
export function sqliteLibrary(): Library {
  // deno-lint-ignore no-process-global -- an import of it would load all of it with the start
  return library ??= process.getBuiltinModule("node:sqlite");
}
