/** Alerts of several nodes over one store, with time that the test moves: a storm, nodes that die, groups, an absent store. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { textOf } from "../../src/alerts/text.ts";
import { ALERTS } from "../../src/alerts/config.ts";
import { RuleWindow } from "../../src/alerts/window.ts";
import { MetricRegistry } from "../../src/metrics/registry.ts";
import type { AlertEvent, Store } from "../../src/store/mod.ts";
import { onBothEngines } from "../support/cluster.ts";
import { eventually } from "../support/time.ts";
import { posts } from "./support.ts";
import { fleet, type Node, ROUND_MS, TO } from "./fleet.ts";

const generated = (status: string, count: number, provider = "p") => ({ registry }: Node) => {
  registry.counter("generations", ["m", provider, status]).value += count;
};

const RULE = {
  name: "errors",
  when: { metric: "error_rate", above: 0.5, by: "provider", over: "1m" },
  for: "10s",
  to: TO,
};

onBothEngines(({ name, place }) => {
  function test(title: string, body: (store: Store) => Promise<void>) {
    Deno.test(`${name}: ${title}`, async () => {
      const here = place();
      const store = here.open();
      try {
        await body(store);
      } finally {
        await store.close();
        here.remove();
      }
    });
  }
  test(
    "a storm on three nodes gives one alert and one recovery, also when the one that judges dies",
    (store) =>
      fleet(store, [RULE], async ({ pass, told, kill }) => {
        await pass(12, generated("completed", 1000));
        await pass(6, generated("failed", 5000));
        await kill(0);
        await pass(6, generated("failed", 5000));
        await pass(60, generated("completed", 5000));
        const events = await told();
        assertEquals(events.map(({ event, group }) => [event, group]), [
          ["alert.firing", { provider: "p" }],
          ["alert.recovered", { provider: "p" }],
        ]);
        assertEquals(events[0].starts, events[1].starts);
      }),
  );

  test("a receiver that a rule names twice gets one notification", (store) =>
    fleet(store, [{ ...RULE, to: [...TO, ...TO] }], async ({ pass, told }) => {
      await pass(12, generated("completed", 1000));
      await pass(6, generated("failed", 5000));
      assertEquals((await told()).map(({ event }) => event), ["alert.firing"]);
    }));

  test("a storm is told of, and its end, while the clocks are set back and forward", (store) =>
    fleet(store, [RULE], async ({ pass, told, set }) => {
      await pass(12, generated("completed", 1000));
      await pass(1, generated("failed", 5000));
      set(-86_400_000);
      await pass(6, generated("failed", 5000));
      assertEquals((await told()).map(({ event }) => event), ["alert.firing"]);
      set(2 * 86_400_000);
      // Less than the rule's time is over.
      await pass(1, generated("completed", 100_000));
      assertEquals((await told()).length, 1);
      set(-86_400_000);
      await pass(60, generated("completed", 5000));
      assertEquals((await told()).map(({ event }) => event), ["alert.firing", "alert.recovered"]);
    }));

  test("a storm on three workers of a machine gives one alert and one recovery", (store) =>
    fleet(store, [RULE], async ({ pass, told }) => {
      // A thousand calls a second in all, for a minute.
      await pass(12, generated("completed", 2500));
      await pass(12, generated("failed", 2500));
      await pass(60, generated("completed", 2500));
      assertEquals((await told()).map(({ event }) => event), ["alert.firing", "alert.recovered"]);
    }, { size: 3, workers: true }));

  test(
    "a value around its limit makes one alert, a peak shorter than the rule's time none",
    (store) =>
      fleet(
        store,
        [{ ...RULE, when: { ...RULE.when, over: "5s" }, for: "30s" }],
        async ({ pass, told }) => {
          await pass(3, generated("failed", 100));
          await pass(20, generated("completed", 100));
          assertEquals(await told(), []);
          await pass(10, generated("failed", 100));
          for (let i = 0; i < 20; i++) await pass(1, generated(i % 2 ? "failed" : "completed", 100));
          await pass(20, generated("completed", 100));
          assertEquals((await told()).map(({ event }) => event), ["alert.firing", "alert.recovered"]);
        },
      ),
  );

  test(
    "numbers of nodes are added up: each alone is below the least",
    (store) =>
      fleet(store, [{ ...RULE, when: { ...RULE.when, least: 20 } }], async ({ pass, told }) => {
        await pass(1, generated("completed", 0));
        await pass(1, generated("failed", 8));
        await pass(4);
        assertEquals((await told()).map(({ value }) => value), [1]);
      }),
  );

  test("a storm over which nodes restart, or take their configuration anew, is one alert and one recovery", async (store) => {
    const told: AlertEvent[] = [];
    // Each is a start: the first ones in the storm, the last after it.
    const starts = [["failed", 12], ["failed", 2], ["failed", 12], ["completed", 60]] as const;
    for (const [i, [status, rounds]] of starts.entries()) {
      await fleet(store, [RULE], async ({ pass, told: claim }) => {
        if (i === 0) await pass(6, generated("completed", 1000));
        await pass(rounds, generated(status, 5000));
        told.push(...await claim());
      }, { size: 2, after: i * 10 * 60_000 });
    }
    assertEquals(told.map(({ event }) => event), ["alert.firing", "alert.recovered"]);
  });

  test("an alert of a rule that is no more is closed, and nobody is told", async (store) => {
    await fleet(store, [RULE], async ({ pass, told }) => {
      await pass(1);
      await pass(10, generated("failed", 100));
      assertEquals((await told()).length, 1);
    }, { size: 1 });
    await fleet(store, [{ ...RULE, name: "another" }], async ({ pass, told }) => {
      await pass(2);
      assertEquals([(await told()).length, (await store.readAlerts()).open.length], [0, 0]);
    }, { size: 1 });
  });

  test(
    "a store that is away is told without it, once for each node, and its return too",
    async (store) => {
      const hook = posts();
      let up = 1;
      const rule = {
        name: "store",
        when: { metric: "store_down" },
        for: "10s",
        to: [{ webhook: hook.url, secret: "whsec" }],
      };
      try {
        await fleet(store, [rule], async ({ nodes, pass }) => {
          await pass(3);
          up = 0;
          for (const node of nodes) node.up = false;
          await pass(10);
          await eventually(() => hook.got.length === 2);
          up = 1;
          for (const node of nodes) node.up = true;
          await pass(10);
          await eventually(() => hook.got.length === 4);
          const told = hook.got.map(({ text }) => JSON.parse(text));
          assertEquals(told.map(({ type, data }) => `${type} ${data.group.node}`).sort(), [
            "alert.firing machine0",
            "alert.firing machine1",
            "alert.recovered machine0",
            "alert.recovered machine1",
          ]);
          assertMatch(told[0].data.text, /^ALERT store: node machine/);
        }, { size: 2, observe: () => ({ storeUp: up }) });
      } finally {
        await hook.close();
      }
    },
  );

  test("alerts about the store count all workers of a machine, and are sent by one of them", async (store) => {
    const hook = posts();
    const to = [{ webhook: hook.url, secret: "whsec" }];
    const rules = [
      { name: "lag", when: { metric: "store_lag", above: 1000 }, for: "0s", to },
      { name: "down", when: { metric: "store_down" }, for: "0s", to },
    ];
    try {
      await fleet(store, rules, async ({ nodes, pass }) => {
        for (const node of nodes) node.up = false;
        await pass(2);
        await eventually(() => hook.got.length === 2);
        await pass(2);
        const told = hook.got.map(({ text }) => JSON.parse(text).data);
        assertEquals(told.map(({ rule, group, value }) => [rule, group, value]).sort(), [
          ["down", { node: "machine" }, 1],
          ["lag", { node: "machine" }, 1200],
        ]);
      }, { workers: true, observe: () => ({ storeUp: 0, recordsPending: 400 }) });
    } finally {
      await hook.close();
    }
  });

  test("what could not be delivered is delivered in the order in which it happened, whatever the clock says", async (store) => {
    await store.prepare();
    await store.registerNode("node_0");
    const data = { rule: "r", group: {}, metric: "error_rate", above: 0, value: 1 };
    const claim = async (now: number) =>
      (await store.claimDeliveries({ webhook: "w", node: "node_0", now, most: 4, busy: [] }))
        .map(({ id, data }) => ({ id, event: data.event }));
    const begun = Date.UTC(2026, 0, 1);
    await store.openAlert({ id: "rule {}", now: begun, data, receivers: ["w", "v"] });
    await store.openAlert({ id: "other {}", now: begun, data: { ...data, rule: "o" }, receivers: ["w"] });
    const first = await claim(begun);
    assertEquals(first.map(({ event }) => event), ["alert.firing", "alert.firing"]);
    // The receiver is away: one event is to be sent again in an hour.
    for (const { id } of first) await store.postponeDelivery(id, begun + 3_600_000);
    // The clock was set back by a day when the alert ends, and begins again.
    await store.closeAlert({ id: "rule {}", now: begun - 86_400_000, data, receivers: ["w", "v"] });
    await store.openAlert({ id: "rule {}", now: begun - 86_300_000, data, receivers: ["w", "v"] });
    await store.closeAlert({ id: "other {}", now: begun + 1000, data, receivers: ["w"] });
    assertEquals(await claim(begun + 3_000_000), [], "nothing overtakes what is tried again later");
    const told: string[] = [];
    for (let round = 0; round < 4; round++) {
      for (const { id, event } of await claim(begun + 3_600_000)) {
        told.push(`${round} ${event}`);
        await store.removeDelivery(id);
      }
    }
    assertEquals(told, [
      "0 alert.firing",
      "0 alert.firing",
      "1 alert.recovered",
      "1 alert.recovered",
      "2 alert.firing",
    ]);
  });

  test("rules that stay keep what they know when the configuration changes, and new ones count from then on", (store) =>
    fleet(store, [RULE], async ({ nodes: [node], pass, told }) => {
      await pass(12, generated("completed", 10_000));
      await pass(6, generated("failed", 50_000));
      assertEquals((await told()).length, 1);
      const more = { ...RULE, name: "more", when: { ...RULE.when, over: "5m" }, for: "0s" };
      await node.replace([RULE, more]);
      // Of what the new rule sees, nothing fails; what the old one saw is within its time.
      await pass(10, generated("completed", 100));
      assertEquals((await told()).map(({ rule, event }) => `${rule} ${event}`), ["errors alert.firing"]);
      await pass(10, generated("completed", 100));
      assertEquals((await told()).map(({ rule, event }) => `${rule} ${event}`), [
        "errors alert.firing",
        "errors alert.recovered",
      ]);
    }, { size: 1 }));

  test("rules that a running process gets do not count what was before", (store) =>
    fleet(store, [], async ({ nodes: [node], pass, told }) => {
      generated("failed", 50_000)(node);
      await node.replace([RULE]);
      await pass(10, generated("completed", 100));
      assertEquals(await told(), []);
    }, { size: 1 }));

  test("an alert that ends because nobody calls any more says that its value is unknown", (store) =>
    fleet(store, [RULE], async ({ pass, told }) => {
      await pass(3, generated("failed", 100));
      await pass(200);
      const [, over] = await told();
      assertEquals([over.event, over.value], ["alert.recovered", null]);
      assertMatch(
        textOf(over),
        /error_rate is unknown, because there were too few calls, and the limit is 0\.5/,
      );
    }, { size: 1 }));

  test("a store that answers again is told after its absence, when a receiver is away meanwhile, and when the configuration changes", async (store) => {
    let away = true;
    const taken: string[] = [];
    const hook = posts(() => {
      if (away) return new Response(null, { status: 503 });
      taken.push(JSON.parse(hook.got[hook.got.length - 1].text).type);
      return new Response(null, { status: 204 });
    });
    let up = 0;
    const rule = {
      name: "store",
      when: { metric: "store_down" },
      for: "0s",
      to: [{ webhook: hook.url, secret: "s" }],
    };
    try {
      await fleet(store, [rule], async ({ nodes: [node], pass }) => {
        await pass(2);
        await eventually(() => hook.got.length > 0);
        await node.replace([rule, RULE]);
        up = 1;
        await pass(2);
        away = false;
        await eventually(() => taken.length === 2);
        assertEquals(taken, ["alert.firing", "alert.recovered"]);
      }, { size: 1, observe: () => ({ storeUp: up }) });
    } finally {
      await hook.close();
    }
  });
});

Deno.test("a window of a day keeps few samples, and is about a day long", () => {
  const [rule] = ALERTS.parse([{ ...RULE, when: { metric: "dlp_findings", over: "24h" } }]);
  const window = new RuleWindow(rule, { atStart: true });
  const registry = new MetricRegistry();
  const findings = registry.counter("findings", ["EMAIL_ADDRESS", "alert", "request"]);
  const rounds = 86_400_000 / ROUND_MS;
  let value = 0;
  for (let i = 0; i < 2 * rounds; i++) {
    findings.value++;
    [value] = window.take(i * ROUND_MS, registry.collect())["{}"];
    assert(window.kept <= 125, `${window.kept} samples after ${i} rounds`);
  }
  assert(value >= rounds && value <= rounds * 1.02, `${value} of ${rounds}`);
});
