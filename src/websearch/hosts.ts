/** Decides which URLs a search may return: only web pages, and only of sites that the caller allows. */
import type { SearchOptions } from "../exchange/prompt.ts";

const LONGEST_ADDRESS = 2000;
/** Longest name of a host. Parsing a longer one would take long: a URL parser converts each of its labels. */
const LONGEST_HOST = 253;

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
function siteOf(domain: string): Site {
  const named = domain.trim().replace(/^https?:\/\//i, "");
  const end = named.search(/[/?#]/);
  const host = (end < 0 ? named : named.slice(0, end)).toLowerCase().replace(/^\*?\./, "");
  const path = end < 0 ? "" : named.slice(end);
  // International names in ASCII form (Punycode), and paths in percent-encoding, as in URLs.
  const url = host.length <= LONGEST_HOST ? URL.parse(`http://${host}${path}`) : null;
  const { pathname } = url ?? new URL(`http://x${path}`);
  return {
    host: withoutDot(url?.hostname ?? host.replace(/[\s()"]/g, "")),
    path: pathname.slice(0, endOfPath(pathname)),
  };
}

/** The host of a domain. */
export function hostOf(domain: string): string {
  return siteOf(domain).host;
}

const NONE: readonly string[] = [];
/** The sites of the callers' lists. A list is parsed once, although each search needs it several times. */
const known = new WeakMap<readonly string[], readonly Site[]>();

function sitesOf(domains: readonly string[] = NONE): readonly Site[] {
  let sites = known.get(domains);
  if (sites === undefined) known.set(domains, sites = domains.map(siteOf));
  return sites;
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

/** The paths of sites by host, each divided at its `*`. */
type Paths = ReadonlyMap<string, readonly (readonly string[])[]>;

function pathsByHost(domains?: readonly string[]): Paths {
  const paths = new Map<string, string[][]>();
  for (const { host, path } of sitesOf(domains)) {
    const parts = path.split("*");
    const others = paths.get(host);
    if (others === undefined) paths.set(host, [parts]);
    else others.push(parts);
  }
  return paths;
}

function isWithin(host: string, pathname: string, sites: Paths): boolean {
  if (sites.size === 0) return false;
  for (let at = 0;; at++) {
    if (sites.get(host.slice(at))?.some((parts) => isBelow(pathname, parts))) return true;
    at = host.indexOf(".", at);
    if (at < 0) return false;
  }
}

/**
 * Whether a path begins with a pattern, up to a slash or the end. Linear in the path for each part of the pattern.
 *
 * @param parts the pattern, divided at its `*`
 */
function isBelow(pathname: string, parts: readonly string[]): boolean {
  const [first] = parts;
  if (!pathname.startsWith(first)) return false;
  let at = first.length;
  if (parts.length === 1) return at === 0 || at === pathname.length || pathname[at] === "/";
  for (let i = 1; i < parts.length - 1; i++) {
    const found = pathname.indexOf(parts[i], at);
    if (found < 0) return false;
    at = found + parts[i].length;
  }
  const last = parts[parts.length - 1];
  return pathname.includes(`${last}/`, at) ||
    (pathname.endsWith(last) && pathname.length - last.length >= at);
}

/** The hosts of sites, to be searched only. */
export function hostsOf(domains?: readonly string[]): string[] {
  return [...new Set(sitesOf(domains).map(({ host }) => host))];
}

/** The hosts of sites of which no page is wanted. A host of which only some pages are blocked is none of them. */
export function wholeHostsOf(domains?: readonly string[]): string[] {
  return [...new Set(sitesOf(domains).filter(({ path }) => path === "").map(({ host }) => host))];
}
