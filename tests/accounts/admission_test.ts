/** What admission holds against limits of spend, credits and rates, and what ends of calls give back. */
import { assertEquals, assertRejects } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { onBothEngines } from "../support/cluster.ts";
import { openCalls } from "../support/open_calls.ts";
import { admitAtOnce, codeOf, configOf, endOf, keyOf, requestOf, testsOn } from "./support.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;

onBothEngines((ground) => {
  const test = testsOn(ground);

  test(
    "admit() of a thousand at once lets in what the spend limit holds",
    configOf({
      spend_limit: { amount: "1.00", period: "day" },
    }),
    async (service) => {
      const key = await keyOf(service);
      const { reservations, refused } = await admitAtOnce(service, key, 1000);
      assertEquals([reservations.length, refused], [100, new Map([["provider_rate_limited", 900]])]);
      // Half of them cost nothing in the end: their share is there again at once.
      for (const [i, reservation] of reservations.entries()) {
        if (i % 2 === 0) reservation.release();
        else await reservation.settle(endOf({ input: 1 }));
      }
      const again = await admitAtOnce(service, key, 1000);
      assertEquals(again.reservations.length, 50);
      for (const reservation of again.reservations) await reservation.settle(endOf({ input: 1 }));
      const status = await service.keyStatus(key);
      assertEquals(status.spend, {
        amount: "1.00",
        period: "day",
        remaining: "0.00",
        forecast: "2.00",
        incomplete_before: null,
        reset_at: "2026-01-16T00:00:00.000Z",
      });
      const error = await assertRejects(async () => await service.admit(requestOf(key, 1)), Failure);
      assertEquals(error.details, { reset_at: "2026-01-16T00:00:00.000Z" });
      assertEquals(await openCalls(service), 0);
      // The next day is another period.
      service.clock.move(DAY);
      (await service.admit(requestOf(key, 100))).release();
    },
  );

  test(
    "admit() refuses with 402 when credits run out, until some are added",
    configOf({}, "0.50"),
    async (service, again) => {
      const key = await keyOf(service);
      const { reservations, refused } = await admitAtOnce(service, key, 80);
      assertEquals([reservations.length, refused], [50, new Map([["provider_rate_limited", 30]])]);
      for (const reservation of reservations) await reservation.settle(endOf({ input: 1 }));
      assertEquals(await codeOf(() => service.admit(requestOf(key, 1))), "insufficient_funds");
      await service.flush();
      const other = await again();
      assertEquals((await other.addCredits("acme", "0.25", { note: "thanks" })).balance, "0.25");
      service.clock.move(1000);
      await service.tick();
      const more = await admitAtOnce(service, key, 80);
      assertEquals(more.reservations.length, 25);
      for (const reservation of more.reservations) reservation.release();
      assertEquals((await service.credits("acme")).balance, "0.25");
    },
  );

  test(
    "admit() reserves all that tools of a provider may read while there is as much, and else all that is left",
    configOf({ spend_limit: { amount: "1.00", period: "day" } }),
    async (service) => {
      const key = await keyOf(service);
      const estimate = { input: 0, media: 40, leastMedia: 2, output: 8, leastOutput: 1, searches: 0 };
      const admit = () => service.admit(requestOf(key, 0, { estimate }));
      const reservations = [await admit(), await admit()];
      // Of the 4 cents that are left it needs 3, and may use more.
      reservations.push(await admit());
      assertEquals(reservations.map(({ output }) => output), [8, 8, 1]);
      assertEquals(await codeOf(() => service.admit(requestOf(key, 1))), "provider_rate_limited");
      for (const reservation of reservations) reservation.release();
      // Between the most and the least: half of both.
      const first = await service.admit(requestOf(key, 60));
      const second = await admit();
      assertEquals(second.output, 4);
      assertEquals(await codeOf(() => service.admit(requestOf(key, 1))), "provider_rate_limited");
      for (const reservation of [first, second]) reservation.release();
      (await service.admit(requestOf(key, 100))).release();
    },
  );

  test("admit() lets an overrun pass the limit once and no more", configOf({}, "1.00"), async (service) => {
    const key = await keyOf(service);
    await (await service.admit(requestOf(key, 90))).settle(endOf({ input: 150 }));
    assertEquals(await codeOf(() => service.admit(requestOf(key, 1))), "insufficient_funds");
    assertEquals((await service.credits("acme")).balance, "-0.50");
    service.clock.move(5000);
    assertEquals(await codeOf(() => service.admit(requestOf(key, 1))), "insufficient_funds");
  });

  test("admit() counts a limit that is set later from what was spent before", configOf(), async (service) => {
    const { secret } = await service.createKey({ name: "ci", account: "acme" });
    const key = await keyOf(service, secret);
    await (await service.admit(requestOf(key, 60))).settle(endOf({ input: 60 }));
    await service.patchKey("ci", { spend_limit: { amount: "1.00", period: "month" } });
    const { reservations } = await admitAtOnce(service, await keyOf(service, secret), 100);
    assertEquals(reservations.length, 40);
    for (const reservation of reservations) reservation.release();
    await service.patchKey("ci", { spend_limit: { amount: "0.70", period: "month" } });
    const lower = await admitAtOnce(service, await keyOf(service, secret), 100);
    assertEquals(lower.reservations.length, 10);
    for (const reservation of lower.reservations) reservation.release();
    await service.patchKey("ci", { spend_limit: { amount: "0.90", period: "month" } });
    const higher = await admitAtOnce(service, await keyOf(service, secret), 100);
    assertEquals(higher.reservations.length, 30);
    for (const reservation of higher.reservations) reservation.release();
  });

  test(
    "release() gives back once, and what comes after it is ignored",
    configOf({ spend_limit: { amount: "1", period: "month" } }),
    async (service) => {
      const key = await keyOf(service);
      const running = await service.admit(requestOf(key, 40));
      const reservation = await service.admit(requestOf(key, 60));
      await reservation.release();
      await reservation.release();
      await reservation.settle(endOf({ input: 60 }));
      assertEquals((await service.generations({})).data, []);
      const refusal = await assertRejects(() => service.admit(requestOf(key, 61)), Failure);
      assertEquals(
        [refusal.code, refusal.retryAfter, refusal.details],
        ["provider_rate_limited", 1, { reserved: true }],
      );
      assertEquals(await codeOf(() => service.admit(requestOf(key, 101))), "api_key_limit_exceeded");
      await (await service.admit(requestOf(key, 60))).release();
      await running.release();
    },
  );

  test(
    "settle() counts the tokens of a call in its minute, and not those of its estimate",
    configOf({ rate_limit: { tokens_per_minute: 100 } }),
    async (service) => {
      const key = await keyOf(service);
      await (await service.admit(requestOf(key, 60))).settle(endOf({ input: 25, output: 5 }));
      assertEquals(await codeOf(() => service.admit(requestOf(key, 71))), "provider_rate_limited");
      await (await service.admit(requestOf(key, 70))).release();
    },
  );

  test(
    "admit() holds requests and tokens a minute",
    configOf({
      rate_limit: { requests_per_minute: 10, tokens_per_minute: 100 },
    }),
    async (service) => {
      const key = await keyOf(service);
      const first = await service.admit(requestOf(key, 60));
      assertEquals(first.rates, {
        requests: { limit: 10, remaining: 9, reset: 60 },
        tokens: { limit: 100, remaining: 40, reset: 60 },
      });
      service.clock.move(10_000);
      const error = await assertRejects(async () => await service.admit(requestOf(key, 60)), Failure);
      assertEquals([error.code, error.retryAfter], ["provider_rate_limited", 50]);
      await first.settle(endOf({ input: 20 }));
      const { reservations, refused } = await admitAtOnce(service, key, 20, 1);
      assertEquals([reservations.length, refused.get("provider_rate_limited")], [9, 11]);
      reservations[0].release();
      (await service.admit(requestOf(key, 72))).release();
      // A call that ends in the next minute is not counted in it.
      service.clock.move(MINUTE);
      const next = await service.admit(requestOf(key, 100));
      for (const reservation of reservations.slice(1)) await reservation.settle(endOf({ input: 1000 }));
      assertEquals(next.rates?.requests?.remaining, 9);
      next.release();
      (await service.admit(requestOf(key, 1_000_000))).release();
    },
  );

  test(
    "admit() works on when the clock steps back",
    configOf({
      rate_limit: { requests_per_minute: 3 },
      spend_limit: { amount: "1.00", period: "day" },
    }),
    async (service) => {
      const key = await keyOf(service);
      await (await service.admit(requestOf(key, 10))).settle(endOf({ input: 10 }));
      service.clock.move(-3 * DAY);
      for (let i = 0; i < 3; i++) {
        const request = requestOf(key, 10, { created: service.clock.now() });
        await (await service.admit(request)).settle(endOf({ input: 10 }, { latencyMs: -3 * DAY }));
      }
      assertEquals(await codeOf(() => service.admit(requestOf(key, 1))), "provider_rate_limited");
      await service.tick();
      service.clock.move(3 * DAY);
      await (await service.admit(requestOf(key, 90))).settle(endOf({ input: 90 }));
      assertEquals((await service.keyStatus(key)).spend.amount, "1.00");
      assertEquals((await service.generations({ limit: 50 })).data.length, 5);
    },
  );

  test(
    "a reservation that nobody ends is given back, and its late end still counts",
    configOf({
      spend_limit: { amount: "1.00", period: "total" },
    }),
    async (service) => {
      const key = await keyOf(service);
      const reservation = await service.admit(requestOf(key, 100));
      assertEquals(await codeOf(() => service.admit(requestOf(key, 1))), "provider_rate_limited");
      for (let minutes = 0; minutes < 60; minutes += 5) {
        service.clock.move(300_000);
        await service.tick();
      }
      (await service.admit(requestOf(key, 100))).release();
      await reservation.settle(endOf({ input: 70 }));
      assertEquals(await openCalls(service), 0);
      service.clock.move(5000);
      assertEquals((await admitAtOnce(service, key, 100)).reservations.length, 30);
    },
  );

  test(
    "what a call has reserved stays so where the clock is put ahead or back",
    configOf({ spend_limit: { amount: "1.00", period: "total" } }),
    async (service) => {
      const key = await keyOf(service);
      await service.tick();
      const reservation = await service.admit(requestOf(key, 100));
      for (const step of [3_600_000, -3_600_000, 86_400_000, -1_000]) {
        service.clock.move(step);
        await service.tick();
        assertEquals(
          await codeOf(() => service.admit(requestOf(key, 1))),
          "provider_rate_limited",
          `${step}`,
        );
      }
      await reservation.settle(endOf({ input: 70 }));
      assertEquals((await admitAtOnce(service, key, 100)).reservations.length, 30);
    },
  );
});
