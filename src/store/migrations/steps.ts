/** The migration steps in order, and the names of what they create. */
import type { Engine } from "../engine.ts";
import type { Dialect } from "./dialect.ts";
import type { SCHEMA_VERSION } from "./version.ts";
import { v1 } from "./v1.ts";
import { v2 } from "./v2.ts";
import { v3 } from "./v3.ts";
import { v4 } from "./v4.ts";
import { v5 } from "./v5.ts";
import { v6 } from "./v6.ts";
import { v7 } from "./v7.ts";
import { v8 } from "./v8.ts";
import { v9 } from "./v9.ts";
import { v10 } from "./v10.ts";
import { v11 } from "./v11.ts";
import { v12 } from "./v12.ts";
import { v13 } from "./v13.ts";
import { v14 } from "./v14.ts";
import { v15 } from "./v15.ts";
import { v16 } from "./v16.ts";
import { v17 } from "./v17.ts";
import { v18 } from "./v18.ts";
import { v19 } from "./v19.ts";
import { v20 } from "./v20.ts";
import { v21 } from "./v21.ts";

/** SQL statements. */
type Step = (dialect: Dialect) => readonly string[];

export const STEPS = [
  v1,
  v2,
  v3,
  v4,
  v5,
  v6,
  v7,
  v8,
  v9,
  v10,
  v11,
  v12,
  v13,
  v14,
  v15,
  v16,
  v17,
  v18,
  v19,
  v20,
  v21,
] as const satisfies readonly Step[];

STEPS.length satisfies typeof SCHEMA_VERSION;

/** Names of the tables or functions that the steps up to a version create, in order of creation. */
export function namesMade(kind: Engine["kind"], what: "TABLE" | "FUNCTION", version: number): string[] {
  const statements = STEPS.slice(0, version).flatMap((step) =>
    step({ kind, money: "BIGINT", large: false, older: false })
  );
  const name = new RegExp(`^\\s*CREATE ${what} (\\w+)`);
  // A table that a later step recreates is listed once.
  return [...new Set(statements.flatMap((statement) => name.exec(statement)?.[1] ?? []))];
}
