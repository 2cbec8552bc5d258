/** What an error of PostgreSQL or its driver means for whoever asked: the connection is gone, try again, or a real fault. */
import { StoreUnavailable } from "./engine.ts";

/** Serialization failure and deadlock: the same transaction again is expected to pass. */
const CONFLICTS = new Set(["40001", "40P01"]);
/**
 * Classes of SQLSTATE that say "not now": connection, resources (full disk, too many connections), an operator's hand
 * (shutdown, starting up, cancelled statement), system error. 55P03 is a lock that did not come in time.
 */
const TRANSIENT = /^(08|53|57|58)|^55P03$/;
/** 25006: a standby, before or after a failover. */
const READ_ONLY = "25006";
/** The driver's own codes for a lost or refused connection are words, a server's are five characters. */
const LOST = /^(CONNECT|CONNECTION_|E[A-Z]{4,}|ENOTFOUND)/;

export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(sqlState(error));
}

/** The connection is gone, going, or was given up on; its pool may hold more like it. */
export function isConnectionLost(error: unknown): boolean {
  const code = sqlState(error);
  return error instanceof StoreUnavailable || LOST.test(code) || /^(08|57P)/.test(code);
}

/** `StoreUnavailable` for what passes by itself; anything else stays what it is. */
export function translate(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error;
  const code = sqlState(error);
  return LOST.test(code) || code === READ_ONLY || TRANSIENT.test(code)
    ? new StoreUnavailable("The database cannot be reached now.", { cause: error })
    : error;
}

function sqlState(error: unknown): string {
  const code = (error as { code?: unknown })?.code;
  return typeof code === "string" ? code : "";
}
