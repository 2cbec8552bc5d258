/**
 * Proxy settings from the environment variables that `fetch` uses: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, in upper or lower
 * case.
 */
import { isWithin, type Network, networkOf } from "../exchange/networks.ts";

export interface ProxySettings {
  http: boolean;
  https: boolean;
  /** Hosts that are called without a proxy, including their subdomains; `*`: all hosts. */
  direct: readonly string[];
  /** Networks (CIDR) that are called without a proxy. */
  networks: readonly Network[];
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
  const direct = value("NO_PROXY").split(",").map((host) => host.trim().toLowerCase().replace(/^\*?\./, ""))
    .filter((host) => host !== "");
  return { http, https, direct, networks: direct.map(networkOf).filter((network) => network !== null) };
}

/** Whether `fetch` may use a proxy for a URL. Entries of NO_PROXY in other forms are evaluated by `fetch` itself. */
export function proxied(url: string, { http, https, direct, networks }: ProxySettings): boolean {
  const { protocol, hostname } = new URL(url);
  if (!(protocol === "https:" ? https : http)) return false;
  // Services on this machine are never called through a proxy. With TLS, loopback may be the end of a tunnel.
  if (protocol === "http:" && LOOPBACK.test(hostname)) return false;
  const host = hostname.replace(/^\[|\]$/g, "");
  if (networks.length > 0 && isWithin(host, networks)) return false;
  return !direct.some((name) => name === "*" || host === name || host.endsWith(`.${name}`));
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
