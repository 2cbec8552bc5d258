/**
 * TLS settings of one server: a certificate of this gateway (mutual TLS), and an authority that is trusted besides the usual ones.
 *
 * `Deno.startTls` takes no client certificate (Deno 2.9.6), so these servers are called with `fetch`, over HTTP/1.1: over HTTP/2, it keeps
 * the body of a request that was answered before it was read until the connection closes.
 */
export interface ClientTls {
  /** Paths of PEM files. Null: none. */
  ca: string | null;
  cert: string | null;
  key: string | null;
}

interface Kept {
  client: Deno.HttpClient;
  /** Of the files. */
  contents: string;
}

/** By the paths of the files: connections survive a reload that has not changed the contents. */
const clients = new Map<string, Kept>();
/** By the object of the configuration: a reload makes a new one, and reads the files again. */
const known = new WeakMap<ClientTls, Deno.HttpClient>();
const knownDirect = new WeakMap<ClientTls, Deno.HttpClient>();
/** Requests in progress go on with a client that is closed, but it takes no new ones. */
const closed = new WeakSet<Deno.HttpClient>();
const MOST_CLIENTS = 100;

export interface ClientOptions {
  /** Certificates, in PEM, that are trusted as well. */
  caCerts?: readonly string[];
  /** No proxy is used, whatever the environment says. Absent: the environment decides. */
  direct?: boolean;
}

/** The client for these settings, to be used at once. Throws if a file cannot be read, or has other content. */
export function clientWith(
  tls: ClientTls,
  { caCerts = [], direct = false }: ClientOptions = {},
): Deno.HttpClient {
  const clientsOf = direct ? knownDirect : known;
  const found = clientsOf.get(tls);
  if (found !== undefined && !closed.has(found)) return found;
  const paths = [tls.ca, tls.cert, tls.key];
  const [ca, cert, key] = paths.map((path) => path === null ? undefined : Deno.readTextFileSync(path));
  const options = {
    caCerts: [...caCerts, ...(ca === undefined ? [] : [ca])],
    http2: false,
    ...(cert !== undefined && key !== undefined && { cert, key }),
  };
  const place = JSON.stringify([paths, caCerts, direct]);
  const contents = JSON.stringify(options);
  let kept = clients.get(place);
  if (kept?.contents !== contents) {
    const create = () => Deno.createHttpClient(options);
    const client = direct ? withoutProxies(create) : create();
    if (kept !== undefined) close(place, kept);
    else if (clients.size >= MOST_CLIENTS) close(...clients.entries().next().value!);
    clients.set(place, kept = { client, contents });
  }
  clientsOf.set(tls, kept.client);
  return kept.client;
}

const EXCEPTIONS = ["NO_PROXY", "no_proxy"];

/**
 * Runs a function during which no server is called through a proxy. A client reads the variables when it is created, has no option in
 * their place, and does not know the entries of NO_PROXY with a port (Deno 2.9.6).
 */
function withoutProxies<T>(create: () => T): T {
  const before = EXCEPTIONS.map((name) => [name, Deno.env.get(name)] as const);
  try {
    for (const name of EXCEPTIONS) Deno.env.set(name, "*");
    return create();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) Deno.env.delete(name);
      else Deno.env.set(name, value);
    }
  }
}

function close(place: string, { client }: Kept): void {
  clients.delete(place);
  closed.add(client);
  client.close();
}
