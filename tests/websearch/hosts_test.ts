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
    [`example.com${"/".repeat(50_000)}\nx`, "example.com"],
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
