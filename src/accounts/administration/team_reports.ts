/** The spend of teams. */
import type { Store } from "../../store/mod.ts";
import type { Clock } from "../../timing/clock.ts";
import type { Configured } from "../configured.ts";
import type { Keyring } from "../keys/keyring.ts";
import { formatAmount } from "../budgets/money.ts";
import { spanAt } from "../budgets/period.ts";
import type { Team } from "../keys/teams.ts";
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

  /** Configured teams in their order, then the others by name. */
  async page(skip: number, limit: number): Promise<{ page: TeamView[]; more: boolean }> {
    const all = this.#options.configured.teams.all();
    return { page: await this.#views(all.slice(skip, skip + limit)), more: all.length > skip + limit };
  }

  /** Null: no such team. */
  async one(name: string): Promise<TeamView | null> {
    const team = this.#options.configured.teams.get(name);
    return team === undefined ? null : (await this.#views([team]))[0];
  }

  async #views(teams: readonly Team[]): Promise<TeamView[]> {
    const members = keysOfTeams(this.#options.keyring);
    const spends = await this.#spends(teams, "");
    return teams.map((team, i) => teamView(team, { keys: members.get(team.name) ?? 0, spend: spends[i] }));
  }

  /** Null: no such team. */
  async spendOf(name: string | null, asker: string): Promise<SpendView | null> {
    const team = name === null ? undefined : this.#options.configured.teams.get(name);
    return team === undefined ? null : (await this.#spends([team], asker))[0];
  }

  async #spends(teams: readonly Team[], asker: string): Promise<SpendView[]> {
    const { store, clock } = this.#options;
    const now = clock.now();
    const spans = teams.map(({ name, spendLimit }) => ({
      label: "team",
      value: name,
      ...spanAt(spendLimit?.period ?? "month", now),
    }));
    const spent = await store.labelSpent(spans, asker);
    return teams.map(({ spendLimit }, i) => spendView(spent[i], spendLimit, now));
  }
}

/** The number of active keys per team. */
export function keysOfTeams(keyring: Pick<Keyring, "states">): Map<string, number> {
  const members = new Map<string, number>();
  for (const { team, revokedAt } of keyring.states()) {
    if (team !== null && revokedAt === null) members.set(team, (members.get(team) ?? 0) + 1);
  }
  return members;
}

/**
 * A team in the form of the administration API.
 *
 * @param keys the number of its keys, and `spend` of its current period
 */
export function teamView(team: Team, { keys, spend }: Pick<TeamView, "keys" | "spend">): TeamView {
  const { name, source, account, spendLimit, models, accessPolicy, dlpPolicy } = team;
  return {
    name,
    source,
    account,
    spend_limit: spendLimit && { amount: formatAmount(spendLimit.amount), period: spendLimit.period },
    models,
    access_policy: accessPolicy,
    dlp_policy: dlpPolicy,
    keys,
    spend,
  };
}
