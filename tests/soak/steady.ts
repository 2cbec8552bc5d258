/**
 * `deno task soak --steady`: ordinary calls alone, at a part of what the gateway can do, for as long as is asked, and what of memory,
 * descriptors, timers and leases grows meanwhile. Half of the load is whole answers at a fixed rate, the rest streams.
 */
import { DatabaseSync } from "node:sqlite";
import { call, gatewayAs } from "../bench/calls.ts";
import { type Load, type Program, startGateway, startLoad, startProvider } from "../bench/programs.ts";
import { residentBytes } from "../bench/system.ts";
import { chart, type Series } from "./chart.ts";

export interface SteadyOptions {
  seconds: number;
  /** Part of the whole answers a second that the gateway can do. */
  share: number;
  /** Whole answers a second, in place of a share; 0: by the share. */
  rate: number;
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
}

const MB = 1e6;
const STREAMS = 20;
/** In which it is found out what the gateway can do. */
const ROUNDS = 3;
/** Of the whole time: until then code is compiled, and memory finds its size. */
const SETTLING = 1 / 4;
/** What memory may grow by, and what may be left of descriptors and timers once the load has ended. */
const MOST_MB_AN_HOUR = 20;
const MOST_LEFT = 20;
/** Part of the calls that the machine may be too busy for. */
const MOST_UNASKED = 0.02;

/** Gives what is wrong; empty: nothing. */
export async function steady({ seconds, share, rate, svg, say }: SteadyOptions): Promise<string[]> {
  const folder = await Deno.makeTempDir({ prefix: "sluice-steady-" });
  const provider = await startProvider();
  const gateway = await startGateway(folder, provider);
  const loads = [startLoad(provider), startLoad(provider)];
  const samples: Sample[] = [];
  const began = performance.now();
  const store = new DatabaseSync(`${folder}/bench.db`, { readOnly: true });
  const look = async () => {
    const sample = await sampleOf(gateway, store, (performance.now() - began) / 1000);
    samples.push(sample);
    return sample;
  };
  try {
    const most = rate > 0 ? rate / share : await mostOf(gateway, loads[0]);
    const asked = Math.round(rate > 0 ? rate : most * share);
    say(`${asked} whole answers a second and ${STREAMS} streams, for ${seconds} seconds`);
    const shape = { warmMs: 0, runMs: seconds * 1000, helpers: [] };
    const working = Promise.all([
      loads[0].work({
        ...call(gatewayAs(gateway, "chat"), "whole"),
        ...shape,
        connections: 256,
        rate: asked,
      }),
      loads[1].work({
        ...call(gatewayAs(gateway, "messages"), "stream-200-5"),
        ...shape,
        connections: STREAMS,
        rampMs: 1000,
      }),
    ]);
    let over = false;
    void working.finally(() => over = true);
    const everyMs = Math.max(1000, seconds * 1000 / 240);
    while (!over) {
      const { memory, descriptors, timers, leases, pending } = await look();
      if (samples.length % 24 === 1) {
        say(
          `${
            memory.toFixed(1)
          } MB, ${descriptors} descriptors, ${timers} timers, ${leases} leases, ${pending} records pending`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
    const [whole, streams] = await working;
    // What calls leave is gone once their connections have rested.
    await new Promise((resolve) => setTimeout(resolve, 3000));
    const last = await look();
    if (svg !== "") await Deno.writeTextFile(svg, picture(samples));
    const slope = slopeOf(samples.slice(0, -1), seconds * SETTLING, "memory") * 3600;
    const first = samples[0];
    say(
      `${whole.requests} whole answers, ${streams.frames} frames; p50 ${whole.latency.p50.toFixed()} µs, p99 ${whole.latency.p99.toFixed()} µs`,
    );
    const stopped = whole.stopped + streams.stopped;
    if (stopped > 0) {
      say(`${stopped} answers are not judged: all programs were stopped while they were on their way`);
    }
    say(
      `memory ${first.memory.toFixed(1)} to ${samples.at(-2)!.memory.toFixed(1)} MB, ${
        slope.toFixed(1)
      } MB an hour after the first quarter`,
    );
    say(
      `after the load: ${last.descriptors} descriptors, ${last.timers} timers, ${last.leases} leases, ${last.pending} records pending`,
    );
    if (whole.unasked > 0) say(`${whole.unasked} calls were not asked, since all connections waited`);
    return [
      ...(whole.unasked > whole.requests * MOST_UNASKED
        ? [`the gateway cannot do ${asked} whole answers a second beside the streams`]
        : []),
      ...(whole.errors + streams.errors > 0
        ? [`${whole.errors + streams.errors} calls failed: ${whole.error ?? streams.error}`]
        : []),
      // A slope of minutes says nothing of an hour.
      ...(seconds >= 600 && slope > MOST_MB_AN_HOUR
        ? [`memory grows by ${slope.toFixed(1)} MB an hour`]
        : []),
      ...(last.descriptors > first.descriptors + 64 + MOST_LEFT
        ? [`${last.descriptors} descriptors are left of ${first.descriptors}`]
        : []),
      ...(last.timers > first.timers + MOST_LEFT ? [`${last.timers} timers are left`] : []),
      ...(last.pending > 0 ? [`${last.pending} records wait for the store`] : []),
    ];
  } finally {
    store.close();
    await Promise.all([...loads, gateway].map((program) => program.stop()));
    await provider.stop();
    await Deno.remove(folder, { recursive: true });
  }
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

async function sampleOf(gateway: Program, store: DatabaseSync, seconds: number): Promise<Sample> {
  const text = await (await fetch(`http://127.0.0.1:${gateway.port}/metrics`)).text();
  const metric = (name: string) => Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, "m").exec(text)?.[1]);
  const { count } = store.prepare("SELECT count(*) AS count FROM leases").get() as { count: number };
  return {
    seconds,
    memory: (residentBytes(gateway.pid) ?? NaN) / MB,
    descriptors: [...Deno.readDirSync(`/proc/${gateway.pid}/fd`)].length,
    timers: metric("sluice_deadlines"),
    leases: count,
    pending: metric("sluice_records_pending"),
  };
}

/** Least squares, a second, of what was seen after `from`. */
function slopeOf(samples: readonly Sample[], from: number, of: keyof Sample): number {
  const used = samples.filter(({ seconds }) => seconds >= from);
  const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  const x = mean(used.map(({ seconds }) => seconds));
  const y = mean(used.map((sample) => sample[of]));
  const over = used.reduce((sum, sample) => sum + (sample.seconds - x) * (sample[of] - y), 0);
  return over / used.reduce((sum, { seconds }) => sum + (seconds - x) ** 2, 0);
}

function picture(samples: readonly Sample[]): string {
  const series = (name: string, of: keyof Sample): Series => ({
    name,
    points: samples.map((sample) => [sample.seconds / 60, sample[of]]),
  });
  return chart([
    series("memory, MB", "memory"),
    series("descriptors", "descriptors"),
    series("timers", "timers"),
    series("leases", "leases"),
  ], "minutes");
}
