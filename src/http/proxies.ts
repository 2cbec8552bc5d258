/** Trusted proxies: the client address and scheme from their forwarding headers. */
import type { ConnectionInfo, IncomingRequest } from "./endpoint.ts";
import { bitsOf, isWithin, type Network } from "../exchange/networks.ts";

export interface ProxyTrust {
  publicUrl: string | null;
  trustedProxies: readonly Network[];
  tls: unknown;
}

function throughTrusted({ trustedProxies }: ProxyTrust, connection: ConnectionInfo | undefined): boolean {
  const address = connection?.remoteAddr;
  return trustedProxies.length > 0 && address !== undefined && "hostname" in address &&
    isWithin(address.hostname, trustedProxies);
}

/** Whether the browser uses HTTPS. */
export function isHttps(
  { headers }: IncomingRequest,
  connection: ConnectionInfo | undefined,
  trust: ProxyTrust,
): boolean {
  if (trust.tls !== null || trust.publicUrl?.startsWith("https:")) return true;
  // The last value was added by the nearest proxy.
  return throughTrusted(trust, connection) &&
    headers.get("x-forwarded-proto")?.split(",").at(-1)?.trim().toLowerCase() === "https";
}

/** The client's IP address as far as known; empty: unknown. */
export function clientOf(
  { headers }: IncomingRequest,
  connection: ConnectionInfo | undefined,
  trust: ProxyTrust,
): string {
  const address = connection?.remoteAddr;
  const near = address !== undefined && "hostname" in address ? address.hostname : "";
  if (!throughTrusted(trust, connection)) return near;
  const said = (headers.get("x-forwarded-for") ?? "").split(",").map((part) => part.trim()).filter(Boolean);
  // From right to left: everything before an untrusted address can be forged.
  const client = said.findLast((part) => !isWithin(part, trust.trustedProxies));
  return client !== undefined && bitsOf(client) !== null ? client : near;
}

/** The public URL of this gateway, without a trailing slash. */
export function publicUrlOf(
  request: IncomingRequest,
  connection: ConnectionInfo | undefined,
  trust: ProxyTrust,
): string {
  if (trust.publicUrl !== null) return trust.publicUrl;
  const scheme = isHttps(request, connection, trust) ? "https" : "http";
  return `${scheme}://${request.headers.get("host") ?? new URL(request.url).host}`;
}
