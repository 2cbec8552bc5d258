/** A key of the configuration or the store, with its limits. */
import type { StoredKey } from "../../store/mod.ts";
import type { Team, Teams } from "./teams.ts";
import type { AccessPolicy, Key, Rights } from "../types.ts";

/** A key as stored, and what follows from it under the current configuration. */
export interface KeyState extends Readonly<StoredKey> {
  key: Key;
  source: "config" | "store";
  teamSpendLimit: Team["spendLimit"];
  /** It refers to a team that does not exist, so its limits are unknown. */
  teamIsMissing: boolean;
}

/** Access policies and teams by name; a missing one must refuse every call. */
export class KeyContext {
  readonly #policies: ReadonlyMap<string, AccessPolicy>;
  readonly #teams: Pick<Teams, "get">;

  constructor(policies: readonly AccessPolicy[], teams: Pick<Teams, "get">) {
    this.#policies = new Map(policies.map((policy) => [policy.name, policy]));
    this.#teams = teams;
  }

  team(name: string | null): Team | null {
    return name === null ? null : this.#teams.get(name) ?? null;
  }

  rights(of: Pick<StoredKey, "accessPolicy" | "dlpPolicy" | "models">): Rights {
    const { accessPolicy: name, dlpPolicy, models } = of;
    const accessPolicy = name === null ? null : this.#policies.get(name) ?? "missing";
    return { accessPolicy, dlpPolicy, models };
  }
}

const NOTHING: Rights = { accessPolicy: "missing", dlpPolicy: null, models: null };

/** A key with the limits and rights that its team adds. */
export function stateOf(source: KeyState["source"], stored: StoredKey, context: KeyContext): KeyState {
  const { id, name } = stored;
  const team = context.team(stored.team);
  const rights = team === null ? NOTHING : context.rights(team);
  const account = team?.account ?? stored.account;
  return {
    ...stored,
    account,
    source,
    teamSpendLimit: team?.spendLimit ?? null,
    teamIsMissing: stored.team !== null && team === null,
    key: Object.freeze({
      id,
      name,
      account,
      ...context.rights(stored),
      team: stored.team === null ? null : { name: stored.team, ...rights },
      repair: stored.repair,
      hedge: stored.hedge,
      resumeMs: stored.resumeMs,
      payloads: stored.payloads,
    }),
  };
}

/** The key as it is stored. */
export function storedOf(state: KeyState): StoredKey {
  const { key: _, source: __, teamSpendLimit: ___, teamIsMissing: ____, ...stored } = state;
  return stored;
}
