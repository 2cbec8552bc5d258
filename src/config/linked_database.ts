/** The PostgreSQL database that a host has linked to the process: `DATABASE_URL`, or the variables of libpq. */
import type { Env } from "./jsonc.ts";

export interface LinkedDatabase {
  url: string;
  /** The variable that defines it. */
  name: string;
}

/** Null: none. `PGHOST` alone is not enough, since developers set it for their own tools. */
export function linkedDatabase(env: Env): LinkedDatabase | null {
  const sslMode = env("PGSSLMODE");
  const given = env("DATABASE_URL");
  if (given) return { url: withSslMode(given, sslMode), name: "DATABASE_URL" };
  const host = env("PGHOST");
  const database = env("PGDATABASE");
  if (!host || !database) return null;
  const part = (name: string) => encodeURIComponent(env(name) ?? "");
  const password = env("PGPASSWORD") ? `:${part("PGPASSWORD")}` : "";
  const user = env("PGUSER") ? `${part("PGUSER")}${password}@` : "";
  const port = env("PGPORT") ? `:${env("PGPORT")}` : "";
  // An absolute path is the folder of a Unix socket.
  const [at, query] = host.startsWith("/")
    ? ["localhost", `?host=${encodeURIComponent(host)}`]
    : [host.includes(":") ? `[${host}]` : host, ""];
  const url = `postgres://${user}${at}${port}/${encodeURIComponent(database)}${query}`;
  return { url: withSslMode(url, sslMode), name: "PGHOST" };
}

/** As in libpq, the variable applies if the URL has no `sslmode`. */
function withSslMode(url: string, mode: string | undefined): string {
  if (!mode || !/^postgres(?:ql)?:/.test(url) || /[?&]sslmode=/.test(url)) return url;
  return `${url}${url.includes("?") ? "&" : "?"}sslmode=${encodeURIComponent(mode)}`;
}
