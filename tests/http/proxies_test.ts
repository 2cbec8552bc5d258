import { assertEquals } from "@std/assert";
import { isWithin, networkOf } from "../../src/exchange/networks.ts";
import { clientOf, isHttps, publicUrlOf } from "../../src/http/proxies.ts";

const networks = (...texts: string[]) => texts.map((text) => networkOf(text)!);

Deno.test("isWithin() tells addresses of a network, of both kinds and in any way of writing", () => {
  const cases: [string, string, boolean][] = [
    ["10.0.0.0/8", "10.255.1.2", true],
    ["10.0.0.0/8", "11.0.0.0", false],
    ["10.0.0.1", "10.0.0.1", true],
    ["10.0.0.1", "10.0.0.2", false],
    ["10.0.0.0/8", "::ffff:10.1.2.3", true],
    ["10.0.0.0/8", "::10.1.2.3", false],
    ["::1", "0:0:0:0:0:0:0:1", true],
    ["2001:db8::/32", "2001:db8:ffff::1", true],
    ["2001:db8::/32", "2001:db9::1", false],
    ["0.0.0.0/0", "1.2.3.4", true],
    ["0.0.0.0/0", "2001:db8::1", false],
    ["10.0.0.0/8", "", false],
    ["10.0.0.0/8", "10.0.0.256", false],
  ];
  for (const [network, address, within] of cases) {
    assertEquals(isWithin(address, networks(network)), within, `${address} in ${network}`);
  }
  for (
    const text of [
      "",
      "x",
      "10.0.0.0/33",
      "10.0.0/8",
      "10.0.0.0/",
      "::1/129",
      "::1/8/8",
      "10.0.0.1/-1",
      "1:2",
    ]
  ) {
    assertEquals(networkOf(text), null, text);
  }
});

const from = (hostname: string) => ({ remoteAddr: { transport: "tcp", hostname, port: 1 } as Deno.NetAddr });
const ask = (headers: Record<string, string>) =>
  new Request("http://gw.example/x", { headers: { host: "gw.example", ...headers } });
const trust = { publicUrl: null, trustedProxies: networks("10.0.0.0/8"), tls: null };

Deno.test("what a proxy says of scheme and address counts only if the proxy is trusted", () => {
  const secure = ask({ "x-forwarded-proto": "https", "x-forwarded-for": "1.1.1.1, 2.2.2.2, 10.9.9.9" });
  assertEquals(isHttps(secure, from("10.1.1.1"), trust), true);
  assertEquals(isHttps(secure, from("11.1.1.1"), trust), false);
  assertEquals(isHttps(secure, undefined, trust), false);
  assertEquals(isHttps(secure, from("10.1.1.1"), { ...trust, trustedProxies: [] }), false);
  // Only what the nearest proxy has added counts.
  assertEquals(isHttps(ask({ "x-forwarded-proto": "https, http" }), from("10.1.1.1"), trust), false);
  assertEquals(isHttps(ask({}), from("11.1.1.1"), { ...trust, tls: {} }), true);
  assertEquals(isHttps(ask({}), undefined, { ...trust, publicUrl: "https://gw.example" }), true);
  assertEquals(clientOf(secure, from("10.1.1.1"), trust), "2.2.2.2");
  assertEquals(clientOf(secure, from("11.1.1.1"), trust), "11.1.1.1");
  assertEquals(clientOf(ask({ "x-forwarded-for": 'evil" thing' }), from("10.1.1.1"), trust), "10.1.1.1");
  assertEquals(publicUrlOf(secure, from("10.1.1.1"), trust), "https://gw.example");
  assertEquals(publicUrlOf(secure, from("11.1.1.1"), trust), "http://gw.example");
  assertEquals(
    publicUrlOf(secure, from("11.1.1.1"), { ...trust, publicUrl: "https://public.example" }),
    "https://public.example",
  );
});
