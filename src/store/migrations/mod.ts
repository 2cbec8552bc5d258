/**
 * The schema as numbered forward migrations, one file each.
 *
 * A released step is never edited. All missing steps run in one transaction under a lock, so of several
 * processes that start together one migrates and the others find the schema up to date.
 */
import { pause } from "../../timing/waits.ts";
import { type Engine, type Query, StoreUnavailable, StoreUnfit } from "../engine.ts";
import { asInt } from "../rows.ts";
import { SCHEMA_VERSION } from "./version.ts";

export { SCHEMA_VERSION } from "./version.ts";

/** The schema was written by a newer release, which may depend on rules that this one does not know. */
export class SchemaTooNew extends StoreUnfit {
  override readonly name = "SchemaTooNew";
}

/**
 * How long each attempt waits for table locks, in milliseconds. Everyone else queues behind a waiting lock
 * request, so it is given up in between; each attempt is shorter than a call waits for its budget.
 */
const TRIES_MS = [300, 600, 1200, 2000, 2000, 2000];
const PAUSE_MS = 100;
/** SQLSTATE: lock not available, deadlock, serialization failure. */
const LOCKED = ["55P03", "40P01", "40001"];

/**
 * Migrates the schema to {@link SCHEMA_VERSION}. Throws {@link SchemaTooNew}, and `StoreUnavailable` if it
 * should be tried again.
 *
 * @param isNew called if there are no tables; if it throws, none are created
 */
export async function migrate(engine: Engine, isNew = () => {}): Promise<void> {
  for (const [i, tableMs] of TRIES_MS.entries()) {
    try {
      return await migrateOnce(engine, tableMs, isNew);
    } catch (error) {
      const cause = error instanceof StoreUnavailable ? error.cause : error;
      if (!LOCKED.includes((cause as { code?: string } | undefined)?.code ?? "")) throw error;
      if (i === TRIES_MS.length - 1) throw new StoreUnavailable("Others use the tables.", { cause });
    }
    await pause(PAUSE_MS);
  }
}

async function migrateOnce(engine: Engine, tableMs: number, isNew: () => void): Promise<void> {
  const run = <T>(work: (query: Query) => Promise<T>) =>
    // On a large table, or on a busy machine, a step takes longer than the usual statement timeout.
    engine.kind === "postgres" ? engine.longTransaction(work) : engine.transaction(work);
  await run(async (query) => {
    await engine.lockMigrations(query, tableMs);
    await query("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)");
    const version = await currentVersion(query);
    refuseNewer(version);
    if (version === 0) isNew();
    await takeSteps(engine, query, { from: version, to: SCHEMA_VERSION });
  });
}

/** Creates the tables of a schema version in an empty database. */
export async function makeTables(engine: Engine, query: Query, version: number): Promise<void> {
  refuseNewer(version);
  await engine.lockMigrations(query);
  await query("CREATE TABLE schema_version (version BIGINT NOT NULL)");
  // The dumped data may come from nodes of 0.1.0.
  await takeSteps(engine, query, { from: 0, to: version, older: true });
}

/** Throws `SchemaTooNew` if the version is of a later release. */
export function refuseNewer(version: number): void {
  if (version <= SCHEMA_VERSION) return;
  throw new SchemaTooNew(
    `Cannot open the store: its schema has version ${version}, this program knows versions up to ` +
      `${SCHEMA_VERSION}. Start the newer program, or give this one a store of its own.`,
  );
}

async function takeSteps(
  engine: Engine,
  query: Query,
  { from, to, older }: { from: number; to: number; older?: boolean },
): Promise<void> {
  if (from === to) return;
  // Loaded only when needed: usually no step is missing.
  const { STEPS } = await import("./steps.ts");
  const dialect = {
    kind: engine.kind,
    money: engine.moneyType,
    large: from > 0 && await isLarge(query),
    older: older ?? (from > 0 && await hasOlderNodes(query, from)),
  };
  for (const step of STEPS.slice(from, to)) {
    for (const statement of step(dialect)) await query(statement);
  }
  await query("DELETE FROM schema_version");
  await query("INSERT INTO schema_version VALUES ($1)", [to]);
}

const LARGE_ROWS = 50_000;

async function isLarge(query: Query): Promise<boolean> {
  const [row] = await query(
    `SELECT COUNT(*) AS n FROM (SELECT 1 FROM generations LIMIT ${LARGE_ROWS}) AS few`,
  );
  return asInt(row.n) >= LARGE_ROWS;
}

/** Whether nodes of 0.1.0 are registered, the only release that does not report its schema version. */
async function hasOlderNodes(query: Query, version: number): Promise<boolean> {
  const rows = await query(
    `SELECT id FROM nodes ${version < 2 ? "" : "WHERE schema_version IS NULL"} LIMIT 1`,
  );
  return rows.length > 0;
}

/** Removes what was kept for nodes of 0.1.0, once none is registered. False: some are. */
export async function endUpdate(engine: Engine): Promise<boolean> {
  if (engine.kind !== "sqlite") {
    await engine.makeIndex?.("generations_by_model", "generations (model, created, id)");
    return true;
  }
  return await engine.transaction(async (query) => {
    const triggers = await query("SELECT name FROM sqlite_schema WHERE name = 'generations_unsummed'");
    if (triggers.length === 0) return true;
    if (await hasOlderNodes(query, SCHEMA_VERSION)) return false;
    const { WITHOUT_OLDER } = await import("./v21.ts");
    for (const statement of WITHOUT_OLDER) await query(statement);
    return true;
  });
}

/** Schema version; 0: there are no tables. */
export async function currentVersion(query: Query): Promise<number> {
  const rows = await query("SELECT version FROM schema_version");
  return rows.length === 0 ? 0 : asInt(rows[0].version);
}
