/** Which addresses a search may show: web pages only, and of the hosts that the caller wants. */
import type { SearchOptions } from "../exchange/prompt.ts";

const LONGEST_ADDRESS = 2000;

/**
 * An address as it may be shown, or undefined when it is none of the web. White space, brackets and quotes, which could
 * pass for text around it, come out escaped.
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
  // International names as addresses have them.
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : host.replace(/[\s()"]/g, "");
}

/** Tells of an address whether its host is one of the allowed domains or below one, and none of the blocked. */
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
