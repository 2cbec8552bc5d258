/**
 * What credentials read of the machine that they are used on. Everything comes in here, so that tests can stand for a cloud.
 */
import type { Clock } from "../../timing/clock.ts";

export interface Surroundings {
  /** A variable of the environment. */
  env(name: string): string | undefined;
  /** Throws when there is no such file. */
  readText(path: string): Promise<string>;
  /** Milliseconds since the epoch, by the clock of this machine. */
  now(): number;
  /** One that nobody sets, and that may stand while the machine sleeps; absent: the process's own. */
  clock?: Clock;
  sleep(ms: number): Promise<void>;
  log(line: string): void;
}

/** A variable that is set to something; empty counts as absent, as in the vendors' own libraries. */
export function variable(
  { env }: Pick<Surroundings, "env">,
  ...names: readonly string[]
): string | undefined {
  for (const name of names) {
    const value = env(name);
    if (value !== undefined && value !== "") return value;
  }
  return undefined;
}

/** A file in the home folder of the user; null where the environment names no home. */
export function inHome({ env }: Pick<Surroundings, "env">, path: string): string | null {
  const home = env("HOME") || env("USERPROFILE");
  return home ? `${home}/${path}` : null;
}
