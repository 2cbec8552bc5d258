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
  /** Keeps what the load saw, and says what went wrong. */
  keep(measure: string, target: Target, round: number, seen: Seen): void;
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
        ...call(target, target.model ?? options.model, options),
        ...options.shape,
        helpers: [],
      });
      bench.keep(measure, target, round, one);
      seen[which].push(one);
    }
  }
  return seen;
}

/** What a process is asked before it is measured: its first calls load and compile, and cost twice as much. */
const WARMING_CALLS = 20_000;

/** Of programs that have just been started. */
export async function warmed(bench: Bench, measure: string, targets: readonly Target[]): Promise<void> {
  for (const target of targets) {
    bench.say(`${measure}, until its code is compiled: ${target.name}`);
    const shape = { connections: 32, warmMs: 0, runMs: 0, helpers: [] };
    const calls = bench.quick ? WARMING_CALLS / 5 : WARMING_CALLS;
    bench.keep(
      `${measure}, warming up`,
      target,
      0,
      await bench.load.work({ ...call(target, "whole"), ...shape, calls }),
    );
  }
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
