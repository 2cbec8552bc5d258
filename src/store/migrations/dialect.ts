/** Differences between SQLite and PostgreSQL in migration steps. */
import type { Engine } from "../engine.ts";

/** Properties of the engine that a step depends on. */
export interface Dialect {
  readonly kind: Engine["kind"];
  /** The column type for amounts. */
  readonly money: string;
  /** True: there are so many generations that building an index on them takes longer than a start may. */
  readonly large: boolean;
  /** True: nodes of 0.1.0 are registered and continue to run beside this release. */
  readonly older: boolean;
}

/** SQL: a sum capped to 64 bits. SQLite itself fails on a larger one. */
export function boundedSum(kind: Dialect["kind"], column: string): string {
  return kind === "postgres" ? `LEAST(SUM(${column}), 9200000000000000000)` : `SUM(${column})`;
}
