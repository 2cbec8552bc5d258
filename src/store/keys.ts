/** API keys and the hashes of their secrets. */
import { type Engine, isPast, type Query } from "./engine.ts";
import type { Position } from "./position.ts";
import { change } from "./revision.ts";
import { asBool, asInt, asMoney, asText, optional, type Row, type Value } from "./rows.ts";

export type SpendPeriod = "day" | "week" | "month" | "total";

export interface StoredKey {
  id: string;
  name: string;
  /** The key's own account. An account of its team has priority. */
  account: string;
  accessPolicy: string | null;
  dlpPolicy: string | null;
  models: readonly string[] | null;
  spendLimit: { amount: bigint; period: SpendPeriod } | null;
  requestsPerMinute: number | null;
  tokensPerMinute: number | null;
  /** Team name; the team may not exist. Null: none. */
  team: string | null;
  sessionLimit: { amount: bigint | null; requestsPerMinute: number | null } | null;
  /** Limits per tag value: each value has its own budget. */
  tagLimits: readonly TagLimit[];
  /** Malformed arguments of tool calls are repaired. */
  repair: boolean;
  /** If a route is slow, the request is also sent to the next one. */
  hedge: boolean;
  /** How long streams can be resumed after their end, in milliseconds; null: as each request asks. */
  resumeMs: number | null;
  /** The person who owns the key, by the name from console sign-in; null: nobody. */
  member: string | null;
  /** Requests and answers are stored. */
  payloads: boolean;
  created: number;
  expiresAt: number | null;
  revokedAt: number | null;
}

export interface TagLimit {
  tag: string;
  amount: bigint;
  period: SpendPeriod;
}

export interface StoredSecret {
  hash: string;
  expiresAt: number | null;
}

export interface KeyWithSecrets extends StoredKey {
  /** Revision of the key's last change: of two versions, the one with the higher revision is newer. */
  rev: number;
  secrets: StoredSecret[];
}

/** Another key that is not revoked has this name. */
export class NameTaken extends Error {
  override readonly name = "NameTaken";
}

/** The member already has the maximum number of keys. */
export class TooManyKeys extends Error {
  override readonly name = "TooManyKeys";
  readonly most: number;

  constructor(most: number) {
    super();
    this.most = most;
  }
}

/** The team does not exist, or has been removed. */
export class NoSuchTeam extends Error {
  override readonly name = "NoSuchTeam";

  constructor(readonly team: string) {
    super();
  }
}

export interface KeyConditions {
  /** A team that must exist in the store, or the change throws {@link NoSuchTeam}. */
  team?: string;
}

export interface NewKeyConditions extends KeyConditions {
  /** The most keys that the member may have, including this one. */
  mostOfMember?: number;
}

export function insertKey(
  engine: Engine,
  key: StoredKey,
  hash: string,
  { mostOfMember, team }: NewKeyConditions = {},
): Promise<void> {
  return change(engine, async (query, rev) => {
    await checkTeam(query, team);
    if (mostOfMember !== undefined) {
      // Every change increments the revision first, so transactions are serialized and the count is current.
      const [{ n }] = await query("SELECT COUNT(*) AS n FROM keys WHERE member = $1 AND revoked_at IS NULL", [
        key.member,
      ]);
      if (asInt(n) >= mostOfMember) throw new TooManyKeys(mostOfMember);
    }
    const taken = await query("SELECT id FROM keys WHERE name = $1 AND revoked_at IS NULL", [key.name]);
    if (taken.length > 0) throw new NameTaken(key.name);
    const values = ["id", ...FIELDS, "created", "expires_at", "revoked_at", "rev"];
    await query(
      `INSERT INTO keys (${values.join(", ")}) VALUES (${values.map((_, i) => `$${i + 1}`).join(", ")})`,
      [key.id, ...fields(key), key.created, key.expiresAt, key.revokedAt, rev],
    );
    await query("INSERT INTO secrets (hash, key_id, expires_at) VALUES ($1, $2, NULL)", [hash, key.id]);
  });
}

/** Applies `edit` to the current state of a key; `edit` may be called more than once. False: no such key. */
export function updateKey(
  engine: Engine,
  id: string,
  edit: (key: StoredKey) => StoredKey,
  { team }: KeyConditions = {},
): Promise<boolean> {
  return change(engine, async (query, rev) => {
    await checkTeam(query, team);
    // Every change increments the revision first, so nobody else can write between this read and the update.
    const [row] = await query("SELECT * FROM keys WHERE id = $1", [id]);
    if (row === undefined) return false;
    const key = edit(decodeKey(row));
    const taken = await query("SELECT id FROM keys WHERE name = $1 AND revoked_at IS NULL AND id <> $2", [
      key.name,
      key.id,
    ]);
    if (taken.length > 0 && key.revokedAt === null) throw new NameTaken(key.name);
    const values = [...FIELDS, "expires_at", "revoked_at", "rev"];
    await query(
      `UPDATE keys SET ${values.map((name, i) => `${name} = $${i + 2}`).join(", ")} WHERE id = $1`,
      [key.id, ...fields(key), key.expiresAt, key.revokedAt, rev],
    );
    return true;
  });
}

async function checkTeam(query: Query, team: string | undefined): Promise<void> {
  if (team === undefined) return;
  const rows = await query("SELECT name FROM teams WHERE name = $1 AND removed_at IS NULL", [team]);
  if (rows.length === 0) throw new NoSuchTeam(team);
}

/** Adds a secret. Existing secrets expire at `until`, or at their own expiry if that is earlier. */
export function addSecret(
  engine: Engine,
  keyId: string,
  secret: { hash: string; now: number; until: number },
): Promise<void> {
  return change(engine, async (query, rev) => {
    const ended = isPast(engine, "expires_at", "$2");
    await query(`DELETE FROM secrets WHERE key_id = $1 AND ${ended}`, [keyId, secret.now]);
    await query(
      "UPDATE secrets SET expires_at = $2 WHERE key_id = $1 AND (expires_at IS NULL OR expires_at > $2)",
      [keyId, secret.until],
    );
    await query("INSERT INTO secrets (hash, key_id, expires_at) VALUES ($1, $2, NULL)", [secret.hash, keyId]);
    await query("UPDATE keys SET rev = $2 WHERE id = $1", [keyId, rev]);
  });
}

/** The columns written by {@link fields}. */
const FIELDS = [
  "name",
  "account",
  "access_policy",
  "dlp_policy",
  "models",
  "spend_amount",
  "spend_period",
  "requests_per_minute",
  "tokens_per_minute",
  "team",
  "session_amount",
  "session_requests_per_minute",
  "tag_limits",
  "repair",
  "hedge",
  "resume_ms",
  "member",
  "payloads",
];

/** All columns of a key that can change, except its expiry. */
function fields(key: StoredKey) {
  return [
    key.name,
    key.account,
    key.accessPolicy,
    key.dlpPolicy,
    key.models === null ? null : JSON.stringify(key.models),
    key.spendLimit?.amount ?? null,
    key.spendLimit?.period ?? null,
    key.requestsPerMinute,
    key.tokensPerMinute,
    key.team,
    key.sessionLimit?.amount ?? null,
    key.sessionLimit?.requestsPerMinute ?? null,
    key.tagLimits.length === 0
      ? null
      : JSON.stringify(key.tagLimits.map((limit) => ({ ...limit, amount: limit.amount.toString() }))),
    key.repair ? 1 : null,
    key.hedge ? 1 : null,
    key.resumeMs,
    key.member,
    key.payloads ? 1 : null,
  ];
}

/** Keys that changed after a revision; 0: all. */
export async function keysSince(query: Query, rev: number): Promise<KeyWithSecrets[]> {
  const keys = await query("SELECT * FROM keys WHERE rev > $1", [rev]);
  const secrets = keys.length === 0 ? [] : await query(
    "SELECT hash, key_id, expires_at FROM secrets WHERE key_id IN (SELECT id FROM keys WHERE rev > $1)",
    [rev],
  );
  return withSecrets(keys, secrets);
}

/** All keys in order of id, in pages that start after the id `after`. */
export async function keysBehind(query: Query, after: string, limit: number): Promise<KeyWithSecrets[]> {
  const keys = await query("SELECT * FROM keys WHERE id > $1 ORDER BY id LIMIT $2", [after, limit]);
  if (keys.length === 0) return [];
  const secrets = await query(
    "SELECT hash, key_id, expires_at FROM secrets WHERE key_id > $1 AND key_id <= $2",
    [after, keys[keys.length - 1].id],
  );
  return withSecrets(keys, secrets);
}

export interface KeyPage {
  after: Position | null;
  limit: number;
  /** Only keys of this person. */
  member?: string;
  /** Only keys whose name contains this text, ignoring case. */
  search?: string;
  /** Only keys of this team. */
  team?: string;
}

/** A LIKE pattern for texts that contain `text`. */
function containing(text: string): string {
  return `%${text.replace(/[!%_]/g, (sign) => `!${sign}`)}%`;
}

/** SQL condition: the name contains a text. Databases may change the case of ASCII letters only. */
function isNamed(search: string, param: (value: Value) => string): string {
  return `(LOWER(name) LIKE ${param(containing(search.toLowerCase()))} ESCAPE '!'
    OR name LIKE ${param(containing(search))} ESCAPE '!')`;
}

/** Newest first, including revoked and expired keys. */
export async function listKeys(
  query: Query,
  { after, limit, member, search, team }: KeyPage,
): Promise<StoredKey[]> {
  const params: Value[] = [limit];
  const param = (value: Value) => `$${params.push(value)}`;
  const where = [
    ...(after === null ? [] : [`(created, id) < (${param(after.created)}, ${param(after.id)})`]),
    ...(member === undefined ? [] : [`member = ${param(member)}`]),
    ...(search === undefined ? [] : [isNamed(search, param)]),
    ...(team === undefined ? [] : [`team = ${param(team)}`]),
  ];
  const rows = await query(
    `SELECT * FROM keys ${where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`}
     ORDER BY created DESC, id DESC LIMIT $1`,
    params,
  );
  return rows.map(decodeKey);
}

/** The key with this secret hash, also if revoked or expired. */
export async function keyByHash(engine: Engine, hash: string): Promise<KeyWithSecrets | null> {
  const rows = await engine.query(
    "SELECT * FROM keys WHERE id IN (SELECT key_id FROM secrets WHERE hash = $1)",
    [hash],
  );
  if (rows.length === 0) return null;
  const secrets = await engine.query("SELECT hash, key_id, expires_at FROM secrets WHERE key_id = $1", [
    rows[0].id,
  ]);
  return withSecrets(rows, secrets)[0];
}

function withSecrets(rows: readonly Row[], secrets: readonly Row[]): KeyWithSecrets[] {
  const of = Map.groupBy(secrets, (row) => asText(row.key_id));
  return rows.map((row) => ({
    ...decodeKey(row),
    rev: asInt(row.rev),
    secrets: (of.get(asText(row.id)) ?? []).map((secret) => ({
      hash: asText(secret.hash),
      expiresAt: optional(secret.expires_at, asInt),
    })),
  }));
}

function decodeTagLimits(json: string): TagLimit[] {
  return (JSON.parse(json) as (Omit<TagLimit, "amount"> & { amount: string })[])
    .map((limit) => ({ ...limit, amount: BigInt(limit.amount) }));
}

function decodeKey(row: Row): StoredKey {
  return {
    id: asText(row.id),
    name: asText(row.name),
    account: asText(row.account),
    accessPolicy: optional(row.access_policy, asText),
    dlpPolicy: optional(row.dlp_policy, asText),
    models: row.models === null ? null : JSON.parse(asText(row.models)),
    spendLimit: row.spend_amount === null ? null : {
      amount: asMoney(row.spend_amount),
      period: asText(row.spend_period) as SpendPeriod,
    },
    requestsPerMinute: optional(row.requests_per_minute, asInt),
    tokensPerMinute: optional(row.tokens_per_minute, asInt),
    team: optional(row.team, asText),
    sessionLimit: row.session_amount === null && row.session_requests_per_minute === null ? null : {
      amount: optional(row.session_amount, asMoney),
      requestsPerMinute: optional(row.session_requests_per_minute, asInt),
    },
    tagLimits: row.tag_limits === null ? [] : decodeTagLimits(asText(row.tag_limits)),
    repair: row.repair !== null && asBool(row.repair),
    hedge: row.hedge !== null && asBool(row.hedge),
    resumeMs: optional(row.resume_ms, asInt),
    member: optional(row.member, asText),
    payloads: row.payloads !== null && asBool(row.payloads),
    created: asInt(row.created),
    expiresAt: optional(row.expires_at, asInt),
    revokedAt: optional(row.revoked_at, asInt),
  };
}
