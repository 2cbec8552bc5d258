/**
 * Proxies between this machine and providers, by the variables that `fetch` goes by: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and
 * NO_PROXY, in capitals or not.
 */
import { isWithin, type Network, networkOf } from "../exchange/networks.ts";

export interface ProxySettings {
  http: boolean;
  https: boolean;
  /** Hosts that are called without a proxy, with the names below them; `*` stands for all. */
  direct: readonly string[];
  /** Addresses that are called without a proxy. */
  networks: readonly Network[];
}

/**
 * What `fetch` takes for the address of a proxy. Where a variable holds anything else, such as a password with signs that an
 * address may not have, it calls without a proxy and tells nobody (Deno 2.9.6).
 */
const ADDRESS =
  /^(?:https?:\/\/|HTTPS?:\/\/|socks5h?:\/\/)?(?:[\w!$%&'()*+,;=:@.~-]*@)?(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?(?:\/[!-~]*)?$/;

/** The variables that name a proxy in a way that `fetch` does not understand. */
export function doubtfulProxies(env: (name: string) => string | undefined): string[] {
  return ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY"].flatMap((name) => [name, name.toLowerCase()])
    .filter((name) => env(name) && !ADDRESS.test(env(name)!));
}

/** @param env a variable of the environment; undefined: there is none */
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

/** Whether `fetch` may call an address through a proxy. Entries of NO_PROXY that are of no kind known here, `fetch` judges itself. */
export function proxied(url: string, { http, https, direct, networks }: ProxySettings): boolean {
  const { protocol, hostname } = new URL(url);
  if (!(protocol === "https:" ? https : http)) return false;
  // What runs on this machine is not beyond a proxy. Behind TLS it may be a tunnel's end.
  if (protocol === "http:" && LOOPBACK.test(hostname)) return false;
  const host = hostname.replace(/^\[|\]$/g, "");
  if (networks.length > 0 && isWithin(host, networks)) return false;
  return !direct.some((name) => name === "*" || host === name || host.endsWith(`.${name}`));
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
