/** Three nodes over one PostgreSQL, and what they and their database are asked. */
import { assertEquals } from "@std/assert";
import postgres from "postgres";
import type { AccountsConfig, AccountsOptions, Reservation } from "../../src/accounts/mod.ts";
import { Failure } from "../../src/exchange/failure.ts";
import { openStore } from "../../src/store/mod.ts";
import { type Cluster, onCluster } from "../support/cluster.ts";
import { eventually } from "../support/time.ts";
import { admitAtOnce, configOf, endOf, open, requestOf, type Running, SECRET } from "./support.ts";

/** One key, which may spend a dollar a day. */
export const LIMITED = configOf({ spend_limit: { amount: "1.00", period: "day" } });

export const keyOf = (node: Running) => node.authenticate(SECRET);

/** Until the node reaches its database again. */
export const untilUp = (node: Running) =>
  eventually(async () => {
    await node.tick();
    return node.storeUp();
  });

/** Ends each with one token of input. */
export const settleAll = async (reservations: Reservation[]) => {
  for (const reservation of reservations) await reservation.settle(endOf({ input: 1 }));
};

/** Asks until the call is let in: what other nodes hold comes back when they have heard of it, on a busy machine after more than a second. */
export const admitted = (node: Running, input: number): Promise<Reservation> =>
  eventually(async () => {
    try {
      return await node.admit(requestOf(await keyOf(node), input));
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== "provider_rate_limited") throw error;
      return null;
    }
  }) as Promise<Reservation>;

/**
 * Each node is asked `calls` times at once, and again until at least `expected` calls are let in. The refusals of the others say that
 * something is reserved or used up for a moment.
 */
export async function admitTogether(
  nodes: readonly Running[],
  calls: number,
  expected: number,
): Promise<Reservation[]> {
  const all: Reservation[] = [];
  await eventually(async () => {
    const results = await Promise.all(nodes.map(async (node) => admitAtOnce(node, await keyOf(node), calls)));
    for (const { reservations, refused } of results) {
      all.push(...reservations);
      for (const code of refused.keys()) assertEquals(code, "provider_rate_limited");
    }
    return all.length >= expected;
  });
  return all;
}

export function connect(at: Cluster) {
  return postgres(at.url, { max: 1, onnotice() {} });
}

/** The calls that the database has as running, of all schemas. */
export async function runningIds(at: Cluster): Promise<string[]> {
  const sql = connect(at);
  try {
    const schemas =
      await sql`SELECT table_schema AS s FROM information_schema.tables WHERE table_name = 'running'`;
    const ids: string[] = [];
    for (const { s } of schemas) {
      ids.push(...(await sql.unsafe(`SELECT id FROM ${s}.running`)).map((r) => String(r.id)));
    }
    return ids;
  } finally {
    await sql.end();
  }
}

type Test = (
  title: string,
  config: AccountsConfig,
  body: (nodes: Running[], cluster: Cluster) => Promise<void>,
  more?: Partial<AccountsOptions> & { disk?: boolean; nodes?: number; timeOfNodes?: boolean },
) => void;

/** Registers tests with a cluster that is up when each begins, and nodes (three unless told) over a schema of its own. */
export function onThreeNodes(body: (test: Test, cluster: () => Cluster) => void): void {
  onCluster((cluster) =>
    body((title, config, run, more = {}) =>
      Deno.test(`postgres: ${title}`, async () => {
        await cluster().start();
        const folder = Deno.makeTempDirSync({ prefix: "sluice-nodes-" });
        const schema = `t${crypto.randomUUID().replaceAll("-", "")}`;
        const { disk = true, nodes: count = 3, timeOfNodes = true, ...options } = more;
        const nodes: Running[] = [];
        try {
          for (let i = 0; i < count; i++) {
            const filePrefix = disk ? `${folder}/node${i}` : null;
            nodes.push(
              await open(openStore(cluster().url, { schema, filePrefix, timeOfNodes }), config, options),
            );
          }
          await run(nodes, cluster());
        } finally {
          for (const node of nodes) await node.close();
          Deno.removeSync(folder, { recursive: true });
        }
      }), cluster)
  );
}
