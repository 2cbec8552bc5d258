/**
 * What is measured. Each measure asks its targets in turn, in another order each round, and gives lines of the table.
 *
 * What "must" and "stretch" ask for is about ratios to relays that do nothing else, because absolute figures are the
 * machine's.
 */
import { call, gatewayAs } from "./calls.ts";
import type { Seen } from "./load.ts";
import { ANSWERS_SECRET, BLOCKING_SECRET, MASKING_SECRET, type Program } from "./programs.ts";
import {
  type Bench,
  cost,
  framesPerSecond,
  type Measure,
  perSecond,
  relay,
  round2,
  rounds,
  row,
  skipped,
} from "./rounds.ts";
import { garbage } from "./garbage.ts";
import { growth } from "./growth.ts";
import { cold, memory } from "./memory_and_start.ts";
import { agents, crowd, http2, search, store, tls, tlsHttp2 } from "./surroundings.ts";
import { telemetry } from "./telemetry.ts";
import { workers } from "./workers.ts";
import { atLeast, atMost, median, type Row } from "./table.ts";

async function whole(bench: Bench): Promise<Row[]> {
  const targets = [
    relay(bench.json, "JSON relay", "chat"),
    gatewayAs(bench.gateway, "chat"),
    gatewayAs(bench.gateway, "messages"),
    gatewayAs(bench.gateway, "responses"),
  ];
  const shape = { connections: 64, warmMs: bench.quick ? 150 : 300, runMs: bench.quick ? 600 : 2000 };
  const [floor, ...gateway] = await rounds(bench, "whole", targets, {
    rounds: bench.quick ? 3 : 5,
    model: "whole",
    shape,
  });
  return gateway.flatMap((seen, i) => {
    const { format } = targets[i + 1];
    const least = format === "chat" ? 0.6 : 0.55;
    const most = format === "chat" ? 1 : 0.9;
    const name = format === "chat" ? "whole, same format" : `whole, ${format} to chat`;
    return [
      row(name, "requests/s over the JSON relay", seen.map(perSecond), floor.map(perSecond), {
        must: atLeast(least),
        stretch: atLeast(most),
      }),
      row(
        name,
        "CPU µs/request",
        cost(seen, (s) => s.requests),
        cost(floor, (s) => s.requests),
        { must: atMost(round2(1 / least)), stretch: atMost(round2(1 / most)) },
      ),
    ];
  });
}

/** What a relay adds at a rate that none is busy with: its latency less the provider's own middle one. */
async function latency(bench: Bench): Promise<Row[]> {
  const targets = [
    relay(bench.provider, "the provider itself", "chat"),
    relay(bench.json, "JSON relay", "chat"),
    gatewayAs(bench.gateway, "chat"),
  ];
  const [direct, floor, gateway] = await rounds(bench, "latency", targets, {
    rounds: bench.quick ? 2 : 5,
    model: "whole",
    shape: { connections: 64, rate: 500, warmMs: 100, runMs: bench.quick ? 800 : 2500 },
  });
  const added = (seen: Seen[], which: "p50" | "p99") =>
    seen.map((one, i) => one.latency[which] - direct[i].latency.p50);
  return [
    row("added latency at 500/s", "p50 µs over the JSON relay", added(gateway, "p50"), added(floor, "p50"), {
      must: atMost(1.5),
      stretch: atMost(1.2),
    }),
    row("added latency at 500/s", "p99 µs over the JSON relay", added(gateway, "p99"), added(floor, "p99"), {
      must: atMost(2),
      stretch: atMost(1.5),
    }),
  ];
}

async function paced(bench: Bench): Promise<Row[]> {
  const targets = [
    relay(bench.byob, "BYOB converter", "messages"),
    gatewayAs(bench.gateway, "messages"),
    gatewayAs(bench.gateway, "chat"),
  ];
  const [floor, converted, same] = await rounds(bench, "paced", targets, {
    rounds: bench.quick ? 2 : 4,
    model: bench.quick ? "stream-100-5" : "stream-200-5",
    shape: { connections: 40, warmMs: 300, runMs: bench.quick ? 700 : 2000, rampMs: 300 },
  });
  const frames = (seen: Seen) => seen.frames;
  const first = (seen: Seen[]) => seen.map((one) => one.firstToken.p50);
  return [
    row("40 streams × 200/s, converted", "CPU µs/frame", cost(converted, frames), cost(floor, frames)),
    row("40 streams × 200/s, same format", "CPU µs/frame", cost(same, frames), cost(floor, frames)),
    row("time to first token", "p50 µs over the BYOB converter", first(converted), first(floor), {
      must: atMost(1.3),
      stretch: atMost(1.1),
    }),
  ];
}

async function full(bench: Bench): Promise<Row[]> {
  const targets = [relay(bench.byob, "BYOB converter", "messages"), gatewayAs(bench.gateway, "messages")];
  const [floor, gateway] = await rounds(bench, "full", targets, {
    rounds: bench.quick ? 2 : 4,
    model: "stream-200-5",
    shape: { connections: 600, warmMs: 1000, runMs: bench.quick ? 1200 : 3000, rampMs: 500 },
  });
  const frames = (seen: Seen) => seen.frames;
  const busiest = Math.max(...[...floor, ...gateway].map((seen) => seen.helpersBusy ?? 0));
  return [
    row(
      "600 streams × 200/s, core full",
      "frames/s over the BYOB converter",
      gateway.map(framesPerSecond),
      floor.map(framesPerSecond),
      { must: atLeast(0.85), stretch: atLeast(1.4) },
    ),
    row(
      "600 streams × 200/s, core full",
      "CPU µs/frame",
      cost(gateway, frames),
      cost(floor, frames),
      {
        must: atMost(round2(1 / 0.85)),
        stretch: atMost(round2(1 / 1.4)),
        ...(busiest > 0.9 && {
          note: `the load had ${
            Math.round(busiest * 100)
          } % of its core to do, so more frames/s could not be seen`,
        }),
      },
    ),
  ];
}

/** Sizes of prompts, in KB of text. */
const SIZES = [1, 100, 2000];

async function prompts(bench: Bench): Promise<Row[]> {
  const targets = [relay(bench.json, "JSON relay", "chat"), gatewayAs(bench.gateway, "messages")];
  const costs: { floor: number[]; gateway: number[] }[] = [];
  for (const size of SIZES) {
    const seen = await rounds(bench, `prompts of ${size} KB`, targets, {
      rounds: bench.quick ? 2 : 4,
      model: "whole",
      chars: size * 1024,
      shape: {
        connections: size > 10 ? 4 : 32,
        warmMs: bench.quick ? 100 : 300,
        runMs: bench.quick ? 300 : 1500,
      },
    });
    const [floor, gateway] = seen.map((of) => cost(of, (s) => s.requests));
    costs.push({ floor, gateway });
  }
  /** Cost of a further KB from 100 KB on, over that up to there. The relay's is above 1, since large strings cost more. */
  const growth = (who: "gateway" | "floor") =>
    costs[0][who].map((_, i) => {
      const each = (to: number) => (costs[to][who][i] - costs[to - 1][who][i]) / (SIZES[to] - SIZES[to - 1]);
      return each(2) / each(1);
    });
  return [
    ...SIZES.map((size, i) =>
      row(
        `prompt of ${size.toLocaleString("en")} KB, converted`,
        "CPU µs/request",
        costs[i].gateway,
        costs[i].floor,
        {
          note: costs[i].gateway.length === 0
            ? undefined
            : `${(median(costs[i].gateway) / size).toFixed(1)} µs a KB, the JSON relay ${
              (median(costs[i].floor) / size).toFixed(1)
            }`,
        },
      )
    ),
    row(
      "growth of that",
      "a further KB from 100 KB on, over one before",
      growth("gateway"),
      growth("floor"),
      {
        must: atMost(1.3),
        stretch: atMost(1),
      },
    ),
  ];
}

async function dlp(bench: Bench): Promise<Row[]> {
  const name = "DLP on, 2 KB prompt";
  if (!await screens(bench.gateway)) return [skipped(name, "a policy that blocks let a card number through")];
  const targets = [
    { ...gatewayAs(bench.gateway, "chat"), name: "DLP off" },
    { ...gatewayAs(bench.gateway, "chat", MASKING_SECRET), name: "DLP on" },
  ];
  const answers = { ...gatewayAs(bench.gateway, "chat", ANSWERS_SECRET), name: "DLP on, answers too" };
  const [off, on, both] = await rounds(bench, "dlp", [...targets, answers], {
    rounds: bench.quick ? 2 : 5,
    model: "whole",
    chars: 2048,
    shape: { connections: 64, warmMs: bench.quick ? 200 : 400, runMs: bench.quick ? 500 : 2000 },
  });
  const requests = (seen: Seen) => seen.requests;
  return [
    row(name, "requests/s over DLP off", on.map(perSecond), off.map(perSecond), {
      must: atLeast(0.75),
      stretch: atLeast(0.9),
    }),
    row(name, "CPU µs/request", cost(on, requests), cost(off, requests), {
      must: atMost(round2(1 / 0.75)),
      stretch: atMost(round2(1 / 0.9)),
    }),
    row(`${name}, answers screened too`, "CPU µs/request", cost(both, requests), cost(off, requests)),
  ];
}

/** Whether a policy that blocks does. */
async function screens(gateway: Program): Promise<boolean> {
  const { port, path, headers, body } = call(gatewayAs(gateway, "chat", BLOCKING_SECRET), "whole");
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers,
    body: body.replace("Please look", "My card is 4111 1111 1111 1111. Please look"),
  });
  await response.text();
  return response.status !== 200;
}

/** Those that a quick run leaves out. */
export const SLOW: ReadonlySet<string> = new Set([
  "tls2",
  "http2",
  "search",
  "store",
  "crowd",
  "agents",
  "garbage",
  "growth",
]);

/** By the name that `--only` takes, in the order they are run. */
export const MEASURES: Readonly<Record<string, Measure>> = {
  whole,
  latency,
  paced,
  full,
  prompts,
  dlp,
  memory,
  cold,
  workers,
  tls,
  tls2: tlsHttp2,
  http2,
  search,
  store,
  crowd,
  agents,
  garbage,
  growth,
  telemetry,
};
