/** The gateways: real processes, started as an operator starts them, killed as nobody should. */

import { LAZY_IMPORTS, START_ENVIRONMENT, V8_FLAGS } from "../../src/memory.ts";
import { pause } from "../support/time.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

export const ADMIN_KEY = "chaos-admin-key";
export const ACCOUNT = "chaos";
export const CREDITS = "100000";
/** A key with so little to spend that it runs out during the run. */
export const TIGHT = { name: "tight", secret: "sk_live_chaostightchaostightchaostight" };
export const TIGHT_LIMIT = "0.01";
/** Keys enough that two requests which overlap do not share one. */
export const KEYS = Array.from({ length: 192 }, (_, i) => ({
  name: `key${i}`,
  secret: `sk_live_chaoschaoschaoschaoschaoschaos${i}`,
}));
const TEAMS = ["red", "green", "blue"];
export const APIS = ["openai-chat", "anthropic-messages", "openai-responses"] as const;

/** Picodollars: of an uncached token in, a token out, a search. Cached tokens carry a number and cost nothing. */
export const PRICE = { input: 1_000_000n, output: 2_000_000n, search: 5_000_000_000n };

export interface Node {
  readonly index: number;
  readonly port: number;
  readonly url: string;
  /** It listens. */
  up: boolean;
  kill(): void;
  /** Ends it as an operator does, in the middle of its work; it comes back by itself. */
  restart(): void;
  /** Ends it as an operator does, and answers its exit status. */
  end(): Promise<number>;
}

export interface Nodes {
  list: Node[];
  /** When each was killed. */
  kills: { node: number; at: number }[];
  restarts: number;
  /** Restarts that ended with another status than 0. */
  badEnds: number;
  /** Starts that ended at once, which is what a full disk makes of them. */
  failedStarts: number;
  /** Lines of the operator's logs, counted by what they say. */
  logs: Map<string, number>;
  end(): Promise<number[]>;
}

export interface NodesOptions {
  count: number;
  provider: string;
  store: string;
  /** Path of the journals of nodes over PostgreSQL; null: they keep none. */
  journal: string | null;
  config: string;
  stderr: string;
}

export async function startNodes(options: NodesOptions): Promise<Nodes> {
  await Deno.writeTextFile(options.config, JSON.stringify(configuration(options)));
  const nodes: Nodes = {
    list: [],
    kills: [],
    restarts: 0,
    badEnds: 0,
    failedStarts: 0,
    logs: new Map(),
    end,
  };
  const log = await Deno.open(options.stderr, { create: true, append: true });
  let ending = false;

  function node(index: number): Node {
    const port = freePort();
    let child: Deno.ChildProcess;
    let restarting = false;
    const self: Node = {
      index,
      port,
      url: `http://127.0.0.1:${port}`,
      up: false,
      kill() {
        if (!self.up) return;
        self.up = false;
        nodes.kills.push({ node: index, at: Date.now() });
        child.kill("SIGKILL");
      },
      restart() {
        if (!self.up) return;
        self.up = false;
        restarting = true;
        nodes.restarts++;
        child.kill("SIGTERM");
      },
      async end() {
        child.kill("SIGTERM");
        return (await child.status).code;
      },
    };

    async function keep(): Promise<void> {
      while (!ending) {
        child = new Deno.Command(Deno.execPath(), {
          args: [
            "run",
            "-A",
            LAZY_IMPORTS,
            V8_FLAGS,
            "--no-check",
            "src/main.ts",
            "--config",
            options.config,
            "--port",
            `${port}`,
          ],
          cwd: ROOT,
          env: { ...START_ENVIRONMENT, NO_COLOR: "1" },
          stdin: "null",
          stdout: "piped",
          stderr: "piped",
        }).spawn();
        void read(child.stderr, (line) => {
          log.writeSync(new TextEncoder().encode(`${index} ${line}\n`));
          // Refusals by plan are many, and stack traces long; the file has them all.
          if (line.includes("The plan says so") || !/^(\d{4}-|error|Uncaught)/.test(line)) return;
          const kind = line.replace(/^\S+ /, "").replace(/gen_\w+|node_\w+|\d+/g, "#");
          nodes.logs.set(kind, (nodes.logs.get(kind) ?? 0) + 1);
        });
        let listened = false;
        await read(child.stdout, (line) => {
          if (line.startsWith("sluice listening")) listened = self.up = true;
        });
        self.up = false;
        const { code } = await child.status;
        if (restarting && code !== 0) nodes.badEnds++;
        restarting = false;
        if (!listened) {
          nodes.failedStarts++;
          await pause(200);
        }
      }
    }

    kept.push(keep());
    return self;
  }

  const kept: Promise<void>[] = [];
  async function end(): Promise<number[]> {
    if (ending) return [];
    ending = true;
    const codes = await Promise.all(nodes.list.map((n) => n.up ? n.end() : 0));
    await Promise.all(kept);
    log.close();
    return codes;
  }

  for (let i = 0; i < options.count; i++) nodes.list.push(node(i));
  return nodes;
}

async function read(stream: ReadableStream<Uint8Array>, onLine: (line: string) => void): Promise<void> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    lines.forEach(onLine);
  }
}

export { read as readLines };

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}

function configuration({ provider, store, journal }: NodesOptions) {
  const spend_limit = { amount: "1000", period: "month" };
  return {
    server: { port: 0, shutdown_grace_seconds: 20 },
    store: { url: store, journal },
    admin_key: ADMIN_KEY,
    providers: Object.fromEntries(APIS.map((api) => [api, {
      api,
      base_url: `${provider}/v1`,
      api_key: "chaos",
      retries: 0,
      // The provider refuses by plan; that nobody is sent there then is not what is tried here.
      breaker: { failures: 1_000_000, window_seconds: 1, open_seconds: 0.01 },
    }])),
    models: APIS.map((api) => ({
      id: `chaos/${api}`,
      routes: [{ provider: api, model: "m" }],
      pricing: { prompt: "0.000001", completion: "0.000002", input_cache_read: "0" },
      capabilities: { features: ["tools"] },
    })),
    search: { engine: "searxng", base_url: provider, price: "0.005" },
    accounts: [{ name: ACCOUNT, credits: CREDITS }],
    teams: TEAMS.map((name) => ({ name, account: ACCOUNT, spend_limit })),
    webhooks: [{
      url: `${provider}/hook`,
      secret: "chaos",
      events: ["budget.50", "budget.80", "budget.100"],
    }],
    keys: [
      ...KEYS.map((key, i) => ({
        ...key,
        team: TEAMS[i % TEAMS.length],
        spend_limit,
        session_limit: { amount: "50" },
        tag_limits: [{ tag: "customer", amount: "50", period: "total" }],
      })),
      { ...TIGHT, account: ACCOUNT, spend_limit: { amount: TIGHT_LIMIT, period: "total" } },
    ],
  };
}
