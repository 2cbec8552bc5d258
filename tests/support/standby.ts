/** A standby of a test's PostgreSQL that receives every commit before the primary confirms it, and can be promoted. */
import { type Cluster, freePort, run } from "./cluster.ts";
import { connect } from "../accounts/three_nodes.ts";
import { eventually } from "./time.ts";

export interface Standby {
  url: string;
  /** Makes it the primary. */
  promote(): Promise<void>;
  remove(): Promise<void>;
}

export async function makeStandby(primary: Cluster): Promise<Standby> {
  const address = new URL(primary.url);
  const folder = `${primary.folder}/standby`;
  const connection = ["-h", address.hostname, "-p", address.port, "-U", "sluice"];
  await run("pg_basebackup", ["-D", folder, "-R", "-X", "stream", "-c", "fast", ...connection]);
  const port = freePort();
  const settings = `-p ${port} -k ${primary.folder} -c listen_addresses=127.0.0.1 -c fsync=off`;
  const log = `${primary.folder}/standby.log`;
  await run("pg_ctl", ["-D", folder, "-o", settings, "-l", log, "-w", "-t", "120", "start"]);
  const sql = connect(primary);
  try {
    await sql`ALTER SYSTEM SET synchronous_standby_names = '*'`;
    await sql`SELECT pg_reload_conf()`;
    await eventually(async () =>
      (await sql`SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`).length === 1
    );
  } finally {
    await sql.end();
  }
  const url = `postgres://sluice@127.0.0.1:${port}/postgres`;
  return {
    url,
    async promote() {
      // Its own commits must not wait for a standby.
      const here = connect({ ...primary, url });
      try {
        await run("pg_ctl", ["-D", folder, "-w", "-t", "120", "promote"]);
        await here`ALTER SYSTEM SET synchronous_standby_names = ''`;
        await here`SELECT pg_reload_conf()`;
      } finally {
        await here.end();
      }
    },
    remove: () => run("pg_ctl", ["-D", folder, "-w", "-m", "immediate", "stop"]),
  };
}

/** A load balancer that leads to one server at a time. */
export function openBalancer(url: string) {
  let target = url;
  const open = new Set<Deno.Conn>();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const close = (one: Deno.Conn) => {
    if (!open.delete(one)) return;
    try {
      one.close();
    } catch {
      // The end of its stream has closed it.
    }
  };
  async function serve(client: Deno.Conn): Promise<void> {
    open.add(client);
    const { hostname, port } = new URL(target);
    let server: Deno.Conn;
    try {
      server = await Deno.connect({ hostname, port: Number(port) });
    } catch {
      close(client);
      return;
    }
    open.add(server);
    const pipe = (from: Deno.Conn, to: Deno.Conn) =>
      from.readable.pipeTo(to.writable, { preventClose: true }).catch(() => {}).finally(() => {
        close(from);
        close(to);
      });
    await Promise.all([pipe(client, server), pipe(server, client)]);
  }
  const serving = (async () => {
    for await (const client of listener) void serve(client);
  })();
  const address = new URL(url);
  address.port = String((listener.addr as Deno.NetAddr).port);
  return {
    url: address.href,
    lead(to: string) {
      target = to;
      for (const one of [...open]) close(one);
    },
    async close() {
      listener.close();
      for (const one of [...open]) close(one);
      await serving.catch(() => {});
    },
  };
}
