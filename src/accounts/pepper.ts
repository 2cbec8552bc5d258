/** The pepper: what hashes of secrets are keyed with. Whoever has the database alone cannot confirm a guess. */
import { type Store, StoreUnavailable } from "../store/mod.ts";
import { removeQuietly } from "./journal_files.ts";
import { newPepper } from "./secrets.ts";

/** Beside an embedded store in a file of its own; where several nodes share a database, in there. */
export async function findPepper(store: Store): Promise<string> {
  if (store.kind !== "sqlite" || store.filePrefix === null) return await store.shared("pepper", newPepper);
  const path = `${store.filePrefix}.pepper`;
  try {
    return readPepper(path) ?? makePepper(path);
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) throw error;
    // A full disk at the first start: it can be made once there is room.
    throw new StoreUnavailable("The pepper of secrets cannot be read or made.", { cause: error });
  }
}

/** Null: there is none, or it was being written when the process died, and nothing has been hashed with it. */
function readPepper(path: string): string | null {
  try {
    return Deno.readTextFileSync(path).trim() || null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** It appears whole or not at all, and the first of several processes decides. */
function makePepper(path: string): string {
  const draft = `${path}.${crypto.randomUUID()}`;
  try {
    Deno.writeTextFileSync(draft, newPepper(), { createNew: true, mode: 0o600 });
    if (isEmpty(path)) Deno.removeSync(path);
    try {
      Deno.linkSync(draft, path);
    } catch (error) {
      // A file system without links can only be trusted with one process that starts first.
      if (!(error instanceof Deno.errors.AlreadyExists)) Deno.renameSync(draft, path);
    }
    return Deno.readTextFileSync(path).trim();
  } finally {
    removeQuietly(draft);
  }
}

function isEmpty(path: string): boolean {
  try {
    return Deno.statSync(path).size === 0;
  } catch {
    return false;
  }
}
