/**
 * Gateways of tests as they are on Deno Deploy, where `SLUICE_TEST_SHAPE` is the address of a PostgreSQL: requests come by
 * `Deno.serve`, the store is a database there, and there is no journal. `tests/deploy/shape.ts` takes the rest from the process.
 */
import postgres from "postgres";

export interface DeployStore {
  /** The section `store` of the configuration. */
  section: object;
  remove(): Promise<void>;
}

const ADDRESS = Deno.env.get("SLUICE_TEST_SHAPE") ?? "";

/** What the host does there, and later or otherwise than a server of one's own: connections, TLS, callers who leave. */
export const hosted = ADDRESS !== "";

/** Null: tests run as usual. Answers null for a store that a test has chosen itself. */
export const deployStore: ((given: unknown) => Promise<DeployStore | null>) | null = ADDRESS === ""
  ? null
  : make;

async function make(given: unknown): Promise<DeployStore | null> {
  const { url, ...rest } = (given ?? {}) as { url?: string };
  if (url !== undefined && url !== "sqlite::memory:") return null;
  const name = `shape_${crypto.randomUUID().replaceAll("-", "")}`;
  const ask = async (statement: string) => {
    const sql = postgres(ADDRESS, { max: 1, onnotice() {} });
    try {
      await sql.unsafe(statement);
    } finally {
      await sql.end();
    }
  };
  await ask(`CREATE DATABASE ${name} TEMPLATE template0`);
  const address = new URL(ADDRESS);
  address.pathname = `/${name}`;
  return {
    section: { ...rest, url: address.href, journal: null, connections: 3 },
    remove: () => ask(`DROP DATABASE ${name} WITH (FORCE)`),
  };
}
