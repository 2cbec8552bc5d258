/** The process that starts the workers, and the settings that it passes to them. */
import type { Level } from "./exchange/log_level.ts";
import type { WorkerPlace } from "./assembly/gateway.ts";
import type { Flags } from "./config/load.ts";
import { LAZY_IMPORTS, V8_FLAGS } from "./memory.ts";
import type { WorkersEnd } from "./workers.ts";

/**
 * The variable with a worker's number, the number of workers, and the shared port once the first worker has
 * it: `2/4:8787`.
 */
export const WORKER = "SLUICE_WORKER";

/** The variable with the address of the hub that connects the workers. */
export const HUB = "SLUICE_HUB";

/** A worker's number; `port` null: the worker listens on the configured port. */
export function workerOf(text: string | undefined): WorkerPlace & { port: number | null } | null {
  const match = /^(\d+)\/(\d+)(?::(\d+))?$/.exec(text ?? "");
  return match &&
    { which: Number(match[1]), of: Number(match[2]), port: match[3] === undefined ? null : Number(match[3]) };
}

/**
 * The longest time in milliseconds that a worker takes to write its records and exit, after its generations
 * have ended or their grace period is over.
 */
const EXIT_MS = 30_000;

/**
 * Both the terminal and the parent process forward a Ctrl-C, so two signals within this time, in
 * milliseconds, count as one.
 */
export const SAME_SIGNAL_MS = 500;

/** Usual permissions of workers. They load no native code, and start no programs but those that print credentials. */
const WORKER_PERMISSIONS =
  "--no-prompt --allow-net --allow-env --allow-read --allow-write --allow-sys=hostname,networkInterfaces --deny-import";

/**
 * Flags of a command line, as `sluice permissions` prints them: one per line, so that a path may contain blanks;
 * or separated by blanks. An empty argument would be taken for the program that Deno is to run.
 */
export function flagsOf(text: string): string[] {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return lines.length > 1 ? lines : lines.flatMap((line) => line.split(/[ \t]+/));
}

export interface Supervised {
  /** The configuration that is passed to workers; undefined: they read it from the environment. */
  source: string | undefined;
  flags: Flags;
  count: number;
  /** The grace period for generations in progress when the program ends, in milliseconds. */
  graceMs: number;
  /** Permissions of workers, as for {@link flagsOf}; undefined: the usual ones. */
  permissions: string | undefined;
  /** Programs that workers may run with their usual permissions. */
  programs: readonly string[];
  /** Resource attributes for telemetry, as in `OTEL_RESOURCE_ATTRIBUTES`; null: telemetry is off. */
  resource: string | null;
  /** URL of the program's main module. */
  main: string;
  log(line: string, level?: Level): void;
  /** Print a line that a worker has written. */
  print(line: string): void;
  printError(line: string): void;
}

/** Runs workers until a signal ends them. */
export async function supervise(
  { source, flags, count, graceMs, permissions, programs, resource, main, log, print, printError }:
    Supervised,
): Promise<WorkersEnd> {
  // Without this, Deno would look for a deno.json in the working directory.
  const root = `${import.meta.dirname}/..`;
  const project = [`--config=${root}/deno.json`, `--lock=${root}/.deno/runtime.lock`];
  const given = permissions
    ? flagsOf(permissions)
    : [...flagsOf(WORKER_PERMISSIONS), ...(programs.length > 0 ? [`--allow-run=${programs.join(",")}`] : [])];
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
    print,
    printError,
    log,
    patienceMs: graceMs + EXIT_MS,
    spawn(which, port) {
      const args = [...self, "serve"];
      if (source !== undefined) args.push(`--config=${source}`);
      if (flags.hostname !== undefined) args.push(`--hostname=${flags.hostname}`);
      if (flags.port !== undefined) args.push(`--port=${flags.port}`);
      // The argument overrides the file for workers too.
      if (flags.workers !== undefined) args.push(`--workers=${flags.workers}`);
      if (flags.demo) args.push("--demo");
      // The supervisor never writes to this pipe. When it closes, the worker knows that the supervisor has
      // ended.
      const options = {
        args,
        env: {
          // Not passed as an argument, which would override the file: then a reload would not report mistakes
          // in the file's port.
          [WORKER]: `${which}/${count}${port === null ? "" : `:${port}`}`,
          [HUB]: hub.address,
          ...(resource !== null && instanceOf(resource)),
        },
        stdin: "piped",
        stdout: "piped",
        // Several processes that wrote to one pipe would divide each other's lines.
        stderr: "piped",
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
 * Each process exports its own telemetry, so each needs its own instance id. Deno's own metrics concern
 * servers that are not used here, and their export would delay the exit of the process.
 */
function instanceOf(resource: string): Record<string, string> {
  const instance = `service.instance.id=${crypto.randomUUID()}`;
  return {
    OTEL_RESOURCE_ATTRIBUTES: resource === "" ? instance : `${resource},${instance}`,
    OTEL_DENO_METRICS: "false",
  };
}

/** Resolves when the process that started this worker has ended. */
export async function parentEnded(): Promise<void> {
  const buffer = new Uint8Array(64);
  while (await Deno.stdin.read(buffer) !== null);
}
