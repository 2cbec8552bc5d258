/**
 * The programs of the benchmark: started each as a process of its own, pinned to a core where `taskset` is there, and ended
 * with the benchmark.
 */
import { LAZY_IMPORTS, START_ENVIRONMENT, V8_FLAGS } from "../../src/memory.ts";
import { CA } from "../support/tls.ts";
import { lines } from "./lines.ts";
import type { Job, Seen } from "./load.ts";

/** What is measured has one core, and whoever works for the measurement another. */
const MEASURED_CORE = 0;
const HELPER_CORE = 1;

const ROOT = new URL("../../", import.meta.url);
const FILES = new URL("./", import.meta.url);

export const SECRET = "sk_live_benchbenchbenchbenchbenchbench01";
/**
 * Keys whose texts are scanned: all default types, mask mode; one whose answers are, too; and one that blocks, to see whether
 * scanning works.
 */
export const MASKING_SECRET = "sk_live_benchbenchbenchbenchbenchbench02";
export const ANSWERS_SECRET = "sk_live_benchbenchbenchbenchbenchbench04";
export const BLOCKING_SECRET = "sk_live_benchbenchbenchbenchbenchbench03";

export interface Program {
  pid: number;
  port: number;
  /** The last lines that it has written. */
  said(): readonly string[];
  stop(): Promise<void>;
}

export interface Load extends Program {
  work(job: Job): Promise<Seen>;
}

/** Whether programs are pinned: without that they take each other's time. */
export const PINNED = await pinnable();

async function pinnable(): Promise<boolean> {
  if (navigator.hardwareConcurrency < 2) return false;
  try {
    return (await new Deno.Command("taskset", { args: ["-c", `${HELPER_CORE}`, "true"] }).output()).success;
  } catch {
    return false;
  }
}

interface StartOptions {
  stdin?: "piped" | "null";
  env?: Record<string, string>;
  cwd?: string | URL;
}

/** @param core null: it may use all cores */
function start(
  core: number | null,
  args: string[],
  { stdin = "null", env, cwd = ROOT }: StartOptions = {},
): Deno.ChildProcess {
  const command = [Deno.execPath(), "run", "-A", "--no-check", ...args];
  const [program, ...rest] = PINNED && core !== null ? ["taskset", "-c", `${core}`, ...command] : command;
  const stderr = stdin === "piped" ? "inherit" : "piped";
  const child = new Deno.Command(program, { args: rest, cwd, env, stdin, stdout: "piped", stderr }).spawn();
  running.add(child);
  void child.status.then(() => running.delete(child));
  return child;
}

const running = new Set<Deno.ChildProcess>();

/** Ends whatever runs: for a benchmark that is interrupted. */
export function killAll(): void {
  for (const child of running) child.kill("SIGKILL");
}

async function stop(child: Deno.ChildProcess): Promise<void> {
  try {
    child.kill("SIGTERM");
  } catch {
    // It has ended already.
  }
  const late = setTimeout(() => child.kill("SIGKILL"), 5000);
  await child.status;
  clearTimeout(late);
}

const LINES_KEPT = 20;

/** Waits for the line that names the port. What comes after it is read too, so that no program waits for a reader. */
async function listening(child: Deno.ChildProcess): Promise<Program> {
  const said: string[] = [];
  const hear = async (output: AsyncIterable<string>) => {
    for await (const line of output) if (said.push(line) > LINES_KEPT) said.shift();
  };
  const complaints = hear(lines(child.stderr));
  const output = lines(child.stdout);
  while (true) {
    const { value, done } = await output.next();
    if (done) {
      await complaints;
      throw new Error(`A program of the benchmark ended:\n${said.join("\n")}`);
    }
    const port = /(?:^|(?:127\.0\.0\.1|localhost):)(\d+)$/.exec(value)?.[1];
    if (port === undefined) continue;
    void hear(output);
    return { pid: child.pid, port: Number(port), said: () => said, stop: () => stop(child) };
  }
}

/** A provider, in the open or behind TLS, and what its clients must trust. */
export interface ProviderProgram extends Program {
  address: string;
  /** What `deno run` is told of its certificate. */
  trust: readonly string[];
}

/** @param port 0: any that is free */
export async function startProvider(port = 0): Promise<ProviderProgram> {
  const program = await listening(start(HELPER_CORE, [`${FILES.pathname}provider.ts`, "plain", `${port}`]));
  return { ...program, address: `http://127.0.0.1:${program.port}/v1`, trust: [] };
}

/**
 * @param folder for the certificate's authority
 * @param http2 whether it offers HTTP/2 beside HTTP/1.1
 */
export async function startTlsProvider(folder: string, http2 = false): Promise<ProviderProgram> {
  const authority = `${folder}/authority.pem`;
  await Deno.writeTextFile(authority, CA);
  const args = http2 ? ["provider_http2.ts"] : ["provider.ts", "tls"];
  const program = await listening(start(HELPER_CORE, [`${FILES.pathname}${args[0]}`, ...args.slice(1)]));
  return { ...program, address: `https://localhost:${program.port}/v1`, trust: ["--cert", authority] };
}

/** @param tls behind TLS, HTTP/2 offered */
export function startRelay(
  name: "json" | "byob",
  { address, trust }: ProviderProgram,
  { tls = false } = {},
): Promise<Program> {
  const more = tls ? ["tls"] : [];
  return listening(start(MEASURED_CORE, [...trust, `${FILES.pathname}relays.ts`, name, address, ...more]));
}

/** The gateway as an operator starts it, over a store file of its own in `folder`. */
export async function startGateway(
  folder: string,
  provider: ProviderProgram,
  { args = [], flags = [], env, store, keys = [], models = [], sections, root, anyCore = false }:
    GatewayOptions = {},
): Promise<Program> {
  const path = `${folder}/bench.json`;
  const config = configuration(provider.address, store ?? `sqlite:${folder}/bench.db`);
  config.keys.push(...keys);
  config.models.push(...models);
  await Deno.writeTextFile(path, JSON.stringify({ ...config, ...sections }));
  const command = [
    ...flags,
    ...provider.trust,
    LAZY_IMPORTS,
    V8_FLAGS,
    "src/main.ts",
    "--config",
    path,
    ...args,
  ];
  const options = { env: { ...START_ENVIRONMENT, ...env }, cwd: root };
  return listening(start(anyCore ? null : MEASURED_CORE, command, options));
}

/** Takes what gateways export, and throws it away. */
export function startCollector(): Promise<Program> {
  return listening(start(HELPER_CORE, [`${FILES.pathname}collector.ts`]));
}

type Configuration = ReturnType<typeof configuration>;

export interface GatewayOptions {
  /** Further arguments of the program. */
  args?: readonly string[];
  /** Further arguments of `deno run`. */
  flags?: readonly string[];
  /** It has all cores, and not one of its own. */
  anyCore?: boolean;
  /** Where its sources are; absent: these. */
  root?: string;
  /** Sections of the configuration in place of the usual ones. */
  sections?: Record<string, unknown>;
  /** Variables of its environment besides those of the benchmark. */
  env?: Record<string, string>;
  /** Address of its store; absent: a SQLite file. */
  store?: string;
  /** Besides those that the measures use. */
  keys?: Configuration["keys"];
  models?: Configuration["models"];
}

/** The models that measures ask for; the provider does what the name says. */
export const MODELS = [
  "whole",
  "search",
  "stream-50-1",
  "stream-100-5",
  "stream-200-5",
  "stream-4-1000",
] as const;

interface KeyConfig {
  name: string;
  secret: string;
  account: string;
  dlp_policy?: string;
}

/** Authentication, credits, spend limit, both rates and the ledger are all at work, with limits nobody reaches. */
function configuration(address: string, store: string) {
  const limits = {
    account: "bench",
    spend_limit: { amount: "1000000", period: "month" },
    rate_limit: { requests_per_minute: 2 ** 31, tokens_per_minute: 1e12 },
  };
  return {
    server: { port: 0, max_in_flight: 10_000 },
    store: { url: store },
    providers: {
      bench: { api: "openai-chat", base_url: address, api_key: "bench" },
    },
    models: MODELS.map((model: string) => ({
      id: `bench/${model}`,
      routes: [{ provider: "bench", model }],
      pricing: { prompt: "0.000000001", completion: "0.000000002" },
      capabilities: { features: ["tools"] },
    })),
    dlp_policies: {
      masking: { mode: "mask" },
      both: { mode: "mask", answers: "mask" },
      blocking: { mode: "block" },
    },
    accounts: [{ name: "bench", credits: "1000000" }],
    keys: [
      { name: "bench", secret: SECRET, ...limits } as KeyConfig,
      { name: "masking", secret: MASKING_SECRET, dlp_policy: "masking", ...limits },
      { name: "both", secret: ANSWERS_SECRET, dlp_policy: "both", ...limits },
      { name: "blocking", secret: BLOCKING_SECRET, dlp_policy: "blocking", ...limits },
    ],
  };
}

/** Sections of a gateway that screens nothing and has the usual bounds, as most are started. */
export const FEW_SECTIONS = {
  server: { port: 0 },
  dlp_policies: {},
  keys: configuration("", "").keys.slice(0, 1),
};

/** Sections of one with policies, and the usual bounds. */
export const SCREENING_SECTIONS = { server: { port: 0 } };

export function startLoad(provider: Program): Load {
  const child = start(HELPER_CORE, [`${FILES.pathname}load.ts`], { stdin: "piped" });
  const answers = lines(child.stdout);
  const input = child.stdin.getWriter();
  const encoder = new TextEncoder();
  return {
    pid: child.pid,
    port: 0,
    said: () => [],
    async work(job) {
      await input.write(encoder.encode(JSON.stringify({ ...job, helpers: [provider.pid] }) + "\n"));
      const { value, done } = await answers.next();
      if (done) throw new Error("The load program ended.");
      return JSON.parse(value);
    },
    async stop() {
      await input.close();
      await child.status;
    },
  };
}
