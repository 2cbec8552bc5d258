/** `node:sqlite`, loaded when a database of it is used: a node on PostgreSQL never needs it, and not every host has it. */
type Library = typeof import("node:sqlite");

let library: Library | null = null;

/** Null: it is loaded. */
export function loadingSqlite(): Promise<void> | null {
  return library === null ? import("node:sqlite").then((loaded) => void (library = loaded)) : null;
}

/** For whoever cannot wait: the way to it past an import takes ten times as long. */
export function sqliteLibrary(): Library {
  // deno-lint-ignore no-process-global -- an import of it would load all of it with the start
  return library ??= process.getBuiltinModule("node:sqlite");
}
