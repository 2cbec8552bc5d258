import { assertEquals } from "@std/assert";
import { domainFilter, hostOf } from "../../src/websearch/hosts.ts";

Deno.test("hostOf() reads a domain however it is written", () => {
  const cases: [domain: string, host: string][] = [
    ["Example.com", "example.com"],
    ["*.example.com", "example.com"],
    [".example.com", "example.com"],
    ["https://example.com/path?q#f", "example.com"],
    ["example.com?x", "example.com"],
    [" example.com#x ", "example.com"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["Example.com.", "example.com"],
    ["https://Example.com:8080/", "example.com"],
    [`example.com${"/".repeat(50_000)}\nx`, "example.com"],
    // No host has a name of more than 253 characters: it matches nothing, and is not parsed.
    [`${"ä.".repeat(200)}com/path`, `${"ä.".repeat(200)}com`],
  ];
  for (const [domain, host] of cases) assertEquals(hostOf(domain), host, domain.slice(0, 40));
});

Deno.test("domainFilter() lets hosts of and below the allowed domains through, and none of the blocked", () => {
  const fits = domainFilter({
    allowedDomains: ["example.com", "co.uk"],
    blockedDomains: ["bad.example.com"],
  });
  const cases: [host: string, fits: boolean][] = [
    ["example.com", true],
    ["a.b.example.com", true],
    ["notexample.com", false],
    ["example.com.evil", false],
    ["x.co.uk", true],
    ["bad.example.com", false],
    ["very.bad.example.com", false],
    ["uk", false],
  ];
  for (const [host, wanted] of cases) assertEquals(fits(`https://${host}/x`), wanted, host);
  assertEquals(domainFilter({})("https://any.example/"), true);
});

Deno.test("domainFilter() takes a domain with a path for the pages at this path and below", () => {
  const cases: [domain: string, page: string, fits: boolean][] = [
    ["example.com/blog", "https://example.com/blog", true],
    ["example.com/blog", "https://www.example.com/blog/post-1?q#f", true],
    ["example.com/blog", "https://example.com/blogs", false],
    ["example.com/blog", "https://example.com/", false],
    ["example.com/blog", "https://other.example/blog", false],
    ["https://Example.com/Blog/", "https://example.com/Blog/x", true],
    ["https://Example.com/Blog/", "https://example.com/blog/x", false],
    ["example.com/a b/ü", "https://example.com/a%20b/%C3%BC/x", true],
    ["example.com/*", "https://example.com/x", true],
    ["example.com/*/news", "https://example.com/de/news/1", true],
    ["example.com/*/news", "https://example.com/a/b/news", true],
    ["example.com/*/news", "https://example.com/news", false],
    ["example.com/*/news", "https://example.com/de/newspaper", false],
    ["example.com/a*b*c", "https://example.com/aXbYc/z", true],
    ["example.com/a*b*c", "https://example.com/acb", false],
    ["example.com/a*b*c", "https://example.com/axc", false],
    ["example.com/a*bc*c", "https://example.com/abc", false],
    ["example.com/a*b", "https://example.com/ab", true],
    ["example.com?x", "https://example.com/any", true],
    ["example.com", "https://example.com./any", true],
  ];
  for (const [domain, page, fits] of cases) {
    assertEquals(domainFilter({ allowedDomains: [domain] })(page), fits, `${domain} allows ${page}`);
    assertEquals(domainFilter({ blockedDomains: [domain] })(page), !fits, `${domain} blocks ${page}`);
  }
  const several = domainFilter({ allowedDomains: ["example.com/news", "example.com/blog"] });
  const pages = ["news/1", "blog/1", "shop"].map((path) => several(`https://example.com/${path}`));
  assertEquals(pages, [true, true, false]);
  const both = domainFilter({ allowedDomains: ["example.com"], blockedDomains: ["example.com/private"] });
  assertEquals(both("https://example.com/open"), true);
  assertEquals(both("https://example.com/private/x"), false);
});
