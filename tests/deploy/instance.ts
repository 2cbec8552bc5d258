/** An instance as Deno Deploy starts it, as far as a process can be one. */
import { assert, assertEquals } from "@std/assert";
import manifest from "../../deno.json" with { type: "json" };
import { serveProgram, type Serving } from "../support/program.ts";

/** The variables that the host sets; the address that `Deno.serve` is given counts, not the configuration's. */
export function instance(config: object, database: Record<string, string>): Promise<Serving> {
  assertEquals(manifest.deploy.runtime, { type: "dynamic", entrypoint: "./src/main.ts" });
  return serveProgram([], {
    cwd: "/",
    env: {
      ...database,
      SLUICE_CONFIG: JSON.stringify(config),
      DENO_DEPLOY: "true",
      DENO_SERVE_ADDRESS: "tcp:127.0.0.1:0",
      PORT: "1",
    },
    flags: [],
    permissions: [
      "--no-prompt",
      "--allow-net",
      "--allow-env",
      `--preload=${new URL("./shape.ts", import.meta.url).pathname}`,
    ],
  });
}

/** The two ways in which the host names the database. */
export function databases(address: string): Record<string, string>[] {
  const { hostname, port, username, pathname } = new URL(address);
  return [
    { DATABASE_URL: address, PGSSLMODE: "prefer" },
    {
      PGHOST: hostname,
      PGPORT: port,
      PGUSER: username,
      PGDATABASE: pathname.slice(1),
      PGSSLMODE: "prefer",
    },
  ];
}

/** As the host does; nothing may have asked for what an instance has not. */
export async function stop(at: Serving): Promise<void> {
  at.kill("SIGINT");
  assertEquals(await at.ended, 0, at.err());
  assert(!/NotCapable|Requires|is not a (?:function|constructor)|panicked/.test(at.err()), at.err());
}
