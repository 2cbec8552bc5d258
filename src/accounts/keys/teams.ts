/** The teams that there are: those of the configuration, and those that administrators made. A name of the file's is the file's. */
import type { StoredTeam } from "../../store/mod.ts";
import type { ConfigTeam } from "../config.ts";

export interface Team extends Omit<StoredTeam, "created" | "removedAt"> {
  /** `config`: the file names it, so only the file changes it. */
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

  /** Takes in what changed in the store. */
  learn(teams: readonly StoredTeam[]): void {
    for (const { created: _, removedAt, ...team } of teams) {
      if (removedAt === null) this.#stored.set(team.name, { ...team, source: "store" });
      else this.#stored.delete(team.name);
    }
  }

  get(name: string): Team | undefined {
    return this.#configured.get(name) ?? this.#stored.get(name);
  }

  /** The configuration's in its order, then the others by name. */
  all(): Team[] {
    const others = [...this.#stored.values()].filter(({ name }) => !this.#configured.has(name));
    return [...this.#configured.values(), ...others.sort((a, b) => a.name < b.name ? -1 : 1)];
  }
}
