/** The alerts of the configuration in force. Their module is imported when there are rules. */
import type { Alerts } from "../alerts/engine.ts";
import type { Config } from "../config/schema.ts";
import type { AlertRulesOptions } from "./alert_rules.ts";

export class RunningAlerts {
  readonly #options: AlertRulesOptions;
  #alerts: Alerts | "start" | null = "start";

  constructor(options: AlertRulesOptions) {
    this.#options = options;
  }

  /** Rules that have not changed keep their samples and their state. */
  async follow({ alerts: rules, smtp }: Config): Promise<void> {
    const before = this.#alerts;
    const running = before === "start" ? null : before;
    if (running && JSON.stringify(running.config) === JSON.stringify({ rules, smtp })) return;
    this.#alerts = null;
    this.#options.accounts.addReceivers([]);
    await running?.stop({ leaves: rules.length === 0, replaced: rules.length > 0 });
    if (rules.length === 0) return;
    const { openAlerts } = await import("./alert_rules.ts");
    this.#alerts = openAlerts({ rules, smtp }, this.#options, before);
  }

  async stop(): Promise<void> {
    if (this.#alerts !== "start") await this.#alerts?.stop();
  }
}
