/** Rounds of a measure, and the lines that come of them. */
import { call, type Target } from "./calls.ts";
import type { Job, Seen } from "./load.ts";
import type { Load, Program, ProviderProgram } from "./programs.ts";
import type { Bound, Row } from "./table.ts";

export interface Bench {
  quick: boolean;
  /** How often each target is asked; absent: as the measure has it. */
  rounds?: number;
  /** For stores and configurations; removed afterwards. */
  folder: string;
  provider: ProviderProgram;
  json: Program;
  byob: Program;
  gateway: Program;
  load: Load;
  say(line: string): void;
  /** Keeps what the load saw. */
  keep(measure: string, target: string, round: number, seen: Seen): void;
}

export type Measure = (bench: Bench) => Promise<Row[]>;

export type Shape = Pick<Job, "connections" | "warmMs" | "runMs"> & Pick<Partial<Job>, "rate" | "rampMs">;

/** Asks every target once a round; gives what was seen, by target and round. */
export async function rounds(
  bench: Bench,
  measure: string,
  targets: readonly Target[],
  options: { rounds: number; model: string; shape: Shape; chars?: number; tools?: boolean },
): Promise<Seen[][]> {
  const seen: Seen[][] = targets.map(() => []);
  const count = bench.rounds ?? options.rounds;
  for (let round = 0; round < count; round++) {
    for (let i = 0; i < targets.length; i++) {
      const which = (i + round) % targets.length;
      const target = targets[which];
      bench.say(`${measure} ${round + 1}/${count}: ${target.name}`);
      const one = await bench.load.work({
        ...call(target, options.model, options),
        ...options.shape,
        helpers: [],
      });
      bench.keep(measure, target.name, round, one);
      if (one.errors > 0) bench.say(`${measure}, ${target.name}: ${one.errors} errors, first: ${one.error}`);
      if (one.unasked > 0) {
        bench.say(`${measure}, ${target.name}: ${one.unasked} calls not asked, since all connections waited`);
      }
      seen[which].push(one);
    }
  }
  return seen;
}

export const relay = (program: Program, name: string, format: Target["format"]): Target => ({
  name,
  program,
  format,
});

export const perSecond = (seen: Seen) => seen.requests / seen.seconds;
export const framesPerSecond = (seen: Seen) => seen.frames / seen.seconds;

/** CPU time over a count; nothing where the system does not say. */
export function cost(seen: readonly Seen[], of: (seen: Seen) => number): number[] {
  return seen.flatMap((one) => one.cpuMicros === null || of(one) === 0 ? [] : [one.cpuMicros / of(one)]);
}

export function row(
  measure: string,
  unit: string,
  gateway: readonly number[],
  floor: readonly number[],
  bounds: { must?: Bound; stretch?: Bound; note?: string } = {},
): Row {
  const { must = null, stretch = null, note } = bounds;
  return { measure, unit, gateway, floor, must, stretch, ...(note !== undefined && { note }) };
}

export function skipped(measure: string, note: string): Row {
  return row(measure, "skipped", [], [], { note });
}

export function round2(value: number): number {
  return Math.round(value * 100) / 100;
}
