/** Alerts of several nodes over one store, with time that the test moves: a storm, nodes that die, groups, an absent store. */
import { assertEquals, assertMatch } from "@std/assert";
import { ALERTS } from "../../src/alerts/config.ts";
import { Alerts } from "../../src/alerts/engine.ts";
import { MetricRegistry } from "../../src/metrics/registry.ts";
import type { AlertEvent, Store } from "../../src/store/mod.ts";
import { onBothEngines } from "../support/cluster.ts";
import { eventually } from "../support/time.ts";
import { posts } from "./support.ts";

const ROUND_MS = 5000;
const TO = [{ webhook: "http://127.0.0.1:9/hook", secret: "whsec" }];

interface Node {
  alerts: Alerts;
  registry: MetricRegistry;
  up: boolean;
}

async function fleet(
  store: Store,
  rules: unknown[],
  test: (fleet: {
    nodes: Node[];
    /** One round of every node that lives, and five seconds pass. */
    pass(rounds: number, work?: (node: Node) => void): Promise<void>;
    told(): Promise<AlertEvent[]>;
    kill(node: number): Promise<void>;
    /** Sets the clocks of all nodes. */
    set(ms: number): void;
  }) => Promise<void>,
  { size = 3, observe = () => ({}), workers = false, after = 0 }: {
    size?: number;
    /** Milliseconds since the first fleet of the store began. */
    after?: number;
    observe?: () => Record<string, number>;
    /** They are processes of one machine. */
    workers?: boolean;
  } = {},
): Promise<void> {
  await store.prepare();
  let now = Date.UTC(2026, 0, 1) + after;
  let set = 0;
  const parsed = ALERTS.parse(rules);
  const nodes: Node[] = [];
  for (let i = 0; i < size; i++) {
    const registry = new MetricRegistry();
    registry.observe(observe);
    await store.registerNode(`node_${i}`);
    const node: Node = { registry, up: true, alerts: undefined as unknown as Alerts };
    node.alerts = new Alerts({ rules: parsed, smtp: null }, {
      store,
      node: `node_${i}`,
      machine: workers ? "machine" : `machine${i}`,
      first: !workers || i === 0,
      collect: () => registry.collect(),
      ready: () => node.up,
      wake() {},
      now: () => now + set,
      clock: { now: () => now },
      warn(line) {
        throw new Error(line);
      },
    });
    nodes.push(node);
  }
  const receivers = [...new Set(nodes[0].alerts.receivers.map(({ id }) => id))];
  const events: AlertEvent[] = [];
  try {
    await test({
      nodes,
      async pass(rounds, work = () => {}) {
        for (let i = 0; i < rounds; i++) {
          for (const node of nodes) work(node);
          await Promise.all(nodes.map((node) => node.alerts.round()));
          now += ROUND_MS;
        }
      },
      set(ms) {
        set += ms;
      },
      async told() {
        for (const webhook of receivers) {
          const claimed = await store.claimDeliveries({
            webhook,
            node: "node_2",
            now: now + Math.abs(set),
            most: 100,
            busy: [],
          });
          for (const { id, data } of claimed) {
            events.push(data as AlertEvent);
            await store.removeDelivery(id);
          }
        }
        return events;
      },
      async kill(which) {
        const [dead] = nodes.splice(which, 1);
        await dead.alerts.stop({ leaves: false });
        await store.removeNodes([`node_${which}`]);
      },
    });
  } finally {
    for (const { alerts } of nodes) await alerts.stop();
  }
}

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
});
