/**
 * Teams of the configuration and those created by administrators. The configuration takes precedence for
 * equal names.
 */
import type { StoredTeam } from "../../store/mod.ts";
import type { ConfigTeam } from "../config.ts";

export interface Team extends Omit<StoredTeam, "created" | "removedAt"> {
  /** `config`: defined in the configuration file, and can only be changed there. */
  source: "config" | "store";
}

export class Teams {
  readonly #configured = new Map<string, Team>();
  readonly #stored = new Map<string, Team>();

  constructor(configured: readonly ConfigTeam[] = []) {
    this.configure(configured);
  }

  configure(teams: readonly ConfigTeam[]): void {
    this.#configured.clear();
    for (const team of teams) this.#configured.set(team.name, { ...team, source: "config" });
  }

  /** Applies changes from the store. */
  learn(teams: readonly StoredTeam[]): void {
    for (const { created: _, removedAt, ...team } of teams) {
      if (removedAt === null) this.#stored.set(team.name, { ...team, source: "store" });
      else this.#stored.delete(team.name);
    }
  }

  get(name: string): Team | undefined {
    return this.#configured.get(name) ?? this.#stored.get(name);
  }

  /** Configured teams in their order, then the others by name. */
  all(): Team[] {
    const others = [...this.#stored.values()].filter(({ name }) => !this.#configured.has(name));
    return [...this.#configured.values(), ...others.sort((a, b) => a.name < b.name ? -1 : 1)];
  }
}
