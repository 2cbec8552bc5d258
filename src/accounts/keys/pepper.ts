/** The pepper: the key of the hashes of secrets. The database alone is not enough to verify a guess. */
import { hmacSha256 } from "../../exchange/hashes.ts";
import { type Store, StoreUnavailable } from "../../store/mod.ts";
import { removeQuietly } from "../journal/journal_files.ts";
import { newPepper } from "./secrets.ts";

/** For an embedded store it is in a file beside it; where nodes share a database, in the database. */
export async function findPepper(store: Store): Promise<string> {
  if (store.kind !== "sqlite" || store.filePrefix === null) return await store.shared("pepper", newPepper);
  const path = pepperPath(store.filePrefix);
  try {
    const pepper = readPepper(path);
    if (pepper !== null) return pepper;
    if (!await isNew(store)) return readPepper(path) ?? refuseLostPepper(path);
    return makePepper(path);
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied || error instanceof StoreRefused) throw error;
    if (error instanceof StoreUnavailable) throw error;
    // For example a full disk at the first start: it can be created once there is space.
    throw new StoreUnavailable("The pepper of secrets cannot be read or made.", { cause: error });
  }
}

/**
 * Refuses a pepper with which the keys of this database were not hashed: all keys would seem to be wrong. The
 * first gateway that opens a database stores a fingerprint of its pepper.
 */
export async function refuseOtherPepper(store: Store, pepper: string): Promise<void> {
  const own = fingerprintOf(pepper);
  if (await store.shared("pepper_fingerprint", () => own) === own) return;
  throw new StoreRefused(
    "This database belongs to a gateway with another pepper, so none of its keys could be told. Restore the pepper " +
      "(`store.pepper`, or the file beside the database whose name ends in .pepper), or use another database.",
  );
}

/**
 * Refuses a database without tables if a pepper file exists, which is only created after the tables: the
 * database was emptied or partly lost, and an empty one would have neither keys nor spend.
 */
export function refuseEmptied({ kind, filePrefix }: Store): void {
  if (kind !== "sqlite" || filePrefix === null) return;
  const path = pepperPath(filePrefix);
  if (readPepper(path) === null) return;
  throw new StoreRefused(
    `The database ${filePrefix} is empty, though the pepper beside it says that it was used: it was deleted or emptied, or a ` +
      `part of it is gone. Put it back, or restore a backup (sluice restore FILE). To begin with a new database, remove ${path}.`,
  );
}

/** A fingerprint that distinguishes peppers but reveals nothing about them. */
export function fingerprintOf(pepper: string): string {
  return hmacSha256(pepper, "fingerprint").toHex().slice(0, 32);
}

/** The path of an embedded store's pepper. */
export function pepperPath(filePrefix: string): string {
  return `${filePrefix}.pepper`;
}

/** This gateway and the database do not belong together. */
export class StoreRefused extends Error {
  override readonly name = "StoreRefused";
}

/**
 * Whether nothing has been hashed with a pepper yet. A database of a release without fingerprints may have
 * keys.
 */
async function isNew(store: Store): Promise<boolean> {
  if (await store.sharedValue("pepper_fingerprint") !== null) return false;
  return (await store.keysBehind("", 1)).length === 0;
}

/** The pepper was left behind when the database was moved or deleted. */
function refuseLostPepper(path: string): never {
  throw new StoreRefused(
    "The pepper that this database's keys were hashed with is missing, so none of them could be told: expected the " +
      `file ${path}, or store.pepper. Restore it, or use another database.`,
  );
}

/** Null: none exists, or the process died while writing it, before anything was hashed with it. */
export function readPepper(path: string): string | null {
  try {
    return Deno.readTextFileSync(path).trim() || null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Created atomically; the first of several processes wins. */
function makePepper(path: string): string {
  const draft = `${path}.${crypto.randomUUID()}`;
  try {
    Deno.writeTextFileSync(draft, newPepper(), { createNew: true, mode: 0o600 });
    if (isEmpty(path)) Deno.removeSync(path);
    try {
      Deno.linkSync(draft, path);
    } catch (error) {
      // On a file system without hard links, concurrent first starts are not safe.
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
