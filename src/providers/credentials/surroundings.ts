/** Access to the machine for credentials. All access goes through this interface, so that tests can replace it. */
import type { Level } from "../../exchange/log_level.ts";
import type { Clock } from "../../timing/clock.ts";

export interface Surroundings {
  /** An environment variable. */
  env(name: string): string | undefined;
  /** Throws if the file does not exist. */
  readText(path: string): Promise<string>;
  /** Replaces a file; absent: on the disk. */
  writeText?(path: string, text: string): Promise<void>;
  /** The system clock in milliseconds since the epoch. */
  now(): number;
  /** A monotonic clock, which may stop while the machine sleeps; absent: the process's own. */
  clock?: Clock;
  sleep(ms: number): Promise<void>;
  log(line: string, level?: Level): void;
  /** Runs a program; absent: as a child process. */
  run?(words: readonly string[], run: ProgramRun): Promise<string>;
}

/** How a program that prints a credential is run. */
export interface ProgramRun {
  /** For messages: `credential_process of the AWS profile "dev"`. */
  name: string;
  /** Variables besides those of this process. */
  env?: Record<string, string>;
  /** Timeout in milliseconds. */
  within: number;
}

/** A variable's value; empty counts as absent, as in the vendors' libraries. */
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

/** A path in the user's home folder; null if the environment does not define one. */
export function inHome({ env }: Pick<Surroundings, "env">, path: string): string | null {
  const home = env("HOME") || env("USERPROFILE");
  return home ? `${home}/${path}` : null;
}
