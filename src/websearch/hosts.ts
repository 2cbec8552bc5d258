/** Decides which URLs a search may return: only web pages, and only of hosts that the caller allows. */
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

/** The host of a domain as callers write it: `Example.com`, `*.example.com`, `https://example.com/path`. */
export function hostOf(domain: string): string {
  const named = domain.trim().toLowerCase().replace(/^https?:\/\//, "");
  const end = named.search(/[/?#]/);
  const host = (end < 0 ? named : named.slice(0, end)).replace(/^\*?\./, "");
  // International names in ASCII form (Punycode), as in URLs.
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : host.replace(/[\s()"]/g, "");
}

/**
 * A function that checks whether the host of a URL is one of the allowed domains or their subdomains, and
 * none of the blocked ones.
 */
export function domainFilter(
  { allowedDomains, blockedDomains }: SearchOptions,
): (address: string) => boolean {
  const allowed = new Set(allowedDomains?.map(hostOf));
  const blocked = new Set(blockedDomains?.map(hostOf));
  return (address) => {
    const { hostname } = new URL(address);
    return (allowed.size === 0 || isWithin(hostname, allowed)) && !isWithin(hostname, blocked);
  };
}

function isWithin(hostname: string, domains: ReadonlySet<string>): boolean {
  if (domains.size === 0) return false;
  for (let at = 0;; at++) {
    if (domains.has(hostname.slice(at))) return true;
    at = hostname.indexOf(".", at);
    if (at < 0) return false;
  }
}
