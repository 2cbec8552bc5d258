/**
 * The audit log, stored apart from the ledger: written in batches, read in pages, deleted after its retention
 * period.
 */
import { addKeyName, conditionsIn } from "./conditions.ts";
import type { Columns, Engine, Query } from "./engine.ts";
import type { Position } from "./position.ts";
import { asInt, asText, optional, type Row, type Value } from "./rows.ts";

export type AuditKind = "dlp" | "admin";

export interface AuditRecord {
  id: string;
  /** Milliseconds since the epoch. */
  created: number;
  kind: AuditKind;
  keyId: string | null;
  key: string | null;
  account: string | null;
  /** A JSON object. Never contains conversation text or a secret. */
  data: string;
}

export interface AuditFilter {
  kind?: AuditKind;
  keyId?: string;
  /** Name of a key, in the entry. */
  key?: string;
  /** Ids of keys with this name at present. */
  keysNow?: readonly string[];
  /** Milliseconds; inclusive. */
  from?: number;
  /** Milliseconds; exclusive. */
  to?: number;
}

const COLUMNS: Columns = [
  ["id", "text"],
  ["created", "int"],
  ["kind", "text"],
  ["key_id", "text"],
  ["key_name", "text"],
  ["account", "text"],
  ["data", "text"],
];

/** Inserts records. A record whose id exists is left unchanged. */
export async function insertAudit(engine: Engine, records: readonly AuditRecord[]): Promise<void> {
  const rows = records.map(({ id, created, kind, keyId, key, account, data }) => [
    id,
    Math.round(created),
    kind,
    keyId,
    key,
    account,
    data,
  ]);
  const writing = { table: "audit", columns: COLUMNS, then: "ON CONFLICT (id) DO NOTHING" };
  await engine.transaction((query) => engine.insertRows(query, writing, rows));
}

/** Newest first. */
export async function listAudit(
  query: Query,
  filter: AuditFilter,
  page: { after: Position | null; limit: number },
): Promise<AuditRecord[]> {
  const where: string[] = [];
  const params: Value[] = [];
  const add = conditionsIn(where, params);
  add("kind =", filter.kind);
  add("key_id =", filter.keyId);
  addKeyName(where, params, filter);
  add("created >=", filter.from);
  add("created <", filter.to);
  if (page.after !== null) {
    params.push(page.after.created, page.after.id);
    where.push(`(created, id) < ($${params.length - 1}, $${params.length})`);
  }
  params.push(page.limit);
  const rows = await query(
    `SELECT ${COLUMNS.map(([name]) => name).join(", ")} FROM audit
     ${where.length > 0 ? `WHERE ${where.join(" AND ")}` : ""}
     ORDER BY created DESC, id DESC LIMIT $${params.length}`,
    params,
  );
  return rows.map(decodeRow);
}

/** Deletes up to `most` records older than `before`; returns how many. 0: none are left. */
export async function retireAudit(engine: Engine, before: number, most: number): Promise<number> {
  const deleted = await engine.query(
    `DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE created < $1 ORDER BY created, id LIMIT ${most}) RETURNING id`,
    [Math.floor(before)],
  );
  return deleted.length;
}

function decodeRow(row: Row): AuditRecord {
  return {
    id: asText(row.id),
    created: asInt(row.created),
    kind: asText(row.kind) as AuditKind,
    keyId: optional(row.key_id, asText),
    key: optional(row.key_name, asText),
    account: optional(row.account, asText),
    data: asText(row.data),
  };
}
