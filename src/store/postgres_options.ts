/** How the store connects to PostgreSQL. */

/** After so many milliseconds PostgreSQL ends a statement. */
export const STATEMENT_TIMEOUT_MS = 5000;

export interface PostgresOptions {
  /** Where tables live; null: the connection's own search path. */
  schema?: string | null;
  /** At most, the one that listens among them. */
  connections?: number;
  /** True: minutes of rates are told by the clocks of nodes, which a test can move, and not by the database's. */
  timeOfNodes?: boolean;
}
