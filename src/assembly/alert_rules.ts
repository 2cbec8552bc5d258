/** The alerts of a gateway: what its process measures, the store that its nodes share, and the outbox of its accounts. */
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
  first: boolean;
  now(): number;
  log(line: string, level?: "info" | "warn"): void;
  alertsEveryMs?: number;
  alertsClock?: Clock;
}

/** Starts to measure at once, and to judge where this process has the turn. */
export function openAlerts(config: AlertsConfig, options: AlertRulesOptions): Alerts {
  const { accounts, store, collect, first, now, log, alertsEveryMs, alertsClock } = options;
  const alerts = new Alerts(config, {
    store,
    node: accounts.node,
    machine: nodeName(),
    first,
    collect,
    ready: () => accounts.storeUp(),
    wake: () => accounts.wakeOutbox(),
    now,
    clock: alertsClock ?? performance,
    warn: (line) => log(line, "warn"),
    everyMs: alertsEveryMs,
  });
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
