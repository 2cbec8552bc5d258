/** Sessions of the console that have been begun and would still last: so that somebody can see and end those of a person. */
import { type Engine, isPast, type Query } from "./engine.ts";
import type { Position } from "./position.ts";
import { asInt, asText, optional, type Row, type Value } from "./rows.ts";

export interface StoredSession {
  id: string;
  /** Of the person or the token. */
  name: string;
  role: string;
  team: string | null;
  /** The person, as keys name the one they belong to; null: no person is known. */
  member: string | null;
  /** How it was signed in. */
  way: string;
  /** Id of the token that it rests on; null: of none. */
  credential: string | null;
  /** Milliseconds since the epoch, as all times here. */
  began: number;
  /** When it ends, unless it is used. */
  ends: number;
}

export interface SessionPage {
  after: Position | null;
  limit: number;
  /** Those that would have ended by then are left out. */
  now: number;
  /** Only of this person. */
  member?: string;
}

/** Those that have ended are forgotten. */
export async function insertSession(engine: Engine, query: Query, session: StoredSession): Promise<void> {
  const { id, name, role, team, member, way, credential, began, ends } = session;
  await query(`DELETE FROM console_sessions WHERE ${isPast(engine, "ends", "$1")}`, [began]);
  await query(
    `INSERT INTO console_sessions (id, name, role, team, member, way, credential, began, ends)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING`,
    [id, name, role, team, member, way, credential, began, ends],
  );
}

/** It has been used, and ends later. */
export async function renewSession(query: Query, id: string, ends: number): Promise<void> {
  await query("UPDATE console_sessions SET ends = $2 WHERE id = $1 AND ends < $2", [id, ends]);
}

/** Newest first, without those that have ended or have been ended. */
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

/** Null: there is none of this id. */
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
