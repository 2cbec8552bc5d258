/**
 * How time and output grow with each thing that others can repeat in what they send: `deno task bench --only growth`.
 *
 * Each is doubled three times; the power of its number that processor time and characters sent grow with is fitted. What
 * is fitted above {@link MOST_EXPONENT} is measured once more from a larger number on, where what does not grow matters
 * less, before it is called too much.
 */
import { type Measure, row } from "./rounds.ts";
import { atMost } from "./table.ts";
import { type Dimension, DIMENSIONS, exponentOf, MOST_EXPONENT, sizeOf } from "../support/growth/mod.ts";

const DOUBLINGS = 3;
const ROUNDS = 3;
const LEAST_MS = 15;
const MOST_RUNS = 50_000;

interface Growth {
  name: string;
  /** Milliseconds at the largest number. */
  ms: number;
  time: number;
  sent: number;
}

/** Milliseconds of CPU time of this thread, where the system tells: other work of the machine does not lengthen it. */
const clock = clockOf();

function clockOf(): () => number {
  try {
    const file = Deno.openSync("/proc/thread-self/schedstat");
    const buffer = new Uint8Array(64);
    return () => {
      file.seekSync(0, Deno.SeekMode.Start);
      const n = file.readSync(buffer) ?? 0;
      return Number(new TextDecoder().decode(buffer.subarray(0, n)).split(" ")[0]) / 1e6;
    };
  } catch {
    return () => performance.now();
  }
}

/** @param quick fewer rounds */
export function measureGrowth(quick: boolean, say: (line: string) => void): Growth[] {
  const found: Growth[] = [];
  DIMENSIONS.forEach((dimension, i) => {
    if (i % 25 === 0) say(`growth: ${i} of ${DIMENSIONS.length}`);
    let growth = growthOf(dimension, 1, quick ? 1 : ROUNDS);
    if (growth.time > MOST_EXPONENT) growth = growthOf(dimension, 4, ROUNDS);
    found.push(growth);
  });
  return found;
}

function growthOf({ name, prepare, from = 200 }: Dimension, scale: number, rounds: number): Growth {
  const times: number[] = [];
  const sizes: number[] = [];
  for (let doubling = 0; doubling <= DOUBLINGS; doubling++) {
    const n = from * scale * 2 ** doubling;
    const run = prepare(n, (value) => value);
    let best = Infinity;
    let sent: unknown;
    for (let round = 0; round < rounds; round++) {
      const begun = clock();
      // The system counts in steps of some milliseconds: as often as makes some of them.
      let runs = 0;
      do {
        sent = run();
        runs++;
      } while (clock() - begun < LEAST_MS && runs < MOST_RUNS);
      best = Math.min(best, (clock() - begun) / runs);
    }
    times.push(best);
    sizes.push(sizeOf(sent));
  }
  return { name, ms: times[DOUBLINGS], time: exponentOf(times), sent: exponentOf(sizes) };
}

/** What grows faster than it should, the steepest first. */
export function renderGrowth(found: readonly Growth[]): string {
  const steep = found.filter(({ time, sent }) => Math.max(time, sent) > MOST_EXPONENT)
    .sort((a, b) => b.time - a.time);
  const lines = steep.map(({ name, time, sent, ms }) =>
    `${time.toFixed(2).padStart(6)} ${sent.toFixed(2).padStart(6)} ${ms.toFixed(1).padStart(9)}  ${name}`
  );
  return [
    `${found.length} dimensions; exponents above ${MOST_EXPONENT}: ${steep.length}`,
    ...(steep.length > 0 ? ["  time   sent  ms at most  dimension", ...lines] : []),
  ].join("\n");
}

/** The steepest, as lines of the table; in a whole run with fewer rounds than alone. */
export const growth: Measure = (bench) => {
  const found = measureGrowth(true, bench.say);
  const steepest = (of: "time" | "sent") => found.toSorted((a, b) => b[of] - a[of])[0];
  const rows = (["time", "sent"] as const).map((of) => {
    const { name, [of]: exponent } = steepest(of);
    const what = of === "time" ? "processor time" : "characters sent";
    return row(`growth: steepest of ${found.length} dimensions`, `exponent of ${what}`, [exponent], [], {
      must: atMost(MOST_EXPONENT),
      note: `${what}: ${name}`,
    });
  });
  return Promise.resolve(rows);
};
