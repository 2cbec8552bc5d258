/** `node:sqlite`, loaded when a database of it is opened: a node on PostgreSQL never needs it, and not every host has it. */
import process from "node:process";

export function sqliteLibrary(): typeof import("node:sqlite") {
  return process.getBuiltinModule("node:sqlite");
}
