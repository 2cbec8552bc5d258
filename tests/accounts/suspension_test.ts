/** A process that stood still for as long as others may have given it up. */
import { assertEquals } from "@std/assert";
import { SuspensionWatch } from "../../src/accounts/budgets/suspension.ts";
import { onBothEngines } from "../support/cluster.ts";
import { StoppedClock } from "../support/time.ts";
import { codeOf, configOf, endOf, keyOf, NOON, open, requestOf } from "./support.ts";

Deno.test("SuspensionWatch.look() tells of each time that nobody looked for 20 seconds, once", () => {
  const clock = new StoppedClock(NOON);
  let awoke = 0;
  const suspension = new SuspensionWatch({ clock, awoke: () => awoke++ });
  suspension.look(clock.now() + 60_000);
  suspension.start();
  try {
    for (
      const [past, expected] of [[5000, 0], [20_000, 0], [20_001, 1], [1, 1], [3_600_000, 2], [-3_600_000, 2]]
    ) {
      clock.move(past);
      suspension.look(clock.now());
      assertEquals(awoke, expected, `${past}`);
    }
  } finally {
    suspension.stop();
  }
});

Deno.test("SuspensionWatch.look() tells of a process that was stopped while its clock was set back", () => {
  const clock = new StoppedClock(NOON);
  let monotonic = 0;
  let awoke = 0;
  const suspension = new SuspensionWatch({ clock, monotonic: () => monotonic, awoke: () => awoke++ });
  suspension.start();
  try {
    for (
      const [past, byClock, expected] of [[20_000, 0, 0], [60_000, 1000, 1], [60_000, -60_000, 2], [
        0,
        60_000,
        3,
      ]]
    ) {
      monotonic += past;
      clock.move(byClock);
      suspension.look(clock.now());
      assertEquals(awoke, expected, `${past} ${byClock}`);
    }
  } finally {
    suspension.stop();
  }
});

onBothEngines(({ name, place }) => {
  Deno.test(`${name}: a node that stood still while others spent what it held lets nothing in on that`, async () => {
    const here = place();
    const config = configOf({ spend_limit: { amount: "1", period: "total" } });
    const still = await open(here.open(), config, { ticking: true });
    const otherStore = here.open();
    const other = await open(otherStore, config);
    try {
      const spend = async (service: typeof still, cents: number) => {
        const call = await service.admit(requestOf(await keyOf(service), cents));
        await call.settle(endOf({ input: cents }));
      };
      await spend(still, 1);
      await still.flush();
      // As others do half a minute after its heart has stopped.
      await otherStore.removeNodes([still.node]);
      await spend(other, 99);
      await other.flush();
      still.clock.move(60_000);
      assertEquals(await codeOf(() => spend(still, 1)), "api_key_limit_exceeded");
      assertEquals(await codeOf(() => spend(other, 1)), "api_key_limit_exceeded");
      assertEquals((await other.keyStatus(await keyOf(other))).spend.amount, "1.00");
    } finally {
      await still.close();
      await other.close();
      here.remove();
    }
  });

  Deno.test(`${name}: a call that waited while its node stood still is not let in on what the node held`, async () => {
    const here = place();
    const config = configOf({ spend_limit: { amount: "1", period: "total" } });
    const still = await open(here.open(), config, { ticking: true });
    const otherStore = here.open();
    const other = await open(otherStore, config);
    try {
      const running = await still.admit(requestOf(await keyOf(still), 60));
      const waiting = still.admit(requestOf(await keyOf(still), 45));
      const outcome = codeOf(async () => await (await waiting).settle(endOf({ input: 45 })));
      await otherStore.removeNodes([still.node]);
      const taken = await other.admit(requestOf(await keyOf(other), 90));
      await taken.settle(endOf({ input: 90 }));
      await other.flush();
      still.clock.move(60_000);
      await running.settle(endOf({ input: 1 }));
      assertEquals(await outcome, "api_key_limit_exceeded");
      await still.flush();
      assertEquals((await other.keyStatus(await keyOf(other))).spend.amount, "0.91");
    } finally {
      await still.close();
      await other.close();
      here.remove();
    }
  });
});
