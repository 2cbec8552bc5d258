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

/** By the contents of the files, so that connections survive a reload that has not changed them. */
const clients = new Map<string, Deno.HttpClient>();
/** By the object of the configuration: a reload makes a new one, and reads the files again. */
const known = new WeakMap<ClientTls, Deno.HttpClient>();
/** After a renewal of certificates, the clients of earlier ones are not used again. */
const MOST_CLIENTS = 100;

/** The client for these settings. Throws if a file cannot be read, or has other content. */
export function clientWith(tls: ClientTls, caCerts: readonly string[] = []): Deno.HttpClient {
  const found = known.get(tls);
  if (found !== undefined) return found;
  const [ca, cert, key] = [tls.ca, tls.cert, tls.key].map((path) =>
    path === null ? undefined : Deno.readTextFileSync(path)
  );
  const options = {
    caCerts: [...caCerts, ...(ca === undefined ? [] : [ca])],
    http2: false,
    ...(cert !== undefined && key !== undefined && { cert, key }),
  };
  const contents = JSON.stringify(options);
  let client = clients.get(contents);
  if (client === undefined) {
    client = Deno.createHttpClient(options);
    if (clients.size >= MOST_CLIENTS) clients.clear();
    clients.set(contents, client);
  }
  known.set(tls, client);
  return client;
}
