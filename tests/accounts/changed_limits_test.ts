/** A limit of any kind that is changed holds from the next call on, whatever a node has leased of it before. */
import { assertEquals } from "@std/assert";
import { CONFIG_KEY } from "../../src/accounts/config.ts";
import { onBothEngines } from "../support/cluster.ts";
import { codeOf, configOf, endOf, keyOf, requestOf, type Running, SECRET, testsOn } from "./support.ts";

const day = (cents: number) => ({ amount: String(cents / 100), period: "day" as const });
const tag = (cents: number) => [{ tag: "customer", ...day(cents) }];
const labels = { session: "s", tags: { customer: "a" } };

/** Fields of a key with a limit of so many cents, tokens or requests. */
const OF_KEY: Record<string, (n: number) => Record<string, unknown>> = {
  "spend limit": (n) => ({ spend_limit: day(n) }),
  "limit of sessions": (n) => ({ session_limit: { amount: String(n / 100) } }),
  "limit of tags": (n) => ({ tag_limits: tag(n) }),
  "limit of tokens a minute": (n) => ({ rate_limit: { tokens_per_minute: n } }),
};

onBothEngines((ground) => {
  const test = testsOn(ground);

  /** A hundred cents are there, of which forty are spent; then fifty, and then two hundred. */
  async function hold(service: Running, secret: string, set: (cents: number) => Promise<unknown>) {
    const ask = async (cents: number) =>
      service.admit(requestOf(await keyOf(service, secret), cents, { labels }));
    const spend = async (cents: number) => {
      await (await ask(cents)).settle(endOf({ input: cents }));
    };
    await set(100);
    await spend(40);
    await service.flush();
    await set(50);
    const refused = await codeOf(() => ask(11));
    assertEquals(["api_key_limit_exceeded", "provider_rate_limited"].includes(refused!), true, `${refused}`);
    await spend(10);
    assertEquals(await codeOf(() => ask(1)), refused);
    await set(200);
    await spend(150);
    assertEquals(await codeOf(() => ask(1)), refused);
  }

  for (const [what, fields] of Object.entries(OF_KEY)) {
    test(`a ${what} of a key that an administrator changes holds at once`, configOf(), async (service) => {
      const { secret } = await service.createKey({ name: "ci", account: "acme", ...fields(1) });
      await hold(service, secret, (cents) => service.patchKey("ci", fields(cents)));
    });

    test(`a ${what} of a key that is changed in the file holds at once`, configOf(), async (service) => {
      await hold(service, SECRET, async (cents) => {
        const key = CONFIG_KEY.parse({ name: "dev", secret: SECRET, account: "acme", ...fields(cents) });
        await service.reload({ ...configOf(), keys: [key] });
      });
    });
  }

  test("a spend limit of a team that an administrator changes holds at once", configOf(), async (service) => {
    await service.createTeam({ name: "red" });
    const { secret } = await service.createKey({ name: "ci", account: "acme", team: "red" });
    await hold(service, secret, (cents) => service.changeTeam("red", { spend_limit: day(cents) }));
  });

  test("a limit of requests a minute that is changed holds at once", configOf(), async (service) => {
    const { secret } = await service.createKey({ name: "ci", account: "acme" });
    const ask = async () => service.admit(requestOf(await keyOf(service, secret), 1, { labels }));
    for (
      const fields of [
        (n: number) => ({ rate_limit: { requests_per_minute: n }, session_limit: null }),
        (n: number) => ({ rate_limit: null, session_limit: { requests_per_minute: n } }),
      ]
    ) {
      await service.patchKey("ci", fields(10));
      service.clock.move(120_000);
      for (let i = 0; i < 3; i++) await (await ask()).settle(endOf({ input: 1 }));
      await service.patchKey("ci", fields(3));
      assertEquals(await codeOf(ask), "provider_rate_limited");
      await service.patchKey("ci", fields(4));
      await (await ask()).settle(endOf({ input: 1 }));
      assertEquals(await codeOf(ask), "provider_rate_limited");
    }
  });
});
