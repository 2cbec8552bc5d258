/** Limits that change, and periods that end, while calls run: no call costs what no budget has counted. */
import { assertEquals } from "@std/assert";
import { onBothEngines } from "../support/cluster.ts";
import { codeOf, configOf, endOf, keyOf, NOON, requestOf, type Running, testsOn } from "./support.ts";

const MIDNIGHT = Date.UTC(2026, 0, 16);
const total = (amount: string) => ({ amount, period: "total" as const });
const CHANGES: Record<string, (service: Running) => Promise<unknown>> = {
  "of a key": (service) => service.patchKey("ci", { spend_limit: total("10.00") }),
  "of a session": (service) => service.patchKey("ci", { session_limit: { amount: "10.00" } }),
  "of a tag": (service) => service.patchKey("ci", { tag_limits: [{ tag: "customer", ...total("10.00") }] }),
  "of a team": (service) => service.changeTeam("red", { spend_limit: total("10.00") }),
};
const labels = { session: "s", tags: { customer: "a" } };

onBothEngines((ground) => {
  const test = testsOn(ground);

  for (const [what, change] of Object.entries(CHANGES)) {
    test(
      `a call that began before a limit ${what} counts against what comes after it`,
      configOf(),
      async (service) => {
        await service.createTeam({ name: "red" });
        const { secret } = await service.createKey({ name: "ci", account: "acme", team: "red" });
        const key = await keyOf(service, secret);
        const ask = (cents: number) => service.admit(requestOf(key, cents, { labels }));
        const before = await ask(400);
        await change(service);
        await (await ask(10)).settle(endOf({ input: 10 }));
        await service.flush();
        await before.settle(endOf({ input: 400 }));
        await service.flush();
        assertEquals(await codeOf(() => ask(800)), "api_key_limit_exceeded");
        await (await ask(590)).settle(endOf({ input: 590 }));
        await service.flush();
        assertEquals(await codeOf(() => ask(1)), "api_key_limit_exceeded");
      },
    );

    test(
      `a call at another node that began before a limit ${what} counts against what comes after it`,
      configOf(),
      async (service, again) => {
        await service.createTeam({ name: "red" });
        const { secret } = await service.createKey({ name: "ci", account: "acme", team: "red" });
        const other = await again();
        await other.tick();
        const before = await other.admit(requestOf(await keyOf(other, secret), 400, { labels }));
        await change(service);
        const ask = async (cents: number) =>
          service.admit(requestOf(await keyOf(service, secret), cents, { labels }));
        await (await ask(10)).settle(endOf({ input: 10 }));
        // Its lease of all that is left.
        const more = await ask(450);
        await more.release();
        await before.settle(endOf({ input: 400 }));
        await other.flush();
        await service.tick();
        await service.flush();
        assertEquals(await codeOf(() => ask(800)), "api_key_limit_exceeded");
      },
    );
  }

  test(
    "a call that is let in behind midnight is one of the new day, whenever it came",
    configOf({ spend_limit: { amount: "1.00", period: "day" } }),
    async (service) => {
      const { clock } = service;
      clock.move(MIDNIGHT - 1 - NOON);
      const key = await keyOf(service);
      await (await service.admit(requestOf(key, 90, { created: clock.now() }))).settle(endOf({ input: 90 }));
      await service.flush();
      // The store is asked meanwhile.
      const late = service.admit(requestOf(key, 80, { created: clock.now() }));
      clock.move(1);
      await (await late).settle(endOf({ input: 80 }));
      await service.flush();
      assertEquals(
        await codeOf(() => service.admit(requestOf(key, 30, { created: clock.now() }))),
        "api_key_limit_exceeded",
      );
      const { data } = await service.usage({ by: "day" });
      assertEquals(data.map(({ day, cost }) => [day, cost]), [["2026-01-15", "0.90"], [
        "2026-01-16",
        "0.80",
      ]]);
    },
  );
});
