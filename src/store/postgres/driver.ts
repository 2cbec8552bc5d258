/** Configuration of the PostgreSQL driver. Loaded only by stores that use it. */
import postgres from "postgres";
import { type PostgresOptions, STATEMENT_TIMEOUT_MS } from "./options.ts";
import { openSocket } from "./socket.ts";

const CONNECT_TIMEOUT_MS = 5000;
const CONNECTIONS = 4;

/** @param onMessage set for the one connection that listens; absent for the others */
export function connect(
  url: string,
  options: PostgresOptions,
  onBroken: () => void,
  onMessage?: (message: string) => void,
): postgres.Sql {
  const { address, where } = placeOf(url);
  const sslMode = sslModeOf(address);
  const opening = openingFor(address);
  const settings: postgres.Options<Record<string, postgres.PostgresType>> & {
    socket: unknown;
    onnotify?: (channel: string, message: string) => void;
  } = {
    ...where,
    max: onMessage ? 1 : Math.max(1, (options.connections ?? CONNECTIONS) - 1),
    ...(onMessage && { onnotify: (_: string, message: string) => onMessage(message) }),
    ssl: false,
    socket: (address: Parameters<typeof openSocket>[0]) =>
      openSocket(address, { sslMode, opening, timeoutMs: CONNECT_TIMEOUT_MS, onClosed: onBroken }),
    connect_timeout: CONNECT_TIMEOUT_MS / 1000,
    // Disabled: {@link openSocket} hides the close of a socket from the driver, so the driver must not close
    // idle ones.
    idle_timeout: 0,
    max_lifetime: null,
    // The caller retries failed connections; a backoff in the driver would only hide how long it takes.
    backoff: () => 0.2,
    onnotice: () => {},
    fetch_types: false,
    types: {
      // int8 and numeric, read as bigint: sums of int8 are numeric, and every numeric here is an integer.
      whole: {
        to: 20,
        from: [20, 21, 23, 1700],
        serialize: (value: unknown) => String(value),
        parse: (text: string) => BigInt(text),
      },
    },
    connection: {
      application_name: "sluice",
      ...(options.schema == null ? {} : { search_path: options.schema }),
    },
  };
  return postgres(address.href, settings);
}

/** Time limits of each database session, in milliseconds. */
const BOUNDS = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: STATEMENT_TIMEOUT_MS,
  idle_in_transaction_session_timeout: 2 * STATEMENT_TIMEOUT_MS,
};

/** The SQL that sets the limits which the URL does not set. */
function openingFor({ searchParams }: URL): string {
  return Object.entries(BOUNDS).filter(([name]) => !searchParams.has(name))
    .map(([name, ms]) => `SET ${name} = ${ms};`).join(" ");
}

/** Some clients accept `ssl=true` for libpq's `sslmode=require`. */
function sslModeOf({ searchParams }: URL): string | null {
  const mode = searchParams.get("sslmode");
  const ssl = searchParams.get("ssl");
  if (mode !== null || ssl === null) return mode;
  if (["false", "0", "disable"].includes(ssl)) return "disable";
  return ["verify-ca", "verify-full", "prefer", "allow"].includes(ssl) ? ssl : "require";
}

/**
 * Parameters that libpq evaluates in the client. Other clients send them as session settings, which the
 * server rejects.
 */
const OF_CLIENTS = [
  "channel_binding",
  "gssencmode",
  "keepalives",
  "keepalives_idle",
  "keepalives_interval",
  "keepalives_count",
  "tcp_user_timeout",
  "load_balance_hosts",
  // Not needed: a connection to a server that turns out to be read-only is closed anyway.
  "target_session_attrs",
  "sslsni",
  "sslcompression",
];

/**
 * The address of the server. The driver cuts an IPv6 address at its first colon, and treats parameters that
 * name the host (`host=/run/…`, `port=6432`) as session settings.
 */
function placeOf(url: string): { address: URL; where: object } {
  const address = new URL(url);
  const { searchParams } = address;
  const host = searchParams.get("host") || decodeURIComponent(address.hostname).replace(/^\[(.*)\]$/, "$1");
  const port = Number(searchParams.get("port") || address.port || 5432);
  for (const name of ["host", "port", ...OF_CLIENTS]) searchParams.delete(name);
  if (host.startsWith("/")) return { address, where: { path: `${host}/.s.PGSQL.${port}` } };
  return { address, where: { host: [host], port: [port] } };
}
