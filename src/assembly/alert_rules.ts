/**
 * Connects the alerts of a gateway to the metrics of its process, the store that its nodes share, and the
 * outbox of its accounts.
 */
import type { AccountsService } from "../accounts/mod.ts";
import { Alerts, type AlertsConfig } from "../alerts/engine.ts";
import type { MetricData } from "../metrics/registry.ts";
import { nodeName } from "../payloads/mod.ts";
import type { AlertEvent, Store } from "../store/mod.ts";
import type { Clock } from "../timing/clock.ts";

export interface AlertRulesOptions {
  accounts: Pick<AccountsService, "node" | "addReceivers" | "wakeOutbox" | "storeUp">;
  store: Store;
  collect(): readonly MetricData[];
  /** The metrics of this process and of the other workers. */
  collectMachine(): Promise<readonly (readonly MetricData[])[]>;
  first: boolean;
  now(): number;
  log(line: string, level?: "info" | "warn"): void;
  alertsEveryMs?: number;
  alertsClock?: Clock;
}

/**
 * Starts collecting samples; evaluates the rules whenever this node is the evaluator.
 * @param before as in `Alerts`
 */
export function openAlerts(
  config: AlertsConfig,
  options: AlertRulesOptions,
  before: Alerts | "start" | null,
): Alerts {
  const { accounts, store, collect, collectMachine, first, now, log, alertsEveryMs, alertsClock } = options;
  const alerts = new Alerts(config, {
    store,
    node: accounts.node,
    machine: nodeName(),
    first,
    collect,
    collectMachine,
    ready: () => accounts.storeUp(),
    wake: () => accounts.wakeOutbox(),
    now,
    clock: alertsClock ?? performance,
    warn: (line) => log(line, "warn"),
    everyMs: alertsEveryMs,
  }, before);
  accounts.addReceivers(
    alerts.receivers.map(({ id, name, send }) => ({
      id,
      name,
      send: ({ data, ...delivery }, signal) => send({ ...delivery, data: data as AlertEvent }, signal),
    })),
  );
  alerts.start();
  return alerts;
}
