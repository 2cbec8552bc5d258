/**
 * The same calls in other surroundings: a provider behind TLS, a store on PostgreSQL, many keys and models, and the long
 * conversations with tools that coding agents have.
 */
import { makeCluster, postgresHere } from "../support/cluster.ts";
import { TLS } from "../support/tls.ts";
import { gatewayAs } from "./calls.ts";
import { HELD_BACK, heldBack } from "./held_back.ts";
import type { Seen } from "./load.ts";
import { type GatewayOptions, MODELS, startGateway, startRelay, startTlsProvider } from "./programs.ts";
import {
  type Bench,
  cost,
  framesPerSecond,
  type Measure,
  perSecond,
  relay,
  rounds,
  row,
  skipped,
  warmed,
} from "./rounds.ts";
import { atLeast, atMost, type Row } from "./table.ts";

const requests = (seen: Seen) => seen.requests;

function busy(bench: Bench) {
  return { connections: 64, warmMs: bench.quick ? 300 : 600, runMs: bench.quick ? 600 : 2000 };
}

/** Gateway and relays over the same TLS, where the provider offers nothing but HTTP/1.1. */
export const tls: Measure = (bench) => behindTls(bench, "tls", false);

/** The same where the provider offers HTTP/2 too, as most do. */
export const tlsHttp2: Measure = (bench) => behindTls(bench, "tls2", true);

async function behindTls(bench: Bench, measure: string, offersHttp2: boolean): Promise<Row[]> {
  const folder = `${bench.folder}/${measure}`;
  await Deno.mkdir(folder);
  const provider = await startTlsProvider(folder, offersHttp2);
  const [gateway, json, byob] = await Promise.all([
    startGateway(folder, provider),
    startRelay("json", provider),
    startRelay("byob", provider),
  ]);
  const floor = relay(json, "JSON relay over TLS", "chat");
  const [chat, messages] = [gatewayAs(gateway, "chat"), gatewayAs(gateway, "messages")];
  try {
    await warmed(bench, measure, [floor, chat, messages]);
    const [plain, same, converted] = await rounds(bench, measure, [floor, chat, messages], {
      rounds: bench.quick ? 3 : 5,
      model: "whole",
      shape: busy(bench),
    });
    const [idle, added] = await rounds(bench, `${measure}, latency`, [floor, chat], {
      rounds: bench.quick ? 2 : 5,
      model: "whole",
      shape: { connections: 64, rate: 500, warmMs: 100, runMs: bench.quick ? 800 : 2500 },
    });
    const [slow, full] = await rounds(bench, `${measure}, streams`, [
      relay(byob, "BYOB converter over TLS", "messages"),
      messages,
    ], {
      rounds: bench.quick ? 2 : 4,
      model: "stream-200-5",
      shape: { connections: 400, warmMs: 1000, runMs: bench.quick ? 1200 : 3000, rampMs: 500 },
    });
    const latency = (seen: readonly Seen[], which: "p50" | "p99") => seen.map((one) => one.latency[which]);
    const name = "over TLS";
    const rows = [
      row(
        `${name}, same format`,
        "requests/s over the JSON relay",
        same.map(perSecond),
        plain.map(perSecond),
        {
          must: atLeast(0.7),
          stretch: atLeast(0.85),
        },
      ),
      row(`${name}, same format`, "CPU µs/request", cost(same, requests), cost(plain, requests)),
      row(
        `${name}, converted`,
        "requests/s over the JSON relay",
        converted.map(perSecond),
        plain.map(perSecond),
        {
          must: atLeast(0.6),
          stretch: atLeast(0.75),
        },
      ),
      row(`${name}, converted`, "CPU µs/request", cost(converted, requests), cost(plain, requests)),
      row(`${name}, 500/s`, "p50 µs over the JSON relay", latency(added, "p50"), latency(idle, "p50"), {
        must: atMost(1.3),
        stretch: atMost(1.2),
      }),
      row(`${name}, 500/s`, "p99 µs over the JSON relay", latency(added, "p99"), latency(idle, "p99"), {
        must: atMost(2),
        stretch: atMost(1.5),
      }),
      row(
        `${name}, 400 streams`,
        "frames/s over the BYOB converter",
        full.map(framesPerSecond),
        slow.map(framesPerSecond),
        { must: atLeast(1), stretch: atLeast(1.4) },
      ),
    ];
    return await ofProvider(rows, provider.port, offersHttp2);
  } finally {
    await Promise.all([gateway, json, byob].map((program) => program.stop()));
    await provider.stop();
  }
}

/** Of a provider whose answers the kernel holds back nothing is asked: the gateway speaks HTTP/1.1 with it, the relays HTTP/2. */
async function ofProvider(rows: readonly Row[], port: number, offersHttp2: boolean): Promise<Row[]> {
  if (!offersHttp2) return rows.map((row) => ({ ...row, provider: "TLS, HTTP/1.1" }));
  const provider = "TLS, HTTP/2 and 1.1";
  if (!await heldBack(port)) return rows.map((row) => ({ ...row, provider }));
  return rows.map((row, i) => ({
    ...row,
    provider,
    must: null,
    stretch: null,
    ...(i === 0 && { note: HELD_BACK }),
  }));
}

/** HTTP/2 on both sides: of callers, and offered by the provider; the relay by Deno.serve and fetch. */
export const http2: Measure = async (bench) => {
  const folder = `${bench.folder}/http2`;
  await Deno.mkdir(folder);
  const files = { cert: `${folder}/cert.pem`, key: `${folder}/key.pem` };
  await Deno.writeTextFile(files.cert, TLS.cert);
  await Deno.writeTextFile(files.key, TLS.key);
  const provider = await startTlsProvider(folder, true);
  const server = { port: 0, max_in_flight: 10_000, tls: files };
  const [gateway, json] = await Promise.all([
    startGateway(folder, provider, { sections: { server } }),
    startRelay("json", provider, { tls: true }),
  ]);
  const targets = [relay(json, "JSON relay over HTTP/2", "chat"), gatewayAs(gateway, "chat")]
    .map((target) => ({ ...target, http2: true }));
  try {
    await warmed(bench, "http2", targets);
    const [floor, seen] = await rounds(bench, "http2", targets, {
      rounds: bench.quick ? 3 : 5,
      model: "whole",
      shape: busy(bench),
    });
    const name = "callers over HTTP/2";
    const busiest = Math.max(...[...floor, ...seen].map((one) => one.helpersBusy ?? 0));
    const rows = [
      row(name, "requests/s over the JSON relay", seen.map(perSecond), floor.map(perSecond)),
      row(name, "CPU µs/request", cost(seen, requests), cost(floor, requests), {
        ...(busiest > 0.9 &&
          { note: "the load had its core full, so that the CPU time says more than the requests/s" }),
      }),
    ];
    return await ofProvider(rows, provider.port, true);
  } finally {
    await Promise.all([gateway.stop(), json.stop()]);
    await provider.stop();
  }
};

/** A search in every call: the model is asked twice, and shown what an engine on loopback has found. */
export const search: Measure = async (bench) => {
  const folder = `${bench.folder}/search`;
  await Deno.mkdir(folder);
  const engine = { engine: "searxng", base_url: new URL(bench.provider.address).origin };
  const gateway = await startGateway(folder, bench.provider, { sections: { search: engine } });
  const shape = { rounds: bench.quick ? 2 : 5, shape: busy(bench) };
  try {
    const off = gatewayAs(gateway, "chat");
    await warmed(bench, "search", [off]);
    const targets = [{ ...off, name: "search off" }, { ...off, name: "search on", model: "search" }];
    const [usual, seen] = await rounds(bench, "search", targets, { ...shape, model: "whole" });
    const name = "search on: two calls of the model and a search";
    return [
      row(name, "requests/s over a plain call", seen.map(perSecond), usual.map(perSecond)),
      row(name, "CPU µs/request", cost(seen, requests), cost(usual, requests)),
    ];
  } finally {
    await gateway.stop();
  }
};

/** A gateway set up otherwise, against the one that all other measures use. */
async function besides(bench: Bench, name: string, options: GatewayOptions): Promise<Row[]> {
  const folder = await Deno.makeTempDir({ dir: bench.folder });
  const other = await startGateway(folder, bench.provider, options);
  try {
    const targets = [gatewayAs(bench.gateway, "chat"), { ...gatewayAs(other, "chat"), name }];
    await warmed(bench, name, targets);
    const [usual, seen] = await rounds(bench, name, targets, {
      rounds: bench.quick ? 2 : 5,
      model: "whole",
      shape: busy(bench),
    });
    return [
      row(name, "requests/s over the usual gateway", seen.map(perSecond), usual.map(perSecond)),
      row(name, "CPU µs/request", cost(seen, requests), cost(usual, requests)),
    ];
  } finally {
    await other.stop();
  }
}

export const store: Measure = async (bench) => {
  const name = "store on PostgreSQL";
  if (postgresHere === null) return [skipped(name, "there are no programs of PostgreSQL here")];
  const cluster = await makeCluster();
  try {
    return await besides(bench, name, { store: cluster.url });
  } finally {
    await cluster.remove();
  }
};

const KEYS = 100_000;
const CATALOG = 2000;

export const crowd: Measure = async (bench) => {
  const keys = Array.from({ length: KEYS }, (_, i) => ({
    name: `k${i}`,
    secret: `sk_live_${String(i).padStart(32, "0")}`,
    account: "bench",
  }));
  const models = Array.from({ length: CATALOG }, (_, i) => ({
    id: `bench/other-${i}`,
    routes: [{ provider: "bench", model: MODELS[0] }],
    pricing: { prompt: "0.000000001", completion: "0.000000002" },
    capabilities: { features: ["tools"] },
  }));
  return [
    ...await besides(bench, `${KEYS.toLocaleString("en")} keys`, { keys }),
    ...await besides(bench, `${CATALOG.toLocaleString("en")} models`, { models }),
  ];
};

/** Of 100 KB only the last turn is another each time. */
export const agents: Measure = async (bench) => {
  const targets = [
    relay(bench.json, "JSON relay", "chat"),
    gatewayAs(bench.gateway, "chat"),
    gatewayAs(bench.gateway, "messages"),
  ];
  const [floor, ...seen] = await rounds(bench, "agents", targets, {
    rounds: bench.quick ? 2 : 4,
    model: "whole",
    chars: 100 * 1024,
    tools: true,
    shape: { connections: 16, warmMs: bench.quick ? 300 : 600, runMs: bench.quick ? 600 : 2000 },
  });
  return seen.map((of, i) =>
    row(
      `agents: 100 KB, 20 tools, ${targets[i + 1].format}`,
      "CPU µs/request",
      cost(of, requests),
      cost(floor, requests),
    )
  );
};
