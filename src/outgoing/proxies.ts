/**
 * Proxy settings from the environment variables that `fetch` uses: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, in upper or lower
 * case.
 */
import { Buffer } from "node:buffer";
import { isWithin, type Network, networkOf } from "../exchange/networks.ts";
import type { Tunnel } from "./tunnel.ts";

export interface ProxySettings {
  http: boolean;
  https: boolean;
  /** The proxy for servers behind TLS, if the gateway's own clients can use it; null: only `fetch` can. */
  tunnel: Tunnel | null;
  /** What NO_PROXY says is called without a proxy. */
  direct: readonly Exception[];
}

/** An entry of NO_PROXY. */
interface Exception {
  /** A host, including its subdomains; `*`: all hosts. */
  name: string;
  /** The address or network (CIDR) that it is; null: a name. */
  network: Network | null;
  /** The only port that it is about; null: all. */
  port: number | null;
}

/**
 * The URLs that `fetch` accepts as a proxy. If a variable has another value, for example a password with characters that are not
 * percent-encoded, `fetch` silently uses no proxy (Deno 2.9.6).
 */
const ADDRESS =
  /^(?:https?:\/\/|HTTPS?:\/\/|socks5h?:\/\/)?(?:[\w!$%&'()*+,;=:@.~-]*@)?(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?(?:\/[!-~]*)?$/;

/** Names of the variables whose value `fetch` does not accept as the URL of a proxy. */
export function doubtfulProxies(env: (name: string) => string | undefined): string[] {
  return ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY"].flatMap((name) => [name, name.toLowerCase()])
    .filter((name) => env(name) && !ADDRESS.test(env(name)!));
}

/** @param env reads an environment variable; undefined: it is not set */
export function readProxies(env: (name: string) => string | undefined): ProxySettings | undefined {
  const value = (name: string) => env(name) || env(name.toLowerCase()) || "";
  const all = value("ALL_PROXY") !== "";
  const https = all || value("HTTPS_PROXY") !== "";
  const http = all || value("HTTP_PROXY") !== "";
  if (!http && !https) return undefined;
  const secure = ["ALL_PROXY", "HTTPS_PROXY"].flatMap((name) => [env(name), env(name.toLowerCase())])
    .find((proxy) => proxy !== undefined && ADDRESS.test(proxy));
  return {
    http,
    https,
    tunnel: secure === undefined ? null : tunnelOf(secure),
    direct: value("NO_PROXY").toLowerCase().split(/[\s,]+/).filter((entry) => entry !== "").map(exceptionOf),
  };
}

/** `host`, `.host`, `*.host`, an address, `10.0.0.0/8`, `[::1]`; all but networks also with a port. */
function exceptionOf(entry: string): Exception {
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const name = (bracketed ?? plain ?? entry).replace(/^\*?\.(?=.)/, "").replace(/(?<=.)\.$/, "");
  return { name, network: networkOf(name), port: port === undefined ? null : Number(port) };
}

/** Null: it is no HTTP proxy, or called over TLS. */
function tunnelOf(proxy: string): Tunnel | null {
  const [, scheme = "http", rest] = /^(?:(\w+):\/\/)?(.*)$/.exec(proxy)!;
  if (scheme.toLowerCase() !== "http" || !URL.canParse(`http://${rest}`)) return null;
  const { hostname, port, username, password } = new URL(`http://${rest}`);
  const login = `${decoded(username)}:${decoded(password)}`;
  return {
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? 80 : Number(port),
    authorization: login === ":" ? null : `Basic ${Buffer.from(login).toString("base64")}`,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether a URL is called through a proxy. */
export function proxied(url: string, { http, https, direct }: ProxySettings): boolean {
  const { protocol, hostname, port } = new URL(url);
  const secure = protocol === "https:";
  if (!(secure ? https : http)) return false;
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  // With TLS, loopback may be the end of a tunnel.
  if (!secure && (LOOPBACK.test(host) || METADATA.test(host) || isWithin(host, LINK_LOCAL))) return false;
  const number = port === "" ? secure ? 443 : 80 : Number(port);
  return !direct.some(({ name, network, port }) =>
    (port === null || port === number) &&
    (network === null
      ? name === "*" || host === name || host.endsWith(`.${name}`)
      : isWithin(host, [network]))
  );
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;
const METADATA = /^metadata(?:\.google\.internal)?$/;
/**
 * Addresses of this machine's link, and those at which clouds offer a machine its own credentials: a proxy on another machine cannot
 * reach them, or gets its own credentials there.
 */
const LINK_LOCAL = ["169.254.0.0/16", "fe80::/10", "fd00:ec2::/32", "fd20:ce::/32"].map((cidr) =>
  networkOf(cidr)!
);
