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
  const host = domain.trim().toLowerCase().replace(/^https?:\/\//, "").replace(/[/?#].*$/, "").replace(
    /^\*?\./,
    "",
  );
  // International names as addresses have them.
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : host.replace(/[\s()"]/g, "");
}

/** Whether a page's host is one of the allowed domains or below one, and none of the blocked. */
export function fitsDomains(address: string, { allowedDomains, blockedDomains }: SearchOptions): boolean {
  const { hostname } = new URL(address);
  const within = (domains: readonly string[]) =>
    domains.map(hostOf).some((host) => hostname === host || hostname.endsWith(`.${host}`));
  if (allowedDomains && allowedDomains.length > 0 && !within(allowedDomains)) return false;
  return !(blockedDomains && within(blockedDomains));
}
