/** What teams have spent. */
import type { Store } from "../store/mod.ts";
import type { Clock } from "../timing/clock.ts";
import type { ConfigTeam } from "./config.ts";
import type { Configured } from "./configured.ts";
import type { Keyring } from "./keyring.ts";
import { formatAmount } from "./money.ts";
import { spanAt } from "./period.ts";
import { type SpendView, spendView, type TeamView } from "./views.ts";

export interface TeamReportsOptions {
  store: Pick<Store, "labelSpent">;
  clock: Clock;
  keyring: Keyring;
  configured: Configured;
}

export class TeamReports {
  readonly #options: TeamReportsOptions;

  constructor(options: TeamReportsOptions) {
    this.#options = options;
  }

  /** In the order of the configuration. */
  async all(): Promise<TeamView[]> {
    const { configured, keyring } = this.#options;
    const { teams } = configured;
    const members = new Map<string, number>();
    for (const { team, revokedAt } of keyring.states()) {
      if (team !== null && revokedAt === null) members.set(team, (members.get(team) ?? 0) + 1);
    }
    return await Promise.all(teams.map(async (team) => ({
      name: team.name,
      account: team.account,
      spend_limit: team.spendLimit === null
        ? null
        : { amount: formatAmount(team.spendLimit.amount), period: team.spendLimit.period },
      models: team.models,
      access_policy: team.accessPolicy,
      dlp_policy: team.dlpPolicy,
      keys: members.get(team.name) ?? 0,
      spend: await this.#spend(team, ""),
    })));
  }

  /** Null: there is no such team. */
  async spendOf(name: string | null, asker: string): Promise<SpendView | null> {
    const team = this.#options.configured.teams.find((team) => team.name === name);
    return team === undefined ? null : await this.#spend(team, asker);
  }

  async #spend({ name, spendLimit }: ConfigTeam, asker: string): Promise<SpendView> {
    const { store, clock } = this.#options;
    const now = clock.now();
    const spent = await store.labelSpent(
      { label: "team", value: name },
      spanAt(spendLimit?.period ?? "month", now),
      asker,
    );
    return spendView(spent, spendLimit, now);
  }
}
