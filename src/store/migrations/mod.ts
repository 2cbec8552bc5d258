/**
 * The schema, as numbered steps that only go forward, one file each.
 *
 * A step that has been released is never edited. All missing steps run in one transaction under a lock, so of many
 * processes that start together one migrates and the others find it done.
 */
import type { Engine, Query } from "../engine.ts";
import { asInt } from "../rows.ts";
import type { Dialect } from "./dialect.ts";
import { v1 } from "./v1.ts";
import { v2 } from "./v2.ts";
import { v3 } from "./v3.ts";
import { v4 } from "./v4.ts";
import { v5 } from "./v5.ts";
import { v6 } from "./v6.ts";
import { v7 } from "./v7.ts";
import { v8 } from "./v8.ts";
import { v9 } from "./v9.ts";
import { v10 } from "./v10.ts";
import { v11 } from "./v11.ts";
import { v12 } from "./v12.ts";
import { v13 } from "./v13.ts";
import { v14 } from "./v14.ts";
import { v15 } from "./v15.ts";
import { v16 } from "./v16.ts";
import { v17 } from "./v17.ts";
import { v18 } from "./v18.ts";
import { v19 } from "./v19.ts";
import { v20 } from "./v20.ts";

/** SQL statements. */
type Step = (dialect: Dialect) => readonly string[];

const STEPS: readonly Step[] = [
  v1,
  v2,
  v3,
  v4,
  v5,
  v6,
  v7,
  v8,
  v9,
  v10,
  v11,
  v12,
  v13,
  v14,
  v15,
  v16,
  v17,
  v18,
  v19,
  v20,
];

export const SCHEMA_VERSION = STEPS.length;

/** The store was written by a newer program, which may rely on what this one does not know. */
export class SchemaTooNew extends Error {
  override readonly name = "SchemaTooNew";
}

/** Brings the schema to {@link SCHEMA_VERSION}. Throws {@link SchemaTooNew}. */
export async function migrate(engine: Engine): Promise<void> {
  await engine.transaction(async (query) => {
    await engine.lockMigrations(query);
    await query("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)");
    const version = await currentVersion(query);
    refuseNewer(version);
    await takeSteps(engine, query, { from: version, to: SCHEMA_VERSION });
  });
}

/** Makes the tables of a version where there are none. */
export async function makeTables(engine: Engine, query: Query, version: number): Promise<void> {
  refuseNewer(version);
  await engine.lockMigrations(query);
  await query("CREATE TABLE schema_version (version BIGINT NOT NULL)");
  await takeSteps(engine, query, { from: 0, to: version });
}

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
  { from, to }: { from: number; to: number },
): Promise<void> {
  if (from === to) return;
  const dialect = { kind: engine.kind, money: engine.moneyType, large: from > 0 && await isLarge(query) };
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

/** What the steps up to a version make, in that order. */
export function namesMade(kind: Engine["kind"], what: "TABLE" | "FUNCTION", version: number): string[] {
  const statements = STEPS.slice(0, version).flatMap((step) => step({ kind, money: "BIGINT", large: false }));
  const name = new RegExp(`^\\s*CREATE ${what} (\\w+)`);
  // A table that a later step makes anew is one table.
  return [...new Set(statements.flatMap((statement) => name.exec(statement)?.[1] ?? []))];
}

export async function currentVersion(query: Query): Promise<number> {
  const rows = await query("SELECT version FROM schema_version");
  return rows.length === 0 ? 0 : asInt(rows[0].version);
}
