/**
 * Proxies between this machine and providers, by the variables that `fetch` goes by: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and
 * NO_PROXY, in capitals or not.
 */

export interface ProxySettings {
  http: boolean;
  https: boolean;
  /** Hosts that are called without a proxy, with the names below them; `*` stands for all. */
  direct: readonly string[];
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
  return { http, https, direct };
}

/**
 * Whether `fetch` may call an address through a proxy. Of NO_PROXY only names and single addresses are read here; of
 * anything else, `fetch` judges itself.
 */
export function proxied(url: string, { http, https, direct }: ProxySettings): boolean {
  const { protocol, hostname } = new URL(url);
  if (!(protocol === "https:" ? https : http)) return false;
  // What runs on this machine is not beyond a proxy. Behind TLS it may be a tunnel's end.
  if (protocol === "http:" && LOOPBACK.test(hostname)) return false;
  const host = hostname.replace(/^\[|\]$/g, "");
  return !direct.some((name) => name === "*" || host === name || host.endsWith(`.${name}`));
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
