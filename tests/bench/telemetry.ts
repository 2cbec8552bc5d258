/**
 * What telemetry costs a call. Some per cent cannot be seen in CPU time while others use the machine: so what is executed is
 * counted too, and all gateways take turns in many short rounds.
 */
import { call, gatewayAs, type Target } from "./calls.ts";
import type { Seen } from "./load.ts";
import { startCollector, startGateway } from "./programs.ts";
import { type Bench, cost, type Measure, row } from "./rounds.ts";
import { countInstructions } from "./system.ts";
import { atMost, type Row } from "./table.ts";
import { withoutHooks } from "./without_hooks.ts";

interface Setting {
  name: string;
  /** Undefined: telemetry is off. */
  sample?: number;
  /** What it is held against, and the most of that. */
  over: string;
  most: number;
}

const WITHOUT = "no telemetry in the code";
const OFF = "telemetry off";
const SETTINGS: readonly Setting[] = [
  { name: OFF, over: WITHOUT, most: 1.01 },
  { name: "metrics alone", sample: 0, over: OFF, most: 1.05 },
  { name: "10 % of the traces", sample: 0.1, over: OFF, most: 1.05 },
  { name: "all traces", sample: 1, over: OFF, most: 1.15 },
];

/** Spans wait for a second, and records of calls: what a call leaves to do belongs to its cost. */
const SETTLE_MS = 1500;
const CONNECTIONS = 32;

interface Counted {
  seen: Seen[];
  /** Of a call, in thousands. */
  instructions: number[];
}

export const telemetry: Measure = async (bench) => {
  const folder = await Deno.makeTempDir({ dir: bench.folder });
  const bare = `${folder}/bare`;
  await withoutHooks(bare);
  const collector = await startCollector();
  const env = {
    OTEL_DENO: "true",
    OTEL_SERVICE_NAME: "sluice",
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
  };
  const names = [WITHOUT, ...SETTINGS.map(({ name }) => name)];
  const programs = await Promise.all(names.map(async (name, i) => {
    const own = `${folder}/${i}`;
    await Deno.mkdir(own);
    const sample = SETTINGS.find((setting) => setting.name === name)?.sample;
    return await startGateway(own, bench.provider, {
      ...(name === WITHOUT && { root: bare }),
      ...(sample !== undefined && { env, sections: { telemetry: { sample } } }),
    });
  }));
  try {
    const targets = programs.map((program, i) => ({ ...gatewayAs(program, "chat"), name: names[i] }));
    const all = await inTurns(bench, targets);
    return SETTINGS.flatMap(({ name, over, most }) =>
      rowsOf(name, all.get(name)!, all.get(over)!, { over, most })
    );
  } finally {
    await Promise.all([...programs, collector].map((program) => program.stop()));
  }
};

function rowsOf(
  name: string,
  on: Counted,
  off: Counted,
  { over, most }: { over: string; most: number },
): Row[] {
  const requests = (seen: Seen) => seen.requests;
  const must = atMost(most);
  const counts = on.instructions.length > 0;
  const about = { interval: true };
  return [
    {
      ...row(
        `telemetry: ${name}`,
        `1,000 user instructions/request over ${over}`,
        on.instructions,
        off.instructions,
        {
          must,
          ...(!counts && { note: "there is no perf here that may count instructions" }),
        },
      ),
      ...about,
    },
    // Where instructions are counted they decide: CPU time is whatever other work leaves of the caches and the clock.
    {
      ...row(
        `telemetry: ${name}`,
        `CPU µs/request over ${over}`,
        cost(on.seen, requests),
        cost(off.seen, requests),
        {
          ...(!counts && { must }),
        },
      ),
      ...about,
    },
  ];
}

async function inTurns(bench: Bench, targets: readonly Target[]): Promise<Map<string, Counted>> {
  const counted = new Map<string, Counted>(targets.map(({ name }) => [name, { seen: [], instructions: [] }]));
  const shape = { connections: CONNECTIONS, warmMs: 0, runMs: 0, helpers: [] };
  const calls = bench.quick ? 2000 : 4000;
  const rounds = bench.rounds ?? (bench.quick ? 6 : 16);
  for (const target of targets) {
    bench.say(`telemetry, until its code is compiled: ${target.name}`);
    await bench.load.work({ ...call(target, "whole"), ...shape, calls: bench.quick ? 10_000 : 40_000 });
  }
  for (let round = 0; round < rounds; round++) {
    bench.say(`telemetry ${round + 1}/${rounds}`);
    // In the same order each time: who has rested for longer executes up to a fifth more until it is warm again.
    for (const target of targets) {
      const of = counted.get(target.name)!;
      const counting = await countInstructions(target.program.pid);
      const seen = await bench.load.work({ ...call(target, "whole"), ...shape, calls, settleMs: SETTLE_MS });
      const instructions = await counting?.stop();
      bench.keep("telemetry", target, round, seen);
      of.seen.push(seen);
      if (instructions) of.instructions.push(instructions / seen.requests / 1000);
    }
  }
  return counted;
}
