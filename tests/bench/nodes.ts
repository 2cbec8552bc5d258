/**
 * Many nodes over one PostgreSQL: what it has to bear when all calls are of one account, the hardest case, since its budget is one
 * row that every node leases from. The nodes are in this process and their time is made up: every 50 ms of it each node admits and
 * ends its share of calls and hands its records over, four times as often as when it serves. The statements are real.
 */
import postgres from "postgres";
import { openStore, type Store } from "../../src/store/mod.ts";
import { configOf, endOf, open, requestOf, type Running, SECRET } from "../accounts/support.ts";
import { makeCluster } from "../support/cluster.ts";
import { median } from "./table.ts";

export interface NodesOptions {
  nodes: number;
  /** Of all nodes together. */
  callsPerSecond: number;
  /** Of made-up time. */
  seconds: number;
  say(line: string): void;
}

interface Scene {
  name: string;
  credits: string | null;
  /** Dollars that the key may spend in a day, of what the calls that are measured cost altogether; null: as much as it likes. */
  limit: number | null;
}

/** How often a node hands over what has ended. */
const STEP_MS = 50;
const CONNECTIONS = 4;

const CALL_COSTS = 0.02;

const SCENES: Scene[] = [
  { name: "no limit", credits: null, limit: null },
  { name: "credits and a daily limit, both far off", credits: "1000000", limit: 100 },
  { name: "a daily limit that is reached half way", credits: "1000000", limit: 0.5 },
];

interface Seen {
  passed: number;
  refused: number;
  /** Milliseconds of each transaction that handed over records or renewed leases. */
  transactions: number[];
  renewals: number;
  /** Real seconds. */
  took: number;
  connections: number;
  walBytes: number;
  allTransactions: number;
}

export async function benchNodes(options: NodesOptions): Promise<string> {
  const { nodes, callsPerSecond, seconds, say } = options;
  const cluster = await makeCluster({ connections: nodes * CONNECTIONS + 20, durable: true });
  try {
    const rows: string[][] = [];
    for (const scene of SCENES) {
      say(scene.name);
      const seen = await simulate(cluster.url, scene, options);
      const calls = seen.passed;
      const sorted = seen.transactions.toSorted((a, b) => a - b);
      const perSecond = (value: number) => String(Math.round(value / seconds));
      rows.push([
        scene.name,
        perSecond(calls),
        perSecond(seen.refused),
        String(seen.connections),
        perSecond(seen.allTransactions),
        perSecond(seen.renewals),
        `${median(sorted).toFixed(0)} / ${sorted[Math.floor(sorted.length * 0.99)].toFixed(0)} ms`,
        `${Math.round(seen.walBytes / Math.max(1, calls))} B`,
        String(Math.round(calls / seen.took)),
      ]);
    }
    const head = [
      "calls of one account with",
      "passed/s",
      "refused/s",
      "connections",
      "transactions/s",
      "renewals/s",
      "a transaction, median / p99",
      "log (WAL) a call",
      "calls/s that this machine kept up with",
    ];
    const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
    return `${nodes} nodes over one PostgreSQL, ${callsPerSecond} calls/s offered:\n\n${lines.join("\n")}`;
  } finally {
    await cluster.remove();
  }
}

async function simulate(url: string, scene: Scene, options: NodesOptions): Promise<Seen> {
  const { nodes: count, callsPerSecond, seconds } = options;
  const schema = `bench_${crypto.randomUUID().replaceAll("-", "")}`;
  const amount = scene.limit && String(callsPerSecond * CALL_COSTS * (1 + seconds * scene.limit));
  const config = configOf(amount === null ? {} : { spend_limit: { amount, period: "day" } }, scene.credits);
  const seen: Seen = {
    passed: 0,
    refused: 0,
    transactions: [],
    renewals: 0,
    took: 0,
    connections: 0,
    walBytes: 0,
    allTransactions: 0,
  };
  let counts = false;
  const watched = (store: Store): Store => {
    const sync = store.sync.bind(store);
    store.sync = async (request) => {
      const began = performance.now();
      const result = await sync(request);
      if (counts) {
        seen.transactions.push(performance.now() - began);
        seen.renewals += request.leases.length;
      }
      return result;
    };
    return store;
  };
  const nodes: Running[] = [];
  const sql = postgres(url, { max: 1, onnotice() {} });
  const stats = async () => {
    const [row] =
      await sql`SELECT (SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database) AS transactions,
      (SELECT wal_bytes FROM pg_stat_wal) AS bytes, (SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sluice') AS connections`;
    return {
      transactions: Number(row.transactions),
      bytes: Number(row.bytes),
      connections: Number(row.connections),
    };
  };
  try {
    for (let i = 0; i < count; i++) {
      nodes.push(await open(watched(openStore(url, { schema, connections: CONNECTIONS })), config));
    }
    const keys = await Promise.all(nodes.map((node) => node.authenticate(SECRET)));
    const share = callsPerSecond * STEP_MS / 1000 / count;
    const step = async (at: number) => {
      await Promise.all(nodes.map(async (node, i) => {
        const calls = Math.floor((at + 1) * share) - Math.floor(at * share);
        await Promise.all(Array.from({ length: calls }, async () => {
          try {
            const reservation = await node.admit(
              requestOf(keys[i], 1, { estimate: { input: 1, output: 1, searches: 0 } }),
            );
            await reservation.settle(endOf({ input: 1, output: 1 }));
            if (counts) seen.passed++;
          } catch {
            if (counts) seen.refused++;
          }
        }));
        await node.flush();
        node.clock.move(STEP_MS);
        if (at % 10 === 0) await node.tick();
      }));
    };
    const perSecond = 1000 / STEP_MS;
    // Leases grow to what a node needs in the first second.
    for (let at = 0; at < perSecond; at++) await step(at);
    const before = await stats();
    const began = performance.now();
    counts = true;
    for (let at = perSecond; at < (seconds + 1) * perSecond; at++) await step(at);
    counts = false;
    seen.took = (performance.now() - began) / 1000;
    const after = await stats();
    seen.allTransactions = after.transactions - before.transactions;
    seen.walBytes = after.bytes - before.bytes;
    seen.connections = after.connections;
    return seen;
  } finally {
    for (const node of nodes) await node.close();
    await sql.end();
  }
}
