/** Addresses of proxies that nobody understands: `fetch` calls without a proxy then, so the operator is told. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { loadValue } from "../../src/config/load.ts";
import { doubtfulProxies } from "../../src/outgoing/proxies.ts";

const doubted = (value: string) => doubtfulProxies((name) => name === "https_proxy" ? value : undefined);

/** Tried with `fetch` of Deno 2.9.6: it asks these proxies. */
const GOOD = [
  "http://127.0.0.1:3128",
  "127.0.0.1:3128",
  "HTTP://proxy.example:3128/",
  "http://proxy:3128/path",
  "https://proxy.example",
  "http://[::1]:3128",
  "socks5://proxy:1080",
  "socks5h://user:word@proxy:1080",
  "user:word@proxy:3128",
  "http://user:p%5Ew@proxy:3128",
  "http://user:a!$&'(*+,;=~@b:c@proxy:3128",
];

/** And calls without one where these are set, or looks for one at a place that is none. */
const BAD = [
  "socks4://proxy:1080",
  "socks://proxy:1080",
  "SOCKS5://proxy:1080",
  "ftp://proxy:21",
  " http://proxy:3128",
  "http://proxy:3128 ",
  "http:/proxy:3128",
  "//proxy:3128",
  "http://",
  "http://proxy:port",
  ...['"', "<", "\\", "^", "`", "{", "|", " ", "[", "#", "?", "/", "é"].map((sign) =>
    `http://user:pw${sign}x@proxy:3128`
  ),
];

Deno.test("doubtfulProxies() names variables that fetch does not understand, and no others", () => {
  for (const value of GOOD) assertEquals(doubted(value), [], value);
  for (const value of BAD) assertEquals(doubted(value), ["https_proxy"], value);
  assertEquals(doubtfulProxies((name) => name === "NO_PROXY" ? "<" : ""), []);
});

Deno.test("a configuration is loaded with a warning that names such a variable, and not its value", () => {
  const value = {
    providers: { p: { api: "demo" } },
    models: [{
      id: "p/m",
      routes: [{ provider: "p", model: "m" }],
      pricing: { prompt: "0", completion: "0" },
    }],
  };
  const variables: Record<string, string> = { HTTPS_PROXY: "http://user:secret^word@proxy.example:3128" };
  const { warnings } = loadValue(value, { env: (name) => variables[name] });
  const warning = warnings.find((line) => line.startsWith("HTTPS_PROXY: "))!;
  assertStringIncludes(warning, "without a proxy");
  assert(!/secret|proxy\.example/.test(warnings.join("\n")));
});
