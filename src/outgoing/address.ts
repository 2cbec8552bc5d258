/** Parsed URLs of requests, with the connection pools of their servers. */
import { Attempts, type Server } from "./dial.ts";
import { Pool } from "./http1_connection.ts";
import { Http2Pool } from "./http2/pool.ts";
import type { Tunnel } from "./tunnel.ts";

export interface Address extends Server {
  /** As the `host` header has it. */
  host: string;
  path: string;
  /** Connections over HTTP/1.1. */
  pool: Pool;
  /** Connections over HTTP/2. */
  http2: Http2Pool;
}

/** The state that all addresses of a server share. */
type Origin = Pick<Address, "attempts" | "pool" | "http2">;

interface Known {
  addresses: Map<string, Address>;
  origins: Map<string, Origin>;
}

const direct: Known = { addresses: new Map(), origins: new Map() };
/** Connections through a proxy are not used without it. */
const tunnelled = new WeakMap<Tunnel, Known>();
/** Maximum number of cached addresses: they come from the configuration, with at most one path for each model. */
const MOST_ADDRESSES = 10_000;

/**
 * Parses a URL, and finds the connection pools of its server.
 *
 * @param once the URL is used only once, so the result is not cached
 * @param tunnel the proxy through which the server is called; absent: none
 */
export function addressOf(url: string, once = false, tunnel?: Tunnel): Address {
  const known = tunnel === undefined ? direct : knownThrough(tunnel);
  if (once) return read(url, known, tunnel);
  const { addresses } = known;
  let address = addresses.get(url);
  if (address === undefined) {
    address = read(url, known, tunnel);
    if (addresses.size >= MOST_ADDRESSES) addresses.clear();
    addresses.set(url, address);
  }
  return address;
}

function knownThrough(tunnel: Tunnel): Known {
  let known = tunnelled.get(tunnel);
  if (known === undefined) tunnelled.set(tunnel, known = { addresses: new Map(), origins: new Map() });
  return known;
}

function read(url: string, { origins }: Known, tunnel: Tunnel | undefined): Address {
  const { protocol, host, hostname, port, pathname, search } = new URL(url);
  const secure = protocol === "https:";
  const name = `${protocol}//${host}`;
  let origin = origins.get(name);
  if (origin === undefined) {
    origin = { attempts: new Attempts(), pool: new Pool(secure), http2: new Http2Pool() };
    origins.set(name, origin);
  }
  return {
    secure,
    host,
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: port !== "" ? Number(port) : secure ? 443 : 80,
    path: pathname + search,
    tunnel,
    ...origin,
  };
}
