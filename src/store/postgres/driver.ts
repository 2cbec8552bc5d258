/** The driver of PostgreSQL as the store sets it up. Other stores never load it. */
import postgres from "postgres";
import { type PostgresOptions, STATEMENT_TIMEOUT_MS } from "./options.ts";
import { openSocket } from "./socket.ts";

const CONNECT_TIMEOUT_MS = 5000;
const CONNECTIONS = 4;

/** @param onMessage for the one connection that listens; absent: those for everything else */
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
    // The driver never hears of a socket's end, so it must not end one by itself.
    idle_timeout: 0,
    max_lifetime: null,
    // A failed attempt is the caller's to repeat; the driver's own pause would only hide how long it has been.
    backoff: () => 0.2,
    onnotice: () => {},
    fetch_types: false,
    types: {
      // int8 and numeric: sums of int8 are numeric, and every numeric here is whole.
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

/** What each session may take its time for, in milliseconds. */
const BOUNDS = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: STATEMENT_TIMEOUT_MS,
  idle_in_transaction_session_timeout: 2 * STATEMENT_TIMEOUT_MS,
};

/** Sets what the URL does not. */
function openingFor({ searchParams }: URL): string {
  return Object.entries(BOUNDS).filter(([name]) => !searchParams.has(name))
    .map(([name, ms]) => `SET ${name} = ${ms};`).join(" ");
}

/** Some clients write `ssl=true` for what libpq calls `sslmode=require`. */
function sslModeOf({ searchParams }: URL): string | null {
  const mode = searchParams.get("sslmode");
  const ssl = searchParams.get("ssl");
  if (mode !== null || ssl === null) return mode;
  if (["false", "0", "disable"].includes(ssl)) return "disable";
  return ["verify-ca", "verify-full", "prefer", "allow"].includes(ssl) ? ssl : "require";
}

/** What libpq looks at itself and others take for a setting of the session, which the server then refuses. */
const OF_CLIENTS = [
  "channel_binding",
  "gssencmode",
  "keepalives",
  "keepalives_idle",
  "keepalives_interval",
  "keepalives_count",
  "tcp_user_timeout",
  "load_balance_hosts",
  // A server that turns out to be read only is left in any case.
  "target_session_attrs",
  "sslsni",
  "sslcompression",
];

/**
 * Where a server listens. The driver cuts an address of IPv6 at its first colon, and takes what names a host beside the address
 * (`host=/run/…`, `port=6432`) for settings of the session.
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
