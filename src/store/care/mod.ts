/**
 * Maintenance commands that run beside the gateway: backup, restore, info and verification of the ledger.
 *
 * None of them migrates the schema, so they can be run before a new release is started.
 */
import { countOf } from "../../exchange/printable.ts";
import { pause } from "../../timing/waits.ts";
import { type LedgerProof, verifyLedger } from "../chain/verify.ts";
import { type Engine, type Query, StoreDamaged, StoreUnavailable, StoreUnfit } from "../engine.ts";
import { SCHEMA_VERSION } from "../migrations/mod.ts";
import { openPostgres } from "../postgres/mod.ts";
import { openSqlite } from "../sqlite/mod.ts";
import { makeFolderOf } from "../sqlite/file.ts";
import { type DumpHead, dumpLines } from "./dump.ts";
import { readDump, writeDump } from "./dump_file.ts";
import { type StoreInfo, storeInfo } from "./info.ts";
import { fillFrom, heartbeatsByNode, isForeign, provenDump, rowsHere } from "./restore.ts";
import { schemaVersion, type Totals } from "./tables.ts";

export type { LedgerFault, LedgerProof } from "../chain/verify.ts";
export { BadDump, pepperWithin } from "./dump.ts";

/** The command would overwrite data, or its input does not exist. */
export class CareRefused extends Error {
  override readonly name = "CareRefused";
}

export interface Place {
  /** URL of the store. */
  url: string;
  /** The PostgreSQL schema that holds the tables; absent: the connection's default schema. */
  schema?: string;
}

export interface Copied {
  head: DumpHead;
  /** Path under which the replaced database was kept. */
  aside?: string;
  tables: { table: string; totals: Totals }[];
}

/**
 * How long a node is watched for a heartbeat, in milliseconds. Nodes send one every 5 s, or more slowly on a
 * busy machine.
 */
const DEAD_MS = 12_000;
const LOOK_MS = 500;

/** Writes a file from which the store can be restored: a consistent snapshot. */
export async function backup(
  place: Place,
  file: string,
  { pepper, force = false, now = new Date() }: { pepper: string | null; force?: boolean; now?: Date },
): Promise<Copied> {
  const path = pathOf(place);
  if (path !== null && sameFile(path, file)) throw new CareRefused(`The file ${file} is the store itself.`);
  refuseOthersThanFiles("write", file);
  if (!force && exists(file)) {
    throw new CareRefused(`The file ${file} exists. Name another one, or say --force to replace it.`);
  }
  return await using(openExisting(place), async (engine) => {
    const tables: Copied["tables"] = [];
    let head: DumpHead | undefined;
    await engine.snapshot((reader) => {
      const lines = dumpLines(engine, reader, {
        created: now,
        pepper,
        begun: (begun) => head = begun,
        done: (table, totals) => tables.push({ table, totals }),
      });
      return writeDump(file, lines);
    });
    return { head: head!, tables };
  });
}

export interface RestoreOptions {
  /** Overwrite a store that has data. */
  force?: boolean;
  deadMs?: number;
  /** True: the pepper comes from the configuration, and is not stored in the database or beside it. */
  pepperConfigured?: boolean;
  /**
   * Called with the header of the backup before anything is written. An error that it throws aborts the
   * restore.
   */
  accept?(head: DumpHead): void;
}

/**
 * Restores a store from a backup. Throws {@link BadDump} if the file is incomplete, {@link CareRefused} if
 * nodes are using the store or, unless forced, if it has data. In these cases nothing is changed.
 */
export async function restore(place: Place, file: string, options: RestoreOptions = {}): Promise<Copied> {
  refuseOthersThanFiles("read", file);
  const { head, totals } = await provenDump(readDump(file));
  options.accept?.(head);
  await refuseUsed(place, options);
  const path = pathOf(place);
  const tables: Copied["tables"] = [];
  const done = (table: string, totals: Totals) => tables.push({ table, totals });
  if (path === null) {
    await using(
      open(place),
      (engine) =>
        fillFrom(engine, readDump(file), totals, {
          pepper: options.pepperConfigured ? null : head.pepper,
          done,
        }),
    );
    return { head, tables };
  }
  const draft = `${path}.restoring`;
  makeFolderOf(path);
  try {
    removeDatabase(draft);
    Deno.openSync(draft, { write: true, createNew: true, mode: 0o600 }).close();
    await using(
      openSqlite(draft, { inThread: true }),
      async (engine) => {
        await fillFrom(engine, readDump(file), totals, { pepper: null, done });
        await bringLogIn(engine);
      },
    );
    const aside = setAside(path);
    Deno.renameSync(draft, path);
    return { head, tables, aside };
  } finally {
    removeDatabase(draft);
  }
}

/** The path under which a restore keeps the file that it replaces. */
export function asideOf(path: string): string {
  const name = `${path}.before-restore`;
  for (let i = 1;; i++) {
    const numbered = i === 1 ? name : `${name}-${i}`;
    if (!exists(numbered)) return numbered;
  }
}

/**
 * Size, row counts and nodes of an existing store.
 *
 * @param deadMs how long to wait for heartbeats, in milliseconds
 */
export async function info(place: Place, { deadMs = DEAD_MS } = {}): Promise<StoreInfo> {
  return await using(openExisting(place), async (engine) => {
    const path = pathOf(place);
    // The newest data is in the write-ahead log beside the file.
    const bytes = path === null ? null : (sizeIfThere(path) ?? 0) + (sizeIfThere(`${path}-wal`) ?? 0);
    const found = await engine.snapshot((reader) => storeInfo(engine, reader.query, bytes));
    const alive = await beating(engine, found.nodes.length === 0 ? 0 : deadMs, found.nodes.length);
    return { ...found, nodes: found.nodes.map((node) => ({ ...node, alive: alive.has(node.id) })) };
  });
}

/** Reads the whole ledger in one snapshot and verifies it. */
export async function verify(
  place: Place,
  chainKeyOfStore: (query: Query) => Promise<string>,
  options: { progress?(records: number): void } = {},
): Promise<LedgerProof> {
  return await using(openExisting(place), (engine) =>
    engine.snapshot(async (reader) => {
      const schema = await schemaVersion(engine, reader.query);
      if (schema < SCHEMA_VERSION) {
        throw new CareRefused(
          `The store's schema has version ${schema}, and records are chained since version ${SCHEMA_VERSION}: start the ` +
            "gateway on it once.",
        );
      }
      return verifyLedger(engine, reader, await chainKeyOfStore(reader.query), options);
    }));
}

/** The file path of an SQLite store; null: another engine. */
export function pathOf({ url }: Place): string | null {
  return /^sqlite:(.+)$/.exec(url)?.[1] ?? null;
}

async function refuseUsed(place: Place, options: RestoreOptions): Promise<void> {
  const path = pathOf(place);
  if (path === null) return await refuseHeld(place, options);
  if (!exists(path) && !exists(`${path}-wal`)) return;
  try {
    await refuseHeld(place, options);
  } catch (error) {
    // Not rethrown: a damaged database is a reason for a restore.
    if (!(error instanceof StoreDamaged || error instanceof StoreUnfit)) throw error;
    if (options.force) return;
    const why = error instanceof StoreUnfit ? error.message : `The file ${path} is damaged.`;
    throw new CareRefused(`${why} Say --force to replace it; it is kept beside the restored one.`);
  }
}

async function refuseHeld(place: Place, { force = false, deadMs = DEAD_MS }: RestoreOptions): Promise<void> {
  await using(open(place), async (engine) => {
    if ((await beating(engine, deadMs)).size > 0) {
      throw new CareRefused("A gateway is using this store. Stop it first, then restore.");
    }
    if (await isForeign(engine, engine.query)) {
      throw new CareRefused(
        "The database has tables of another program. Configure one of its own for the store.",
      );
    }
    const rows = await rowsHere(engine, engine.query);
    if (rows > 0 && !force) {
      throw new CareRefused(
        `The store is not empty: it has ${
          countOf(rows, "row")
        }. Say --force to replace it, or configure another store.`,
      );
    }
  });
}

/**
 * Watches heartbeats and returns the ids of nodes that are alive. Ends after `deadMs`, or as soon as `enough`
 * nodes were seen.
 */
async function beating(engine: Engine, deadMs: number, enough = 1): Promise<Set<string>> {
  const before = await heartbeatsByNode(engine, engine.query);
  const alive = new Set<string>();
  const end = performance.now() + deadMs;
  while (before.size > 0 && alive.size < enough && performance.now() < end) {
    await pause(LOOK_MS);
    for (const [node, beat] of await heartbeatsByNode(engine, engine.query)) {
      if (before.get(node) !== beat) alive.add(node);
    }
  }
  return alive;
}

function open(place: Place): Engine {
  const path = pathOf(place);
  if (path === null) return openPostgres(place.url, { schema: place.schema ?? null });
  if (path === ":memory:") throw new CareRefused("A store in memory has nothing to be taken care of.");
  return openSqlite(path, { inThread: true });
}

/** Opens without creating a database file. */
function openExisting(place: Place): Engine {
  const path = pathOf(place);
  if (path !== null && path !== ":memory:" && !exists(path)) {
    throw new CareRefused(`There is no store: the file ${path} does not exist.`);
  }
  return open(place);
}

async function using<T>(engine: Engine, work: (engine: Engine) => Promise<T>): Promise<T> {
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

/** Moves the log as well, even without its database file: SQLite would replay it into the restored database. */
function setAside(path: string): string | undefined {
  if (!["", "-wal", "-shm"].some((end) => exists(path + end))) return undefined;
  const aside = asideOf(path);
  for (const end of ["-wal", "-shm", ""]) {
    if (exists(path + end)) Deno.renameSync(path + end, aside + end);
  }
  return aside;
}

/** Whether `path` is the database file or one of its companions (log, index). */
function sameFile(database: string, path: string): boolean {
  if (!exists(path)) return false;
  const real = Deno.realPathSync(path);
  return ["", "-wal", "-shm", ".pepper"].some((end) =>
    exists(database + end) && Deno.realPathSync(database + end) === real
  );
}

/**
 * Copies the log of an SQLite database into its file, so that the file alone is the database. Closing does that too, but says nothing
 * where there is no room. Throws `StoreUnavailable`.
 */
async function bringLogIn(engine: Engine): Promise<void> {
  const [{ busy }] = await engine.query("PRAGMA wal_checkpoint(TRUNCATE)");
  if (Number(busy) !== 0) throw new StoreUnavailable("The database that is being made is in use.");
}

function removeDatabase(path: string): void {
  for (const end of ["", "-wal", "-shm"]) if (exists(path + end)) Deno.removeSync(path + end);
}

/** A backup is renamed to its path, which would replace a device such as /dev/stdout. */
function refuseOthersThanFiles(verb: "read" | "write", path: string): void {
  const info = statIfThere(path);
  if (info === null || info.isFile) return;
  const found = info.isDirectory ? "a folder" : "a device or a pipe";
  throw new CareRefused(`Cannot ${verb} ${path}: expected a file, got ${found}`);
}

function exists(path: string): boolean {
  return sizeIfThere(path) !== null;
}

/** Size in bytes; null: no such file. Throws if the file system reports another error. */
function sizeIfThere(path: string): number | null {
  return statIfThere(path)?.size ?? null;
}

function statIfThere(path: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
