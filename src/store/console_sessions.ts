/** Console sessions that have been started and not expired, so that they can be listed and ended by person. */
import { type Engine, isPast, type Query } from "./engine.ts";
import type { Position } from "./position.ts";
import { asInt, asText, optional, type Row, type Value } from "./rows.ts";

export interface StoredSession {
  id: string;
  /** Name of the person or the token. */
  name: string;
  role: string;
  team: string | null;
  /** The person, by the name that keys use for their member; null: unknown. */
  member: string | null;
  /** Sign-in method. */
  way: string;
  /** Id of the administration token used to sign in; null: none. */
  credential: string | null;
  /** Milliseconds since the epoch, as all times here. */
  began: number;
  /** Expiry, which each use postpones. */
  ends: number;
}

export interface SessionPage {
  after: Position | null;
  limit: number;
  /** Sessions that expire before this time are left out. */
  now: number;
  /** Only sessions of this person. */
  member?: string;
}

/** Also deletes expired sessions. */
export async function insertSession(engine: Engine, query: Query, session: StoredSession): Promise<void> {
  const { id, name, role, team, member, way, credential, began, ends } = session;
  await query(`DELETE FROM console_sessions WHERE ${isPast(engine, "ends", "$1")}`, [began]);
  await query(
    `INSERT INTO console_sessions (id, name, role, team, member, way, credential, began, ends)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING`,
    [id, name, role, team, member, way, credential, began, ends],
  );
}

/** Postpones the expiry of a session that was used. */
export async function renewSession(query: Query, id: string, ends: number): Promise<void> {
  await query("UPDATE console_sessions SET ends = $2 WHERE id = $1 AND ends < $2", [id, ends]);
}

/** Newest first, without expired and ended sessions. */
export async function listSessions(
  query: Query,
  { after, limit, now, member }: SessionPage,
): Promise<StoredSession[]> {
  const params: Value[] = [limit, now];
  const param = (value: Value) => `$${params.push(value)}`;
  const where = [
    "ends > $2",
    "id NOT IN (SELECT id FROM ended_sessions)",
    ...(after === null ? [] : [`(began, id) < (${param(after.created)}, ${param(after.id)})`]),
    ...(member === undefined ? [] : [`member = ${param(member)}`]),
  ];
  const rows = await query(
    `SELECT * FROM console_sessions WHERE ${where.join(" AND ")} ORDER BY began DESC, id DESC LIMIT $1`,
    params,
  );
  return rows.map(decode);
}

/** Null: no session with this id. */
export async function sessionById(query: Query, id: string): Promise<StoredSession | null> {
  const rows = await query("SELECT * FROM console_sessions WHERE id = $1", [id]);
  return rows.length === 0 ? null : decode(rows[0]);
}

function decode(row: Row): StoredSession {
  return {
    id: asText(row.id),
    name: asText(row.name),
    role: asText(row.role),
    team: optional(row.team, asText),
    member: optional(row.member, asText),
    way: asText(row.way),
    credential: optional(row.credential, asText),
    began: asInt(row.began),
    ends: asInt(row.ends),
  };
}
