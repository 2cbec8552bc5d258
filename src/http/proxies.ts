/** Proxies that are trusted to say where a request comes from, and how. */
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

/** Whether the browser came by HTTPS. */
export function isHttps(
  { headers }: IncomingRequest,
  connection: ConnectionInfo | undefined,
  trust: ProxyTrust,
): boolean {
  if (trust.tls !== null || trust.publicUrl?.startsWith("https:")) return true;
  // The last one is what the nearest proxy says.
  return throughTrusted(trust, connection) &&
    headers.get("x-forwarded-proto")?.split(",").at(-1)?.trim().toLowerCase() === "https";
}

/** The address that a request comes from, as far as it is known; empty: it is not. */
export function clientOf(
  { headers }: IncomingRequest,
  connection: ConnectionInfo | undefined,
  trust: ProxyTrust,
): string {
  const address = connection?.remoteAddr;
  const near = address !== undefined && "hostname" in address ? address.hostname : "";
  if (!throughTrusted(trust, connection)) return near;
  const said = (headers.get("x-forwarded-for") ?? "").split(",").map((part) => part.trim()).filter(Boolean);
  // From the nearest on: what stands before an address that is not trusted anybody may have written.
  const client = said.findLast((part) => !isWithin(part, trust.trustedProxies));
  return client !== undefined && bitsOf(client) !== null ? client : near;
}

/** Where browsers find this gateway, without a slash at its end. */
export function publicUrlOf(
  request: IncomingRequest,
  connection: ConnectionInfo | undefined,
  trust: ProxyTrust,
): string {
  if (trust.publicUrl !== null) return trust.publicUrl;
  const scheme = isHttps(request, connection, trust) ? "https" : "http";
  return `${scheme}://${request.headers.get("host") ?? new URL(request.url).host}`;
}
