/**
 * The schema, as numbered steps that only go forward, one file each.
 *
 * A step that has been released is never edited. All missing steps run in one transaction under a lock, so of many
 * processes that start together one migrates and the others find it done.
 */
import { pause } from "../../timing/waits.ts";
import { type Engine, type Query, StoreUnavailable, StoreUnfit } from "../engine.ts";
import { asInt } from "../rows.ts";
import { SCHEMA_VERSION } from "./version.ts";

export { SCHEMA_VERSION } from "./version.ts";

/** The store was written by a newer program, which may rely on what this one does not know. */
export class SchemaTooNew extends StoreUnfit {
  override readonly name = "SchemaTooNew";
}

/**
 * Milliseconds that each try waits for tables that others work with. Behind it they all wait, so it gives way to them in between;
 * none of these is as long as a call waits for its budget.
 */
const TRIES_MS = [300, 600, 1200, 2000, 2000, 2000];
const PAUSE_MS = 100;
/** SQLSTATE: a lock did not come in time, or others waited for this one's. */
const LOCKED = ["55P03", "40P01", "40001"];

/**
 * Brings the schema to {@link SCHEMA_VERSION}. Throws {@link SchemaTooNew}, and `StoreUnavailable` to be tried again.
 *
 * @param isNew called where there are no tables; what it throws leaves it so
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
    // Of a large table, or on a busy machine, it takes longer than a call would wait for.
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

/** Makes the tables of a version where there are none. */
export async function makeTables(engine: Engine, query: Query, version: number): Promise<void> {
  refuseNewer(version);
  await engine.lockMigrations(query);
  await query("CREATE TABLE schema_version (version BIGINT NOT NULL)");
  // What is put into them may be of nodes of 0.1.0.
  await takeSteps(engine, query, { from: 0, to: version, older: true });
}

/** Throws `SchemaTooNew` on a schema of a later release. */
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
  // The usual start finds nothing to do.
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

/** Nodes of 0.1.0, the one release that says nothing of its schema. */
async function hasOlderNodes(query: Query, version: number): Promise<boolean> {
  const rows = await query(
    `SELECT id FROM nodes ${version < 2 ? "" : "WHERE schema_version IS NULL"} LIMIT 1`,
  );
  return rows.length > 0;
}

/** Ends what was kept for nodes of 0.1.0, once none is registered. False: there are some. */
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

/** Of the schema; 0: it has no tables yet. */
export async function currentVersion(query: Query): Promise<number> {
  const rows = await query("SELECT version FROM schema_version");
  return rows.length === 0 ? 0 : asInt(rows[0].version);
}
