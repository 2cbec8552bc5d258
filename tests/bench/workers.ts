import { gatewayAs } from "./calls.ts";
import type { Seen } from "./load.ts";
import { startGateway } from "./programs.ts";
import { cost, type Measure, perSecond, rounds, row, skipped, warmed } from "./rounds.ts";
import { children } from "./system.ts";
import { atLeast } from "./table.ts";

/** Both gateways may use all cores, as operators run them; the load keeps its own. */
export const workers: Measure = async (bench) => {
  const name = "two workers over one process";
  const start = async (args: string[]) => {
    const folder = await Deno.makeTempDir({ dir: bench.folder });
    return await startGateway(folder, bench.provider, { args, anyCore: true });
  };
  const two = await start(["--workers", "2"]);
  const one = await start([]);
  try {
    if ((children(two.pid) ?? 2) < 2) return [skipped(name, "--workers 2 starts no further processes")];
    const targets = [
      { ...gatewayAs(one, "chat"), name: "one process" },
      { ...gatewayAs(two, "chat"), name: "two workers" },
    ];
    await warmed(bench, "workers", targets);
    const [single, both] = await rounds(bench, "workers", targets, {
      rounds: bench.quick ? 2 : 5,
      model: "whole",
      shape: { connections: 64, warmMs: 300, runMs: bench.quick ? 600 : 2000 },
    });
    const requests = (seen: Seen) => seen.requests;
    const enough = navigator.hardwareConcurrency >= 4;
    return [
      row(name, "requests/s", both.map(perSecond), single.map(perSecond), {
        ...(enough
          ? { must: atLeast(1.7), stretch: atLeast(1.9) }
          : { note: "the load and the provider use one of the cores too, so nothing is asked of it here" }),
      }),
      row(name, "CPU µs/request", cost(both, requests), cost(single, requests)),
    ];
  } finally {
    await Promise.all([two.stop(), one.stop()]);
  }
};
