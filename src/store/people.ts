/**
 * Administration tokens, stored as hashes of their secrets, and console sessions that were ended before they
 * expired.
 */
import { type Engine, isPast, type Query } from "./engine.ts";
import type { Position } from "./position.ts";
import { change } from "./revision.ts";
import { asInt, asText, optional, type Row } from "./rows.ts";

export interface StoredToken {
  id: string;
  name: string;
  role: string;
  hash: string;
  /** Milliseconds since the epoch, as all times here. */
  created: number;
  /** Name of the creator. */
  createdBy: string;
  expiresAt: number | null;
  revokedAt: number | null;
  lastUsed: number | null;
}

export interface EndedSession {
  id: string;
  /** When the session would have expired. */
  ends: number;
}

/** Changes of tokens and ended sessions since a revision. */
export interface PeopleChanges {
  tokens: StoredToken[];
  endedSessions: EndedSession[];
}

export function insertToken(engine: Engine, token: StoredToken): Promise<void> {
  return change(engine, async (query, rev) => {
    await query(
      `INSERT INTO admin_tokens (id, name, role, hash, created, created_by, expires_at, revoked_at, last_used, rev)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (id) DO NOTHING`,
      [
        token.id,
        token.name,
        token.role,
        token.hash,
        token.created,
        token.createdBy,
        token.expiresAt,
        token.revokedAt,
        token.lastUsed,
        rev,
      ],
    );
  });
}

/** The token after revocation; if it was revoked before, that time is kept. Null: no such token. */
export function revokeToken(engine: Engine, id: string, at: number): Promise<StoredToken | null> {
  return change(engine, async (query, rev) => {
    const rows = await query(
      `UPDATE admin_tokens SET revoked_at = COALESCE(revoked_at, $2), rev = $3 WHERE id = $1 RETURNING *`,
      [id, at, rev],
    );
    return rows.length === 0 ? null : decodeToken(rows[0]);
  });
}

/** Records the last use of a token. Does not change the revision, since no other node needs it. */
export async function touchToken(query: Query, id: string, at: number): Promise<void> {
  await query(
    `UPDATE admin_tokens SET last_used = $2 WHERE id = $1 AND (last_used IS NULL OR last_used < $2)`,
    [
      id,
      at,
    ],
  );
}

/** Newest first, including revoked and expired tokens. */
export async function listTokens(
  query: Query,
  { after, limit }: { after: Position | null; limit: number },
): Promise<StoredToken[]> {
  const rows = await query(
    `SELECT * FROM admin_tokens ${after === null ? "" : "WHERE (created, id) < ($2, $3)"}
     ORDER BY created DESC, id DESC LIMIT $1`,
    after === null ? [limit] : [limit, after.created, after.id],
  );
  return rows.map(decodeToken);
}

/** The token with this secret hash, also if revoked or expired. */
export async function tokenByHash(query: Query, hash: string): Promise<StoredToken | null> {
  const rows = await query("SELECT * FROM admin_tokens WHERE hash = $1", [hash]);
  return rows.length === 0 ? null : decodeToken(rows[0]);
}

/** Ends a session on all nodes, and deletes entries of sessions that have expired since. */
export function endSession(engine: Engine, { id, ends }: EndedSession, now: number): Promise<void> {
  return change(engine, async (query, rev) => {
    await query(`DELETE FROM ended_sessions WHERE ${isPast(engine, "ends", "$1")}`, [now]);
    await query(
      "INSERT INTO ended_sessions (id, ends, rev) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING",
      [id, ends, rev],
    );
  });
}

/** All changes after a revision; 0: everything. */
export async function peopleSince(query: Query, rev: number): Promise<PeopleChanges> {
  const tokens = await query("SELECT * FROM admin_tokens WHERE rev > $1", [rev]);
  const ended = await query("SELECT id, ends FROM ended_sessions WHERE rev > $1", [rev]);
  return {
    tokens: tokens.map(decodeToken),
    endedSessions: ended.map((row) => ({ id: asText(row.id), ends: asInt(row.ends) })),
  };
}

function decodeToken(row: Row): StoredToken {
  return {
    id: asText(row.id),
    name: asText(row.name),
    role: asText(row.role),
    hash: asText(row.hash),
    created: asInt(row.created),
    createdBy: asText(row.created_by),
    expiresAt: optional(row.expires_at, asInt),
    revokedAt: optional(row.revoked_at, asInt),
    lastUsed: optional(row.last_used, asInt),
  };
}
