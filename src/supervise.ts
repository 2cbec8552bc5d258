/** The process that starts workers, and what a worker knows of it. */
import type { WorkerPlace } from "./assembly/gateway.ts";
import type { Flags } from "./config/load.ts";
import { LAZY_IMPORTS, V8_FLAGS } from "./memory.ts";
import type { WorkersEnd } from "./workers.ts";

/** The variable that holds a worker's place among those that share a port, and that port once the first one has it: `2/4:8787`. */
export const WORKER = "SLUICE_WORKER";

/** The variable that tells a worker where its hub is. */
export const HUB = "SLUICE_HUB";

/** A worker's place; `port` null: it listens where its configuration says. */
export function workerOf(text: string | undefined): WorkerPlace & { port: number | null } | null {
  const match = /^(\d+)\/(\d+)(?::(\d+))?$/.exec(text ?? "");
  return match &&
    { which: Number(match[1]), of: Number(match[2]), port: match[3] === undefined ? null : Number(match[3]) };
}

/** Longest that a worker takes to write its records and exit, once its generations have ended or their time is up. */
const EXIT_MS = 30_000;

/** A terminal and the parent process both pass on one Ctrl-C. */
export const SAME_SIGNAL_MS = 500;

/** What workers may do. They start no programs, and call no foreign code. */
const WORKER_PERMISSIONS =
  "--no-prompt --allow-net --allow-env --allow-read --allow-write --allow-sys=hostname,networkInterfaces --deny-import";

export interface Supervised {
  /** The configuration that workers are told of; undefined: they find it in the environment. */
  source: string | undefined;
  flags: Flags;
  count: number;
  /** How long generations under way may take when the program is told to end, in milliseconds. */
  graceMs: number;
  /** What workers may do, as flags of Deno with spaces between; undefined: the usual. */
  permissions: string | undefined;
  /** Attributes of the service that telemetry exports, as in `OTEL_RESOURCE_ATTRIBUTES`; null: it is off. */
  resource: string | null;
  /** Address of the program's own first module. */
  main: string;
  log(line: string): void;
}

/** Runs workers until a signal ends them. */
export async function supervise(
  { source, flags, count, graceMs, permissions, resource, main, log }: Supervised,
): Promise<WorkersEnd> {
  // Without a configuration of its own Deno would look for one where the operator happens to be.
  const root = `${import.meta.dirname}/..`;
  const project = [`--config=${root}/deno.json`, `--lock=${root}/.deno/runtime.lock`];
  const given = (permissions || WORKER_PERMISSIONS).split(" ");
  const self = Deno.build.standalone
    ? []
    : ["run", ...given, "--unstable-net", LAZY_IMPORTS, V8_FLAGS, ...project, main];
  const [{ openHub }, { runWorkers }] = await Promise.all([
    import("./assembly/siblings.ts"),
    import("./workers.ts"),
  ]);
  const hub = openHub();
  const workers = runWorkers({
    count,
    print: (line) => console.log(line),
    log,
    patienceMs: graceMs + EXIT_MS,
    spawn(which, port) {
      const args = [...self, "serve"];
      if (source !== undefined) args.push(`--config=${source}`);
      if (flags.hostname !== undefined) args.push(`--hostname=${flags.hostname}`);
      if (flags.port !== undefined) args.push(`--port=${flags.port}`);
      // It wins over the file for a worker, too.
      if (flags.workers !== undefined) args.push(`--workers=${flags.workers}`);
      if (flags.demo) args.push("--demo");
      // Its end is how a worker learns that nobody looks after it any more.
      const options = {
        args,
        env: {
          // No argument: those win over the file, and of a reload this worker would not see what is wrong with the file's port.
          [WORKER]: `${which}/${count}${port === null ? "" : `:${port}`}`,
          [HUB]: hub.address,
          ...(resource !== null && instanceOf(resource)),
        },
        stdin: "piped",
        stdout: "piped",
      } as const;
      return new Deno.Command(Deno.execPath(), options).spawn();
    },
  });
  let stoppedAt = Infinity;
  const stop = () => {
    stoppedAt = Math.min(stoppedAt, performance.now());
    workers.stop();
  };
  Deno.addSignalListener("SIGTERM", stop);
  Deno.addSignalListener("SIGINT", () => {
    if (stoppedAt === Infinity) stop();
    else if (performance.now() - stoppedAt >= SAME_SIGNAL_MS) workers.hurry();
  });
  Deno.addSignalListener("SIGHUP", workers.reload);
  const end = await workers.ended;
  hub.close();
  return end;
}

/**
 * Each process exports, and what they export must not be taken for that of one. Deno's own metrics are of servers that are
 * not used here, and it waits for their export as a process exits.
 */
function instanceOf(resource: string): Record<string, string> {
  const instance = `service.instance.id=${crypto.randomUUID()}`;
  return {
    OTEL_RESOURCE_ATTRIBUTES: resource === "" ? instance : `${resource},${instance}`,
    OTEL_DENO_METRICS: "false",
  };
}

/** Resolves when the process that started this worker has ended. */
export async function parentGone(): Promise<void> {
  const buffer = new Uint8Array(64);
  while (await Deno.stdin.read(buffer) !== null);
}
