/** Creates, changes and removes teams. Teams of the configuration file can only be changed there. */
import { Failure } from "../../exchange/failure.ts";
import { shownInput } from "../../schema/mistakes.ts";
import { NameTaken, type Store, type StoredTeam, TeamHasKeys } from "../../store/mod.ts";
import type { Clock } from "../../timing/clock.ts";
import type { Configured } from "../configured.ts";
import { teamBudget } from "../budgets/demands.ts";
import { invalid, readNewTeam, readTeamChange, type TeamChange, type TeamInput } from "./input.ts";
import type { Keyring } from "../keys/keyring.ts";
import type { StoreChanges } from "../store_changes.ts";
import type { StoreSync } from "../store_sync.ts";
import type { Team } from "../keys/teams.ts";

export interface TeamAdministrationOptions {
  store: Store;
  clock: Clock;
  keyring: Keyring;
  changes: StoreChanges;
  configured: Configured;
  sync: StoreSync;
}

export class TeamAdministration {
  readonly #options: TeamAdministrationOptions;

  constructor(options: TeamAdministrationOptions) {
    this.#options = options;
  }

  async create(input: TeamInput): Promise<void> {
    const { store, clock, changes, configured } = this.#options;
    const team = readNewTeam(input);
    await this.#checkAccount(team.account);
    if (configured.teams.get(team.name)?.source === "config") throw nameTaken(team.name);
    try {
      await store.insertTeam({ ...team, created: clock.now(), removedAt: null });
    } catch (error) {
      throw error instanceof NameTaken ? nameTaken(team.name) : error;
    }
    await changes.pull();
  }

  async change(name: string, input: TeamChange): Promise<void> {
    const changed = readTeamChange(input);
    if (changed.account !== undefined) await this.#checkAccount(changed.account);
    await this.#stored(name);
    await this.#save(name, (now) => ({ ...now, ...changed }));
    const { sync, clock } = this.#options;
    if (changed.spendLimit) await sync.reportLimit("team", teamBudget(name, changed.spendLimit, clock.now()));
  }

  /** Throws while active keys refer to the team: their calls would be refused. */
  async remove(name: string): Promise<Team> {
    const { store, clock, keyring, changes } = this.#options;
    const team = await this.#stored(name);
    let keys = 0;
    for (const key of keyring.configured()) if (key.team === name) keys++;
    if (keys > 0) throw hasKeys(keys);
    try {
      if (!await store.removeTeam(name, clock.now())) throw noSuchTeam();
    } catch (error) {
      throw error instanceof TeamHasKeys ? hasKeys(error.keys) : error;
    }
    await changes.pull();
    return team;
  }

  /** Reads the store first, so that a recent change by another process is seen. */
  async #stored(name: string): Promise<Team & Pick<StoredTeam, "created" | "removedAt">> {
    const { changes, configured, store } = this.#options;
    await changes.pull();
    const team = configured.teams.get(name);
    if (team?.source === "config") {
      throw invalid("team", "the configuration file names this team; change it there");
    }
    const stored = (await store.teams()).find((one) => one.name === name && one.removedAt === null);
    if (stored === undefined) throw noSuchTeam();
    return { ...stored, source: "store" };
  }

  /** Changes only the requested fields: another process may have changed the team meanwhile. */
  async #save(name: string, edit: (team: StoredTeam) => StoredTeam): Promise<void> {
    if (!await this.#options.store.updateTeam(name, edit)) throw noSuchTeam();
    await this.#options.changes.pull();
  }

  async #checkAccount(name: string | null): Promise<void> {
    const { configured, store } = this.#options;
    if (name === null || configured.hasAccount(name) || await store.account(name) !== null) return;
    throw invalid("account", `expected an account that exists, got ${shownInput(name, ["account"])}`);
  }
}

function hasKeys(keys: number): Failure {
  return invalid("team", `${keys} ${keys === 1 ? "key names" : "keys name"} it: revoke or move them first`);
}

function nameTaken(name: string): Failure {
  return invalid("name", `expected a name that no other team has, got ${shownInput(name, ["name"])}`);
}

/** `not_found`, for a team that does not exist or has been removed. */
export function noSuchTeam(): Failure {
  return new Failure("not_found", "There is no such team.", { param: "team" });
}
