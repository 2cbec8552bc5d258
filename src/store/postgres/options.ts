/** Connection options for PostgreSQL. */

/** PostgreSQL's statement_timeout, in milliseconds. */
export const STATEMENT_TIMEOUT_MS = 5000;

/**
 * How long the client waits, beyond the statement timeout, for a server that does not answer at all, in
 * milliseconds.
 */
const UNANSWERED_MS = 3000;

/** The statement timeout in milliseconds: `statement_timeout` of the URL, or the default; 0: none. */
export function statementMs(url: string): number {
  const timeout = /[?&]statement_timeout=(\d+)(?:&|$)/.exec(url)?.[1];
  return timeout === undefined ? STATEMENT_TIMEOUT_MS : Number(timeout);
}

/** The client's timeout for an answer, in milliseconds. */
export function answerMs(url: string): number {
  return (statementMs(url) || STATEMENT_TIMEOUT_MS) + UNANSWERED_MS;
}

export interface PostgresOptions {
  /** The schema of the tables; null: the connection's search path. */
  schema?: string | null;
  /** Maximum number of connections, including the one that listens. */
  connections?: number;
  /** True: rate minutes use the clocks of nodes, which tests can move, instead of the database's clock. */
  timeOfNodes?: boolean;
}
