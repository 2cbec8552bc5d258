/** Tunnels through an HTTP proxy to a server behind TLS (CONNECT; RFC 9110, section 9.3.6). */
import { Buffer } from "node:buffer";
import { headEnd } from "../transport/head.ts";

/** An HTTP proxy. */
export interface Tunnel {
  hostname: string;
  port: number;
  /** Value of `proxy-authorization`; null: none. */
  authorization: string | null;
}

/** Maximum size of the proxy's answer, without a body. */
const MOST_BYTES = 16 * 1024;

/** Opens a tunnel on a connection to the proxy. From then on, the bytes of the connection are those of the server. */
export async function openTunnel(
  conn: Deno.TcpConn,
  { authorization }: Tunnel,
  server: { hostname: string; port: number },
): Promise<void> {
  const name = server.hostname.includes(":") ? `[${server.hostname}]` : server.hostname;
  const target = `${name}:${server.port}`;
  const login = authorization === null ? "" : `proxy-authorization: ${authorization}\r\n`;
  const request = Buffer.from(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${login}\r\n`, "latin1");
  for (let done = 0; done < request.length;) done += await conn.write(request.subarray(done));
  const buffer = Buffer.allocUnsafeSlow(MOST_BYTES);
  let size = 0;
  let end = 0;
  while (end === 0) {
    if (size === MOST_BYTES) throw unsuccessful("its answer is too long");
    const n = await conn.read(buffer.subarray(size));
    if (n === null) throw unsuccessful("it closed the connection");
    // The end may be split over two reads.
    end = headEnd(buffer, Math.max(0, size - 2), size + n);
    size += n;
  }
  const status = /^HTTP\/1\.[01] (\d{3})[ \r]/.exec(buffer.toString("latin1", 0, Math.min(end, 20)))?.[1];
  if (status === "407") throw new Error("proxy authentication required");
  if (status?.[0] !== "2") throw unsuccessful(`status ${status ?? "missing"}`);
  // Behind TLS the server does not speak first.
  if (end < size) throw unsuccessful("it sends bytes of its own");
}

/** In the words of `fetch`. */
function unsuccessful(why: string): Error {
  return new Error(`unsuccessful tunnel: ${why}`);
}
