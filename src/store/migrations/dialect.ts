/** What the steps of a migration say differently to SQLite and to PostgreSQL. */
import type { Engine } from "../engine.ts";

/** What a step has to know of the engine. */
export interface Dialect {
  readonly kind: Engine["kind"];
  /** The type of amounts. */
  readonly money: string;
  /** True: there are so many generations that an index of them takes longer than a start may. */
  readonly large: boolean;
  /** True: nodes of 0.1.0 are registered, and go on beside this release. */
  readonly older: boolean;
}

/** A sum that fits into 64 bits. SQLite refuses one that does not. */
export function boundedSum(kind: Dialect["kind"], column: string): string {
  return kind === "postgres" ? `LEAST(SUM(${column}), 9200000000000000000)` : `SUM(${column})`;
}
