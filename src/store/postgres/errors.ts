/** Classifies errors of PostgreSQL and its driver: connection lost, retry, or permanent. */
import { StoreForbidden, StoreUnavailable } from "../engine.ts";

/** serialization_failure and deadlock_detected: the same transaction is expected to succeed when repeated. */
const CONFLICTS = new Set(["40001", "40P01"]);
/**
 * SQLSTATE classes of temporary conditions: connection exception, insufficient resources (disk full, too many
 * connections), operator intervention (shutdown, startup, cancelled statement), system error. 55P03 is
 * lock_not_available.
 */
const TRANSIENT = /^(08|53|57|58)|^55P03$/;
/**
 * Insufficient privilege; missing or invisible schema or table; a role or database that rejects the login.
 * None of them is caused by the data that is written.
 */
const FORBIDDEN = /^(28|3D000|3F000|42501|42P01)/;
/**
 * read_only_sql_transaction: the server is a standby, before or after a failover. The connection must be
 * closed: one that stays open to the former primary never reaches the new one.
 */
const READ_ONLY = "25006";
/** too_many_connections, by the limit of the server, the database or the role. Open connections still work. */
const FULL = "53300";
/**
 * Error codes of the driver (and of the system) for lost or refused connections. Those of the server have
 * five characters.
 */
const LOST = /^(CONNECT|CONNECTION_|E[A-Z]{4,}|ENOTFOUND)/;

export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(sqlState(error));
}

/** The connection is lost, closing, or was abandoned; other connections of its pool may be in the same state. */
export function isConnectionLost(error: unknown): boolean {
  const code = sqlState(error);
  return error instanceof StoreUnavailable || LOST.test(code) || code === READ_ONLY || /^(08|57P)/.test(code);
}

/** No connection could be opened because the maximum number is reached. */
export function isFull(error: unknown): boolean {
  return sqlState(error) === FULL;
}

/** Temporary errors become `StoreUnavailable`; all others are returned unchanged. */
export function translate(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error;
  const code = sqlState(error);
  if (FORBIDDEN.test(code)) {
    return new StoreForbidden("The database does not let this gateway work now.", { cause: error });
  }
  return LOST.test(code) || code === READ_ONLY || TRANSIENT.test(code)
    ? new StoreUnavailable("The database cannot be reached now.", { cause: error })
    : error;
}

/** The server refused the login or terminated the session: the statement is not the cause. */
export function isFatal(error: unknown): boolean {
  return ["FATAL", "PANIC"].includes((error as { severity?: string })?.severity ?? "");
}

function sqlState(error: unknown): string {
  const code = (error as { code?: unknown })?.code;
  return typeof code === "string" ? code : "";
}
