/** Limits that change, and periods that end, while calls run: no call costs what no budget has counted. */
import { assertEquals, assertRejects } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { ACCOUNTS } from "../../src/accounts/config.ts";
import { onBothEngines } from "../support/cluster.ts";
import { eventually } from "../support/time.ts";
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

  const lowered = (credits: string | null) => ({
    ...configOf(),
    accounts: ACCOUNTS.parse([{ name: "acme", credits }]),
  });
  const LOWERED: Record<string, (service: Running) => Promise<unknown>> = {
    "by a reload": (service) => service.reload(lowered("4.00")),
    "by an administrator": (service) => service.addCredits("acme", "-6.00"),
  };
  for (const [how, lower] of Object.entries(LOWERED)) {
    test(
      `credits that are lowered ${how} below what nodes hold of them hold at each of them`,
      lowered("10.00"),
      async (service, again) => {
        const ask = async (node: Running, cents: number) =>
          await node.admit(requestOf(await keyOf(node), cents));
        const spend = async (node: Running, cents: number, beside: readonly Running[] = []) => {
          const reservation = await eventually(async () => {
            // What another one holds it gives back in its turns.
            for (const one of beside) await one.tick();
            return await ask(node, cents).catch((failure: Failure) => {
              if (failure.code !== "provider_rate_limited") throw failure;
            });
          });
          await reservation!.settle(endOf({ input: cents }));
          await node.flush();
        };
        // One node holds all there is, then as much as it needs beside the other.
        await spend(service, 100);
        const other = await again();
        await spend(other, 100, [service]);
        await spend(service, 100, [other]);
        await lower(service);
        await other.tick();
        for (const node of [service, other]) await assertRejects(() => ask(node, 101), Failure);
        let spent = 300;
        for (let i = 0; spent < 400; i++) {
          const [node, beside] = i % 2 === 0 ? [service, other] : [other, service];
          await spend(node, 20, [beside]);
          spent += 20;
        }
        for (const node of [service, other]) {
          assertEquals(await codeOf(() => ask(node, 1)), "insufficient_funds");
        }
        assertEquals((await other.credits("acme")).balance, "0.00");
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
