/** Decides which URLs a search may return: only web pages, and only of sites that the caller allows. */
import type { SearchOptions } from "../exchange/prompt.ts";

const LONGEST_ADDRESS = 2000;

/**
 * A normalized URL, or undefined if it is not an http(s) URL. White space, brackets and quotes, which could
 * look like surrounding text, are escaped.
 */
export function webAddress(address: string): string | undefined {
  if (address.length > LONGEST_ADDRESS || !/^https?:\/\//i.test(address) || !URL.canParse(address)) return;
  return /[\s<>"'`\\{}\p{C}]/u.test(address) ? new URL(address).href.replaceAll("'", "%27") : address;
}

/** The pages that an entry of a list of domains is about. */
export interface Site {
  host: string;
  /**
   * Only the pages at this path and below; `*` stands for any characters. Empty: all pages. Without a slash
   * at the end.
   */
  path: string;
}

/** The site that a caller writes as `Example.com`, `*.example.com`, `https://example.com/blog`. */
export function siteOf(domain: string): Site {
  const named = domain.trim().replace(/^https?:\/\//i, "");
  const end = named.search(/[/?#]/);
  const host = (end < 0 ? named : named.slice(0, end)).toLowerCase().replace(/^\*?\./, "");
  const path = end < 0 ? "" : named.slice(end);
  // International names in ASCII form (Punycode), and paths in percent-encoding, as in URLs.
  const canParse = URL.canParse(`http://${host}`);
  const { hostname, pathname } = new URL(canParse ? `http://${host}${path}` : `http://x${path}`);
  return {
    host: withoutDot(canParse ? hostname : host.replace(/[\s()"]/g, "")),
    path: pathname.slice(0, endOfPath(pathname)),
  };
}

/** The host of a domain. */
export function hostOf(domain: string): string {
  return siteOf(domain).host;
}

/** The fully qualified form of a name ends with a dot. */
function withoutDot(host: string): string {
  return host.endsWith(".") ? host.slice(0, -1) : host;
}

/** `/blog/`, `/blog/*` and `/blog` mean the same pages. */
function endOfPath(path: string): number {
  let end = path.length;
  while (end > 0 && (path[end - 1] === "/" || (path[end - 1] === "*" && path[end - 2] === "/"))) end--;
  return end;
}

/**
 * A function that checks whether a URL is of one of the allowed sites, with their subdomains, and of none of
 * the blocked ones.
 */
export function domainFilter(
  { allowedDomains, blockedDomains }: SearchOptions,
): (address: string) => boolean {
  const allowed = pathsByHost(allowedDomains);
  const blocked = pathsByHost(blockedDomains);
  return (address) => {
    const { hostname, pathname } = new URL(address);
    const host = withoutDot(hostname);
    return (allowed.size === 0 || isWithin(host, pathname, allowed)) && !isWithin(host, pathname, blocked);
  };
}

/** The paths of sites by host. */
type Paths = ReadonlyMap<string, readonly string[]>;

function pathsByHost(domains: readonly string[] = []): Paths {
  const paths = new Map<string, string[]>();
  for (const { host, path } of domains.map(siteOf)) {
    const known = paths.get(host);
    if (known === undefined) paths.set(host, [path]);
    else known.push(path);
  }
  return paths;
}

function isWithin(host: string, pathname: string, sites: Paths): boolean {
  if (sites.size === 0) return false;
  for (let at = 0;; at++) {
    if (sites.get(host.slice(at))?.some((path) => isBelow(pathname, path))) return true;
    at = host.indexOf(".", at);
    if (at < 0) return false;
  }
}

/** Whether a path begins with a pattern, up to a slash or the end. Linear in the path for each part of the pattern. */
function isBelow(pathname: string, pattern: string): boolean {
  if (pattern === "") return true;
  const [first, ...others] = pattern.split("*");
  if (!pathname.startsWith(first)) return false;
  let at = first.length;
  const last = others.pop();
  for (const part of others) {
    const found = pathname.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  if (last === undefined) return at === pathname.length || pathname[at] === "/";
  return pathname.includes(`${last}/`, at) ||
    (pathname.endsWith(last) && pathname.length - last.length >= at);
}

/** The hosts of sites, to be searched only. */
export function hostsOf(domains: readonly string[] = []): string[] {
  return [...new Set(domains.map(hostOf))];
}

/** The hosts of sites of which no page is wanted. A host of which only some pages are blocked is none of them. */
export function wholeHostsOf(domains: readonly string[] = []): string[] {
  return [...new Set(domains.map(siteOf).filter(({ path }) => path === "").map(({ host }) => host))];
}
