/**
 * `deno task soak --steady`: ordinary calls alone, at a part of what the gateway can do, for as long as is asked, and what of memory,
 * descriptors, timers and leases grows meanwhile.
 *
 * Half of the load is whole answers and half streams, fewer answers and more streams where answers would write more than the disk is
 * to hold. Every half minute it follows what the gateway can do then: at a fixed rate a machine that becomes slower would be overloaded.
 */
import { statfsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { call, gatewayAs } from "../bench/calls.ts";
import type { Seen } from "../bench/load.ts";
import { type Load, type Program, startGateway, startLoad, startProvider } from "../bench/programs.ts";
import { cpuMicros, residentBytes, waitedMicros } from "../bench/system.ts";
import { median } from "../bench/table.ts";
import { chart, type Series } from "./chart.ts";
import { pause } from "../support/time.ts";

export interface SteadyOptions {
  seconds: number;
  /** Part of a core that the gateway is to have to do. */
  share: number;
  /** Whole answers a second at most; 0: as many as half of the share and `gigabytes` allow. */
  rate: number;
  /** Records are to fill so much of the disk at most. */
  gigabytes: number;
  /** Where the picture goes; empty: nowhere. */
  svg: string;
  say(line: string): void;
}

interface Sample {
  seconds: number;
  memory: number;
  descriptors: number;
  timers: number;
  leases: number;
  pending: number;
  /** Per cent of a core, since the sample before. */
  cpu: number;
  answers: number;
  frames: number;
}

/** What is asked for in each part of the run. */
interface Pace {
  answers: number;
  streams: number;
}

const MB = 1e6;
/** What a record takes on the disk, with its indices. */
const RECORD_BYTES = 800;
const FRAMES_A_SECOND = 200;
/** The load is made anew so often. */
const PART_MS = 30_000;
/** By how much it becomes more or less at once. */
const MOST_FACTOR = 1.15;
const LEAST_FACTOR = 0.5;
/** In which it is found out what the gateway can do. */
const ROUNDS = 3;
const CONNECTIONS = 256;
const SOME_STREAMS = 100;
/** Of the whole time: until then code is compiled, and memory finds its size. */
const SETTLING = 1 / 4;
/** What memory may grow by, and what may be left of descriptors and timers once the load has ended. */
const MOST_MB_AN_HOUR = 20;
const MOST_LEFT = 20;
/** Until then all that calls leave must be gone. */
const REST_SECONDS = 120;
/** Longer than connections to a provider may rest. */
const ASK_SECONDS = 35;
/** Part of the calls that the machine may be too busy for. */
const MOST_UNASKED = 0.02;
/** Where others had the gateway's core for more of the time than this, calls that failed are told, and not judged. */
const MOST_WAITED = 0.2;

/** Gives what is wrong; empty: nothing. */
export async function steady(options: SteadyOptions): Promise<string[]> {
  const { seconds, share, rate, gigabytes, svg, say } = options;
  const folder = await Deno.makeTempDir({ prefix: "sluice-steady-" });
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < gigabytes * 1.2e9) {
    await Deno.remove(folder);
    return [
      `${folder} has ${
        (bavail * bsize / 1e9).toFixed()
      } GB free; --gigabytes ${gigabytes} needs a fifth more`,
    ];
  }
  const provider = await startProvider();
  const gateway = await startGateway(folder, provider);
  const loads = [startLoad(provider), startLoad(provider)];
  const store = new DatabaseSync(`${folder}/bench.db`, { readOnly: true });
  const samples: Sample[] = [];
  const pace: Pace = { answers: 0, streams: 0 };
  const began = performance.now();
  let cpuBefore = { at: began, micros: cpuMicros(gateway.pid) ?? NaN };
  const look = async () => {
    const now = performance.now();
    const micros = cpuMicros(gateway.pid) ?? NaN;
    const cpu = (micros - cpuBefore.micros) / (now - cpuBefore.at) / 10;
    cpuBefore = { at: now, micros };
    const sample = {
      ...await sampleOf(gateway, store),
      seconds: (now - began) / 1000,
      cpu,
      answers: pace.answers,
      frames: pace.streams * FRAMES_A_SECOND,
    };
    return sample;
  };
  try {
    const first = await look();
    const most = Math.min(rate > 0 ? rate : Infinity, gigabytes * 1e9 / RECORD_BYTES / seconds);
    Object.assign(pace, await paceOf(gateway, loads, share, most));
    say(
      `${pace.answers} whole answers a second and ${pace.streams} streams to begin with, for ${seconds} seconds`,
    );

    let over = false;
    const seen: { whole: Seen; streams: Seen }[] = [];
    const working = (async () => {
      const until = performance.now() + seconds * 1000;
      for (let left = seconds * 1000; left > 1000; left = until - performance.now()) {
        const part = await workFor(Math.min(PART_MS, left), gateway, loads, pace);
        seen.push(part);
        follow(pace, most, share, part.busy);
      }
    })().finally(() => over = true);
    const everyMs = Math.max(1000, seconds * 1000 / 240);
    while (!over) {
      const sample = await look();
      samples.push(sample);
      const { memory, descriptors, timers, leases, pending, cpu } = sample;
      if (samples.length % 24 === 1) {
        say(
          `${
            memory.toFixed(1)
          } MB, ${descriptors} descriptors, ${timers} timers, ${leases} leases, ${pending} records pending, ` +
            `${cpu.toFixed()} % of a core; ${pace.answers} answers a second, ${pace.streams} streams`,
        );
      }
      await Promise.race([working, pause(everyMs)]);
    }
    await working;
    const last = await restOf(look, first, () => askOnce(gateway, loads[0]));
    if (svg !== "") await Deno.writeTextFile(svg, picture(samples));
    return judge(options, samples, seen, first, last);
  } finally {
    store.close();
    await Promise.all([...loads, gateway].map((program) => program.stop()));
    await provider.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

function judge(
  { seconds, say }: SteadyOptions,
  samples: readonly Sample[],
  seen: readonly { whole: Seen; streams: Seen }[],
  first: Sample,
  last: Sample,
): string[] {
  const all = seen.flatMap(({ whole, streams }) => [whole, streams]);
  const sum = (of: (one: Seen) => number, from: readonly Seen[] = all) =>
    from.reduce((total, one) => total + of(one), 0);
  const wholes = seen.map(({ whole }) => whole);
  const slope = slopeOf(samples, seconds * SETTLING, "memory") * 3600;
  const requests = sum((one) => one.requests, wholes);
  say(
    `${requests} whole answers, ${sum((one) => one.frames)} frames; of parts of ${PART_MS / 1000} s p50 ${
      median(wholes.map((one) => one.latency.p50)).toFixed()
    } µs, p99 ${median(wholes.map((one) => one.latency.p99)).toFixed()} µs (medians)`,
  );
  say(`the gateway used ${median(samples.map(({ cpu }) => cpu)).toFixed()} % of its core (median)`);
  const stopped = sum((one) => one.stopped);
  if (stopped > 0) {
    say(`${stopped} answers are not judged: all programs were stopped while they were on their way`);
  }
  const disturbed = all.filter((one) => (one.waited ?? 0) > MOST_WAITED);
  const failed = (from: readonly Seen[]) => sum((one) => one.errors + one.unasked, from);
  if (failed(disturbed) > 0) {
    say(
      `${sum((one) => one.errors, disturbed)} calls that failed and ${
        sum((one) => one.unasked, disturbed)
      } not asked are not judged: ` +
        `others had the gateway's core for more than ${MOST_WAITED * 100} % of the time`,
    );
  }
  const fair = all.filter((one) => !disturbed.includes(one));
  const [errors, unasked] = [sum((one) => one.errors, fair), sum((one) => one.unasked, fair)];
  say(
    `memory ${samples[0].memory.toFixed(1)} to ${samples.at(-1)!.memory.toFixed(1)} MB, ${
      slope.toFixed(1)
    } MB an hour after the first quarter`,
  );
  say(
    `after the load: ${last.descriptors} descriptors (${first.descriptors} before), ${last.timers} timers (${first.timers}), ` +
      `${last.leases} leases, ${last.pending} records pending`,
  );
  if (unasked > 0) say(`${unasked} calls were not asked, since all connections waited`);
  return [
    ...(unasked > requests * MOST_UNASKED ? ["the gateway cannot do what was asked of it"] : []),
    ...(errors > 0
      ? [`${errors} calls failed: ${JSON.stringify(Object.assign({}, ...fair.map((one) => one.failures)))}`]
      : []),
    // A slope of minutes says nothing of an hour.
    ...(seconds >= 600 && slope > MOST_MB_AN_HOUR ? [`memory grows by ${slope.toFixed(1)} MB an hour`] : []),
    ...(last.descriptors > first.descriptors + MOST_LEFT
      ? [`${last.descriptors} descriptors are left of ${first.descriptors}`]
      : []),
    ...(last.timers > first.timers + MOST_LEFT ? [`${last.timers} timers are left`] : []),
    ...(last.pending > 0 ? [`${last.pending} records wait for the store`] : []),
  ];
}

/** Both kinds of load for a while; `busy` is the part of it in which the gateway's event loop ran or could have. */
async function workFor(
  runMs: number,
  gateway: Program,
  loads: readonly Load[],
  { answers, streams }: Pace,
): Promise<{ whole: Seen; streams: Seen; busy: number }> {
  const shape = { warmMs: 0, runMs, helpers: [] };
  const before = loopMicros(gateway.pid);
  const began = performance.now();
  const [whole, streaming] = await Promise.all([
    loads[0].work({
      ...call(gatewayAs(gateway, "chat"), "whole"),
      ...shape,
      connections: CONNECTIONS,
      rate: answers,
    }),
    loads[1].work({
      ...call(gatewayAs(gateway, "messages"), "stream-200-5"),
      ...shape,
      connections: streams,
      rampMs: 1000,
    }),
  ]);
  const busy = (loopMicros(gateway.pid) - before) / (performance.now() - began) / 1000;
  return { whole, streams: streaming, busy };
}

/** Time in which the main thread ran, or could have while others had its core. */
function loopMicros(pid: number): number {
  const ran = Number(Deno.readTextFileSync(`/proc/${pid}/schedstat`).split(" ")[0]) / 1000;
  return ran + (waitedMicros(pid) ?? 0);
}

/** More or less of both, so that the loop is busy for the share of its time. */
function follow(pace: Pace, most: number, share: number, busy: number): void {
  const factor = Math.min(MOST_FACTOR, Math.max(LEAST_FACTOR, share / busy));
  pace.answers = Math.max(1, Math.min(Math.round(most), Math.round(pace.answers * factor)));
  pace.streams = Math.max(1, Math.round(pace.streams * factor));
}

/**
 * What makes the share, half of it by whole answers unless they are bounded.
 * @param bound whole answers a second
 */
async function paceOf(gateway: Program, loads: readonly Load[], share: number, bound: number): Promise<Pace> {
  const most = await mostOf(gateway, loads[0]);
  const answers = Math.round(Math.min(bound, most * share / 2));
  const target = { ...call(gatewayAs(gateway, "messages"), "stream-200-5"), helpers: [] };
  const { frames, cpuMicros } = await loads[1].work({
    ...target,
    connections: SOME_STREAMS,
    warmMs: 4000,
    runMs: 4000,
    rampMs: 1000,
  });
  const left = share - answers / most;
  return {
    answers,
    streams: Math.max(1, Math.round(left * 1e6 / ((cpuMicros ?? NaN) / frames * FRAMES_A_SECOND))),
  };
}

/** Whole answers a second with a full core, once its code is compiled. The most of several: others may take or stop the machine. */
async function mostOf(gateway: Program, load: Load): Promise<number> {
  const job = { ...call(gatewayAs(gateway, "chat"), "whole"), connections: 64, helpers: [] };
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { requests, seconds } = await load.work({ ...job, warmMs: round === 0 ? 4000 : 0, runMs: 2000 });
    rates.push(requests / seconds);
  }
  return Math.max(...rates);
}

/**
 * What calls leave is gone once their connections have rested.
 * @param ask a call, which closes connections to the provider that have rested too long
 */
async function restOf(look: () => Promise<Sample>, first: Sample, ask: () => Promise<void>): Promise<Sample> {
  for (let second = 1;; second++) {
    await pause(1000);
    if (second % ASK_SECONDS === 0) await ask();
    const last = await look();
    const rests = last.descriptors <= first.descriptors + MOST_LEFT &&
      last.timers <= first.timers + MOST_LEFT &&
      last.pending === 0;
    if (rests || second === REST_SECONDS) return last;
  }
}

async function askOnce(gateway: Program, load: Load): Promise<void> {
  const job = { ...call(gatewayAs(gateway, "chat"), "whole"), connections: 1, helpers: [] };
  await load.work({ ...job, warmMs: 0, runMs: 0, calls: 1 });
}

async function sampleOf(gateway: Program, store: DatabaseSync) {
  const text = await (await fetch(`http://127.0.0.1:${gateway.port}/metrics`)).text();
  const metric = (name: string) => Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, "m").exec(text)?.[1]);
  const { count } = store.prepare("SELECT count(*) AS count FROM leases").get() as { count: number };
  return {
    memory: (residentBytes(gateway.pid) ?? NaN) / MB,
    descriptors: [...Deno.readDirSync(`/proc/${gateway.pid}/fd`)].length,
    timers: metric("sluice_deadlines"),
    leases: count,
    pending: metric("sluice_records_pending"),
  };
}

/** Least squares, a second, of what was seen after `from`. */
function slopeOf(samples: readonly Sample[], from: number, of: keyof Sample): number {
  const start = samples[0].seconds;
  const used = samples.filter(({ seconds }) => seconds - start >= from);
  const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  const x = mean(used.map(({ seconds }) => seconds));
  const y = mean(used.map((sample) => sample[of]));
  const over = used.reduce((sum, sample) => sum + (sample.seconds - x) * (sample[of] - y), 0);
  return over / used.reduce((sum, { seconds }) => sum + (seconds - x) ** 2, 0);
}

function picture(samples: readonly Sample[]): string {
  const series = (name: string, of: (sample: Sample) => number): Series => ({
    name,
    points: samples.map((sample) => [(sample.seconds - samples[0].seconds) / 60, of(sample)]),
  });
  return chart([
    series("memory, MB", (sample) => sample.memory),
    series("CPU, % of a core", (sample) => sample.cpu),
    series("whole answers asked for, thousands a second", (sample) => sample.answers / 1000),
    series("frames of streams asked for, thousands a second", (sample) => sample.frames / 1000),
    series("descriptors", (sample) => sample.descriptors),
    series("timers", (sample) => sample.timers),
    series("leases", (sample) => sample.leases),
    series("records that wait for the store", (sample) => sample.pending),
  ], "minutes");
}
