/** Many who sign in at once, whom nobody knows: they must not make the gateway ask the provider without end, nor shut others out. */
import { assertEquals } from "@std/assert";
import { CLIENT, oidcProvider } from "../support/oidc_provider.ts";
import { eventually } from "../support/time.ts";
import { askerOf, cookieOf, withConsole } from "./rig.ts";

const many = <T>(count: number, one: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => one(i)));
const oidc = (issuer: string) => ({
  issuer,
  client_id: CLIENT.id,
  client_secret: CLIENT.secret,
  roles: { claim: "role", map: { dev: "member" } },
});
const DISCOVERY = "/.well-known/openid-configuration";

Deno.test("all who begin at once share one question for the provider's metadata", async () => {
  const provider = await oidcProvider();
  try {
    await withConsole(async (ask) => {
      const starts = await many(50, () => ask("GET", "/console/oidc/start"));
      assertEquals(new Set(starts.map(({ status }) => status)), new Set([302]));
      assertEquals(provider.asked, [DISCOVERY]);
    }, { config: { oidc: oidc(provider.issuer) } });
  } finally {
    await provider.close();
  }
});

Deno.test("a provider that fails is asked once, whoever begins meanwhile, and the log is not filled", async () => {
  const provider = await oidcProvider();
  provider.mischief = { metadata: { issuer: "https://another.example" } };
  try {
    await withConsole(async (ask, { logged }) => {
      const starts = await many(50, () => ask("GET", "/console/oidc/start"));
      starts.push(...await many(50, () => ask("GET", "/console/oidc/start")));
      assertEquals(new Set(starts.map(({ status }) => status)), new Set([502]));
      assertEquals(provider.asked, [DISCOVERY]);
      assertEquals(logged.filter((line) => line.includes("sign-in with")).length, 30);
    }, { config: { oidc: oidc(provider.issuer) } });
  } finally {
    await provider.close();
  }
});

Deno.test("answers of one address wait for the provider in some of the places, and others come in", async () => {
  const provider = await oidcProvider();
  const gate = Promise.withResolvers<void>();
  try {
    await withConsole(async (ask, gateway) => {
      const begin = async (asker: typeof ask) => {
        const start = await asker("GET", "/console/oidc/start");
        const back = new URL(await provider.authorize(start.headers.get("location")!));
        return { path: back.pathname + back.search, cookie: cookieOf(start) };
      };
      const back = (asker: typeof ask, { path, cookie }: { path: string; cookie: string }) =>
        asker("GET", path, { headers: { cookie } });
      provider.person = { sub: "eve", role: "dev" };
      provider.mischief = { token: () => gate.promise.then(() => "") };
      const flows = await many(12, () => begin(ask));
      const waiting = flows.map((flow) => back(ask, flow));
      await eventually(() => provider.asked.filter((path) => path === "/token").length === 8);
      provider.mischief = {};
      const other = askerOf(gateway, "10.9.9.9");
      assertEquals((await back(other, await begin(other))).status, 303);
      gate.resolve();
      const statuses = (await Promise.all(waiting)).map(({ status }) => status).sort();
      assertEquals(statuses, [...Array(8).fill(403), ...Array(4).fill(503)]);
      assertEquals((await back(ask, await begin(ask))).status, 303);
    }, { config: { oidc: oidc(provider.issuer) } });
  } finally {
    gate.resolve();
    await provider.close();
  }
});
