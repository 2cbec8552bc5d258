/** Alerts of several nodes over one store, with time that the test moves. */
import { ALERTS } from "../../src/alerts/config.ts";
import { Alerts, type AlertsOptions } from "../../src/alerts/engine.ts";
import { receiverId } from "../../src/alerts/receivers.ts";
import { MetricRegistry } from "../../src/metrics/registry.ts";
import type { AlertEvent, Store } from "../../src/store/mod.ts";

/** Time between two rounds of a node, in milliseconds. */
export const ROUND_MS = 5000;
export const TO = [{ webhook: "http://127.0.0.1:9/hook", secret: "whsec" }];

export interface Node {
  alerts: Alerts;
  registry: MetricRegistry;
  up: boolean;
  /** As with a configuration that is read again while the process runs. */
  replace(rules: unknown[]): Promise<void>;
}

/** Nodes with these rules over one store. */
export async function fleet(
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
    const options: AlertsOptions = {
      store,
      node: `node_${i}`,
      machine: workers ? "machine" : `machine${i}`,
      first: !workers || i === 0,
      collect: () => registry.collect(),
      ...(workers && {
        collectMachine: () => Promise.resolve(nodes.map((worker) => worker.registry.collect())),
      }),
      ready: () => node.up,
      wake() {},
      now: () => now + set,
      clock: { now: () => now },
      warn(line) {
        throw new Error(line);
      },
      retriesMs: Array(10_000).fill(5),
    };
    const node: Node = {
      registry,
      up: true,
      alerts: new Alerts({ rules: parsed, smtp: null }, options),
      async replace(rules) {
        const none = node.alerts.config.rules.length === 0;
        await node.alerts.stop({ leaves: false, replaced: true });
        node.alerts = new Alerts(
          { rules: ALERTS.parse(rules), smtp: null },
          options,
          none ? null : node.alerts,
        );
      },
    };
    nodes.push(node);
  }
  const webhook = receiverId(TO[0]);
  const events: AlertEvent[] = [];
  const claim = () =>
    store.claimDeliveries({ webhook, node: "node_2", now: now + Math.abs(set), most: 100, busy: [] });
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
        // An event is claimed once the one before, of the same alert, was delivered.
        for (let claimed = await claim(); claimed.length > 0; claimed = await claim()) {
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
