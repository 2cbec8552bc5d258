/**
 * Another gateway in the same rounds: `--against URL`. It must listen on this machine and send its calls to the bench's provider,
 * whose port `--provider-port` sets.
 */
import { gatewayAs, type Target } from "./calls.ts";
import type { Seen } from "./load.ts";
import { type Bench, cost, framesPerSecond, perSecond, relay, rounds, row } from "./rounds.ts";
import type { Row } from "./table.ts";

export interface Other {
  url: URL;
  /** Sent as a bearer token. */
  key: string;
  /** What stands before the provider's names of models, `whole` and `stream-200-5`. */
  models: string;
  /** For CPU time; 0: it is not read. */
  pid: number;
}

/** Throws where the address is none that load may go to. */
export function otherGateway(
  { against, key, models, pid }: { against: string; key: string; models: string; pid: string },
): Other {
  const url = new URL(against);
  if (url.protocol !== "http:" || !/^(?:127\.\d+\.\d+\.\d+|localhost)$/.test(url.hostname)) {
    throw new Error(`Cannot measure ${against}: expected http: and this machine, 127.0.0.1`);
  }
  return { url, key, models, pid: Number(pid) };
}

export async function against(bench: Bench, { url, key, models, pid }: Other): Promise<Row[]> {
  const other: Target = {
    name: url.host,
    program: { pid, port: Number(url.port || 80), said: () => [], stop: () => Promise.resolve() },
    format: "chat",
    secret: key,
    models,
    base: url.pathname.replace(/(?:\/v1)?\/*$/, ""),
  };
  const ours = gatewayAs(bench.gateway, "chat");
  const many = bench.quick ? 2 : 5;
  const whole = await rounds(
    bench,
    "against, whole",
    [relay(bench.json, "JSON relay", "chat"), ours, other],
    {
      rounds: many,
      model: "whole",
      shape: { connections: 64, warmMs: bench.quick ? 300 : 600, runMs: bench.quick ? 600 : 2000 },
    },
  );
  const slow = await rounds(
    bench,
    "against, latency",
    [relay(bench.json, "JSON relay", "chat"), ours, other],
    {
      rounds: many,
      model: "whole",
      shape: { connections: 64, rate: 500, warmMs: 100, runMs: bench.quick ? 800 : 2500 },
    },
  );
  const streams = await rounds(bench, "against, streams", [ours, other], {
    rounds: bench.quick ? 2 : 4,
    model: "stream-200-5",
    shape: { connections: 400, warmMs: 1000, runMs: bench.quick ? 1200 : 3000, rampMs: 500 },
  });
  const requests = (seen: Seen) => seen.requests;
  const p50 = (seen: readonly Seen[]) => seen.map((one) => one.latency.p50);
  const p99 = (seen: readonly Seen[]) => seen.map((one) => one.latency.p99);
  const name = url.host;
  return [
    row(`${name}: whole`, "requests/s over the JSON relay", whole[2].map(perSecond), whole[0].map(perSecond)),
    row(`${name}: whole`, "requests/s over this gateway", whole[2].map(perSecond), whole[1].map(perSecond)),
    row(
      `${name}: whole`,
      "CPU µs/request over this gateway",
      cost(whole[2], requests),
      cost(whole[1], requests),
    ),
    row(`${name}: 500/s`, "p50 µs over this gateway", p50(slow[2]), p50(slow[1])),
    row(`${name}: 500/s`, "p99 µs over this gateway", p99(slow[2]), p99(slow[1])),
    row(
      `${name}: 400 streams`,
      "frames/s over this gateway",
      streams[1].map(framesPerSecond),
      streams[0].map(framesPerSecond),
    ),
  ];
}
