/** What an error of PostgreSQL or its driver means for whoever asked: the connection is gone, try again, or a real fault. */
import { StoreForbidden, StoreUnavailable } from "../engine.ts";

/** Serialization failure and deadlock: the same transaction again is expected to pass. */
const CONFLICTS = new Set(["40001", "40P01"]);
/**
 * Classes of SQLSTATE that say "not now": connection, resources (full disk, too many connections), an operator's hand
 * (shutdown, starting up, cancelled statement), system error. 55P03 is a lock that did not come in time.
 */
const TRANSIENT = /^(08|53|57|58)|^55P03$/;
/**
 * A right that is lacking, a schema or a table that is gone or out of sight, a role or a database that lets nobody in. None of them
 * is the fault of what is written.
 */
const FORBIDDEN = /^(28|3D000|3F000|42501|42P01)/;
/** A standby, before or after a failover. Who stays connected to one that was the primary never comes to the next. */
const READ_ONLY = "25006";
/** The server, the database or the role has no connection left; those that are open go on. */
const FULL = "53300";
/** The driver's own codes for a lost or refused connection are words, a server's are five characters. */
const LOST = /^(CONNECT|CONNECTION_|E[A-Z]{4,}|ENOTFOUND)/;

export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(sqlState(error));
}

/** The connection is gone, going, or was given up on; its pool may hold more like it. */
export function isConnectionLost(error: unknown): boolean {
  const code = sqlState(error);
  return error instanceof StoreUnavailable || LOST.test(code) || code === READ_ONLY || /^(08|57P)/.test(code);
}

/** A connection could not be opened because there are as many as there may be. */
export function isFull(error: unknown): boolean {
  return sqlState(error) === FULL;
}

/** `StoreUnavailable` for what passes by itself; anything else stays what it is. */
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

/** The server has let nobody in, or has thrown somebody out: no statement is to blame. */
export function isFatal(error: unknown): boolean {
  return ["FATAL", "PANIC"].includes((error as { severity?: string })?.severity ?? "");
}

function sqlState(error: unknown): string {
  const code = (error as { code?: unknown })?.code;
  return typeof code === "string" ? code : "";
}
