/** How the store connects to PostgreSQL. */

/** After so many milliseconds PostgreSQL ends a statement. */
export const STATEMENT_TIMEOUT_MS = 5000;

/** Past the end that PostgreSQL makes of a statement, a server that does not answer at all is given up after so long. */
const UNANSWERED_MS = 3000;

/** Milliseconds that a statement may take: as the URL's `statement_timeout` says, or the usual ones; 0: any time. */
export function statementMs(url: string): number {
  const told = /[?&]statement_timeout=(\d+)(?:&|$)/.exec(url)?.[1];
  return told === undefined ? STATEMENT_TIMEOUT_MS : Number(told);
}

/** Milliseconds that the gateway waits for an answer. */
export function answerMs(url: string): number {
  return (statementMs(url) || STATEMENT_TIMEOUT_MS) + UNANSWERED_MS;
}

export interface PostgresOptions {
  /** Where tables live; null: the connection's own search path. */
  schema?: string | null;
  /** At most, the one that listens among them. */
  connections?: number;
  /** True: minutes of rates are told by the clocks of nodes, which a test can move, and not by the database's. */
  timeOfNodes?: boolean;
}
