/**
 * The programs of the benchmark: started each as a process of its own, pinned to a core where `taskset` is there, and ended
 * with the benchmark.
 */
import { V8_FLAGS } from "../../src/memory.ts";
import { lines } from "./lines.ts";
import type { Job, Seen } from "./load.ts";

/** What is measured has one core, and whoever works for the measurement another. */
const MEASURED_CORE = 0;
const HELPER_CORE = 1;

const ROOT = new URL("../../", import.meta.url);
const FILES = new URL("./", import.meta.url);

export const SECRET = "sk_live_benchbenchbenchbenchbenchbench01";
/** Keys whose texts are scanned: all default types, mask mode; and one that blocks, to see whether scanning works. */
export const MASKING_SECRET = "sk_live_benchbenchbenchbenchbenchbench02";
export const BLOCKING_SECRET = "sk_live_benchbenchbenchbenchbenchbench03";

export interface Program {
  pid: number;
  port: number;
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

function start(core: number, args: string[], stdin: "piped" | "null" = "null"): Deno.ChildProcess {
  const command = [Deno.execPath(), "run", "-A", "--no-check", ...args];
  const [program, ...rest] = PINNED ? ["taskset", "-c", `${core}`, ...command] : command;
  const stderr = stdin === "piped" ? "inherit" : "piped";
  const child = new Deno.Command(program, { args: rest, cwd: ROOT, stdin, stdout: "piped", stderr }).spawn();
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

/** Waits for the line that names the port. What comes after it is read too, so that no program waits for a reader. */
async function listening(child: Deno.ChildProcess): Promise<Program> {
  const complaints = Array.fromAsync(lines(child.stderr));
  const output = lines(child.stdout);
  while (true) {
    const { value, done } = await output.next();
    if (done) throw new Error(`A program of the benchmark ended:\n${(await complaints).join("\n")}`);
    const port = /(?:^|127\.0\.0\.1:)(\d+)$/.exec(value)?.[1];
    if (port === undefined) continue;
    void Array.fromAsync(output);
    return { pid: child.pid, port: Number(port), stop: () => stop(child) };
  }
}

export function startProvider(): Promise<Program> {
  return listening(start(HELPER_CORE, [`${FILES.pathname}provider.ts`]));
}

export function startRelay(name: "json" | "byob", provider: Program): Promise<Program> {
  const address = `http://127.0.0.1:${provider.port}/v1`;
  return listening(start(MEASURED_CORE, [`${FILES.pathname}relays.ts`, name, address]));
}

/** The gateway as an operator starts it, over a store file of its own in `folder`. */
export async function startGateway(
  folder: string,
  provider: Program,
  more: readonly string[] = [],
): Promise<Program> {
  const config = `${folder}/bench.json`;
  await Deno.writeTextFile(config, JSON.stringify(configuration(folder, provider)));
  return listening(start(MEASURED_CORE, [V8_FLAGS, "src/main.ts", "--config", config, ...more]));
}

/** The models that measures ask for; the provider does what the name says. */
export const MODELS = ["whole", "stream-50-1", "stream-100-5", "stream-200-5", "stream-4-1000"] as const;

/** Authentication, credits, spend limit, both rates and the ledger are all at work, with limits nobody reaches. */
function configuration(folder: string, provider: Program) {
  const limits = {
    account: "bench",
    spend_limit: { amount: "1000000", period: "month" },
    rate_limit: { requests_per_minute: 2 ** 31, tokens_per_minute: 1e12 },
  };
  return {
    server: { port: 0, max_in_flight: 10_000 },
    store: { url: `sqlite:${folder}/bench.db` },
    providers: {
      bench: { api: "openai-chat", base_url: `http://127.0.0.1:${provider.port}/v1`, api_key: "bench" },
    },
    models: MODELS.map((model) => ({
      id: `bench/${model}`,
      routes: [{ provider: "bench", model }],
      pricing: { prompt: "0.000000001", completion: "0.000000002" },
      capabilities: { features: ["tools"] },
    })),
    dlp_policies: { masking: { mode: "mask" }, blocking: { mode: "block" } },
    accounts: [{ name: "bench", credits: "1000000" }],
    keys: [
      { name: "bench", secret: SECRET, ...limits },
      { name: "masking", secret: MASKING_SECRET, dlp_policy: "masking", ...limits },
      { name: "blocking", secret: BLOCKING_SECRET, dlp_policy: "blocking", ...limits },
    ],
  };
}

export function startLoad(provider: Program): Load {
  const child = start(HELPER_CORE, [`${FILES.pathname}load.ts`], "piped");
  const answers = lines(child.stdout);
  const input = child.stdin.getWriter();
  const encoder = new TextEncoder();
  return {
    pid: child.pid,
    port: 0,
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
