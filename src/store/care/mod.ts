/**
 * Care of a store beside the gateway, each by a command of its own: backup, restore, and what is to be known of it.
 *
 * None of it brings the schema up to date, so that it can be done before a new release is started.
 */
import { countOf } from "../../exchange/printable.ts";
import { pause } from "../../timing/waits.ts";
import { type LedgerProof, verifyLedger } from "../chain/verify.ts";
import { type Engine, type Query, StoreDamaged, StoreUnfit } from "../engine.ts";
import { SCHEMA_VERSION } from "../migrations/mod.ts";
import { openPostgres } from "../postgres/mod.ts";
import { openSqlite } from "../sqlite/mod.ts";
import { makeFolderOf } from "../sqlite/file.ts";
import { type DumpHead, dumpLines } from "./dump.ts";
import { readDump, writeDump } from "./dump_file.ts";
import { type StoreInfo, storeInfo } from "./info.ts";
import { beatsHere, fillFrom, isForeign, provenDump, rowsHere } from "./restore.ts";
import { schemaVersion, type Totals } from "./tables.ts";

export type { LedgerFault, LedgerProof } from "../chain/verify.ts";
export { BadDump, pepperWithin } from "./dump.ts";
export type { StoreInfo } from "./info.ts";

/** What was asked for would overwrite something, or there is nothing to do it with. */
export class CareRefused extends Error {
  override readonly name = "CareRefused";
}

export interface Place {
  /** As of a store. */
  url: string;
  /** The PostgreSQL schema that holds the tables; absent: the connection's own. */
  schema?: string;
}

export interface Copied {
  head: DumpHead;
  /** Where the database is that was replaced. */
  aside?: string;
  tables: { table: string; totals: Totals }[];
}

/** A node's heart beats every five seconds, more slowly where the machine is busy. */
const DEAD_MS = 12_000;
const LOOK_MS = 500;

/** Writes a file from which the store can be made again, as it is at one moment. */
export async function backup(
  place: Place,
  file: string,
  { pepper, force = false, now = new Date() }: { pepper: string | null; force?: boolean; now?: Date },
): Promise<Copied> {
  const path = pathOf(place);
  if (path !== null && sameFile(path, file)) throw new CareRefused(`The file ${file} is the store itself.`);
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
  /** Overwrites a store that holds something. */
  force?: boolean;
  deadMs?: number;
  /** True: the pepper is configured, and has no place in the database or beside it. */
  pepperConfigured?: boolean;
  /** Told what the backup is, before anything is written; what it throws ends the restore. */
  accept?(head: DumpHead): void;
}

/**
 * Makes a store from a backup. Throws {@link BadDump} where the file is not whole, {@link CareRefused} where a store is in
 * use or, unless forced, holds something; then nothing is changed.
 */
export async function restore(place: Place, file: string, options: RestoreOptions = {}): Promise<Copied> {
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
      (engine) => fillFrom(engine, readDump(file), totals, { pepper: null, done }),
    );
    const aside = setAside(path);
    Deno.renameSync(draft, path);
    return { head, tables, aside };
  } finally {
    removeDatabase(draft);
  }
}

/** A name beside a file that a restore replaces, to keep it under. */
export function asideOf(path: string): string {
  const name = `${path}.before-restore`;
  for (let i = 1;; i++) {
    const numbered = i === 1 ? name : `${name}-${i}`;
    if (!exists(numbered)) return numbered;
  }
}

/**
 * Size, rows and nodes of a store that is there.
 *
 * @param deadMs how long nodes are watched to see which of them live
 */
export async function info(place: Place, { deadMs = DEAD_MS } = {}): Promise<StoreInfo> {
  return await using(openExisting(place), async (engine) => {
    const path = pathOf(place);
    // What was written last is in the log beside the file.
    const bytes = path === null ? null : (sizeIfThere(path) ?? 0) + (sizeIfThere(`${path}-wal`) ?? 0);
    const found = await engine.snapshot((reader) => storeInfo(engine, reader.query, bytes));
    const alive = await beating(engine, found.nodes.length === 0 ? 0 : deadMs, found.nodes.length);
    return { ...found, nodes: found.nodes.map((node) => ({ ...node, alive: alive.has(node.id) })) };
  });
}

/** Reads the whole ledger, as it is at one moment, and proves it. */
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

/** The path of an SQLite store; null: it is another one. */
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
    // What a backup is for.
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

/** Nodes whose hearts beat while this watches: until one does (or so many do), or for so long that none would. */
async function beating(engine: Engine, deadMs: number, enough = 1): Promise<Set<string>> {
  const before = await beatsHere(engine, engine.query);
  const alive = new Set<string>();
  const end = performance.now() + deadMs;
  while (before.size > 0 && alive.size < enough && performance.now() < end) {
    await pause(LOOK_MS);
    for (const [node, beat] of await beatsHere(engine, engine.query)) {
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

/** A look must not make a database. */
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

/** A log, too, whose database is gone: SQLite would take what it says for changes of the restored one. */
function setAside(path: string): string | undefined {
  if (!["", "-wal", "-shm"].some((end) => exists(path + end))) return undefined;
  const aside = asideOf(path);
  for (const end of ["-wal", "-shm", ""]) {
    if (exists(path + end)) Deno.renameSync(path + end, aside + end);
  }
  return aside;
}

/** Whether a path is that of a database, or of a file that belongs to it. */
function sameFile(database: string, path: string): boolean {
  if (!exists(path)) return false;
  const real = Deno.realPathSync(path);
  return ["", "-wal", "-shm", ".pepper"].some((end) =>
    exists(database + end) && Deno.realPathSync(database + end) === real
  );
}

function removeDatabase(path: string): void {
  for (const end of ["", "-wal", "-shm"]) if (exists(path + end)) Deno.removeSync(path + end);
}

function exists(path: string): boolean {
  return sizeIfThere(path) !== null;
}

/** In bytes; null: there is no such file. Throws where the system does not say. */
function sizeIfThere(path: string): number | null {
  try {
    return Deno.statSync(path).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
