/**
 * A PostgreSQL of one test file's own: started from Debian's package on a free port, in a folder that goes with it.
 *
 * Where the package is not installed, {@link postgresHere} is null and tests that need it are ignored by name.
 */
import type { Engine } from "../../src/store/engine.ts";
import { openStore, type Store } from "../../src/store/mod.ts";
import { openPostgres } from "../../src/store/postgres/mod.ts";
import { openSqlite } from "../../src/store/sqlite/mod.ts";
import { PATIENCE_MS } from "./time.ts";

export interface Cluster {
  /** A URL for a client. */
  url: string;
  /** Where its Unix socket is. */
  folder: string;
  start(): Promise<void>;
  /** As a crash would: no client is told, nothing is written. */
  stop(): Promise<void>;
  remove(): Promise<void>;
}

/** The folder of PostgreSQL's programs; null: not installed. */
export const postgresHere: string | null = findPrograms();

function findPrograms(): string | null {
  const root = "/usr/lib/postgresql";
  try {
    const versions = [...Deno.readDirSync(root)].map((entry) => Number(entry.name)).filter((v) => v >= 13);
    for (const version of versions.sort((a, b) => b - a)) {
      const folder = `${root}/${version}/bin`;
      try {
        Deno.statSync(`${folder}/initdb`);
        return folder;
      } catch {
        // Clients only.
      }
    }
  } catch {
    // Not a Debian, or no PostgreSQL.
  }
  console.warn("PostgreSQL is not installed (apt-get install postgresql): its tests are skipped.");
  return null;
}

/** PostgreSQL refuses to run as root; its package has made a user. */
function owner(): { uid?: number; gid?: number } {
  if (Deno.uid() !== 0) return {};
  const line = Deno.readTextFileSync("/etc/passwd").split("\n").find((l) => l.startsWith("postgres:"));
  const [, , uid, gid] = (line ?? "").split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

/** Runs a program of PostgreSQL to its end, as the user that may. */
export async function run(program: string, args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(`${postgresHere}/${program}`, {
    args,
    ...owner(),
    cwd: "/",
    stdout: "null",
    stderr: "piped",
    env: { LC_ALL: "C" },
  }).output();
  if (!success) throw new Error(`${program} failed: ${new TextDecoder().decode(stderr)}`);
}

/**
 * A port for a server that has to be told one. It lies below those that systems choose for connections and for listeners
 * without a port, which may take it before the server does, or while the server is stopped.
 */
export function freePort(): number {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000);
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (thrown) {
      if (!(thrown instanceof Deno.errors.AddrInUse)) throw thrown;
    }
  }
}

export interface ClusterOptions {
  connections?: number;
  /** Waits for the disk as a server of one's own does. */
  durable?: boolean;
}

export async function makeCluster(
  { connections = 60, durable = false }: ClusterOptions = {},
): Promise<Cluster> {
  const folder = await Deno.makeTempDir({ prefix: "sluice-postgres-" });
  const { uid, gid } = owner();
  if (uid !== undefined) await Deno.chown(folder, uid, gid ?? null);
  const data = `${folder}/data`;
  await run("initdb", ["-D", data, "-A", "trust", "-U", "sluice", "--no-sync", "--no-locale", "-E", "UTF8"]);
  const port = freePort();
  const settings = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1,::1 -c fsync=${
    durable ? "on" : "off"
  } -c max_connections=${connections}`;
  let up = false;
  const cluster: Cluster = {
    url: `postgres://sluice@127.0.0.1:${port}/postgres`,
    folder,
    async start() {
      if (up) return;
      await run("pg_ctl", ["-D", data, "-o", settings, "-l", `${folder}/log`, "-w", "-t", "120", "start"]);
      up = true;
    },
    async stop() {
      if (!up) return;
      await run("pg_ctl", ["-D", data, "-w", "-m", "immediate", "stop"]);
      up = false;
    },
    async remove() {
      await cluster.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
  await cluster.start();
  return cluster;
}

/** One engine of a test that runs on both. */
export interface Ground {
  name: string;
  /** A place for a store that nobody else uses: each call with the same `place` opens the same one. */
  place(): Place;
}

export interface Place {
  open(): Store;
  /** The engine that a store here would be opened on. */
  engine(): Engine;
  /** As commands name it. */
  readonly address: { url: string; schema?: string };
  /** A folder that goes with it. */
  readonly folder: string;
  remove(): void;
}

let shared: Cluster | undefined;

/** Registers `body`'s tests once for each engine. */
export function onBothEngines(body: (ground: Ground) => void): void {
  body({ name: "sqlite", place: sqlitePlace });
  if (postgresHere === null) {
    Deno.test({ name: "postgres: skipped, PostgreSQL is not installed", ignore: true, fn() {} });
    return;
  }
  onCluster((cluster) => body({ name: "postgres", place: () => postgresPlace(cluster) }));
}

/** The address of another database of a cluster. */
export function databaseOf(url: string, name: string): string {
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}

/** Statements of a test may take as long as a test waits for anything: a busy machine is no slow database. */
function patient(cluster: Cluster): Cluster {
  const bounds = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"];
  return { ...cluster, url: `${cluster.url}?${bounds.map((name) => `${name}=${PATIENCE_MS}`).join("&")}` };
}

/** Registers `body`'s tests if PostgreSQL is installed, with a cluster that is up while they run. */
export function onCluster(body: (cluster: () => Cluster) => void): void {
  if (postgresHere === null) {
    Deno.test({ name: "postgres: skipped, PostgreSQL is not installed", ignore: true, fn() {} });
    return;
  }
  Deno.test.beforeAll(async () => {
    shared = patient(await makeCluster());
  });
  Deno.test.afterAll(async () => {
    await shared?.remove();
  });
  body(() => shared!);
}

export function sqlitePlace(): Place {
  const folder = Deno.makeTempDirSync({ prefix: "sluice-store-" });
  return {
    open: () => openStore(`sqlite:${folder}/store.db`),
    engine: () => openSqlite(`${folder}/store.db`),
    address: { url: `sqlite:${folder}/store.db` },
    folder,
    remove: () => Deno.removeSync(folder, { recursive: true }),
  };
}

export function postgresPlace(cluster: () => Cluster): Place {
  const schema = `t${crypto.randomUUID().replaceAll("-", "")}`;
  const folder = Deno.makeTempDirSync({ prefix: "sluice-node-" });
  return {
    open: () => openStore(cluster().url, { schema, filePrefix: `${folder}/node`, timeOfNodes: true }),
    engine: () => openPostgres(cluster().url, { schema, timeOfNodes: true }),
    address: { url: cluster().url, schema },
    folder,
    remove: () => Deno.removeSync(folder, { recursive: true }),
  };
}
