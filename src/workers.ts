/**
 * Several processes on one port. This process starts them, forwards signals, and replaces workers that died.
 * It serves no requests.
 *
 * The kernel distributes connections among sockets that share an address (SO_REUSEPORT). Each worker is a
 * separate node that uses the same store. What workers print besides log lines is identical, so only that of
 * the first worker is printed. Log lines of all workers are printed.
 */
import type { Level } from "./exchange/log_level.ts";
import { atMost } from "./timing/waits.ts";
import { TextLineStream } from "@std/streams/text_line_stream.js";

/** The first line of a process that serves. */
const LISTENING = /^sluice listening on https?:\/\/.*:(\d+)$/;
/** A log line in JSON. Such lines are printed of every worker. */
const LOGGED = /^\{/;

/** A worker that ran for a shorter time, in milliseconds, is replaced after a pause, which doubles each time. */
const SHORT_LIFE_MS = 10_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** How long the last lines of a worker that has ended are waited for, in milliseconds. */
const LAST_LINES_MS = 1000;

export interface WorkersOptions {
  count: number;
  /**
   * Starts a worker. @param which its number, from 1 @param port the port that the system assigned to the
   * first worker; null for the first
   */
  spawn(which: number, port: number | null): Deno.ChildProcess;
  print(line: string): void;
  printError(line: string): void;
  log(line: string, level?: Level): void;
  /** Milliseconds within which workers have to end after a signal. Then they are killed. */
  patienceMs: number;
}

/** How the workers ended. */
export interface WorkersEnd {
  /** Exit status: not 0 if a worker could not listen. */
  status: number;
  /**
   * Whether a worker that had to end was killed instead: by this process, or by itself because its telemetry
   * collector did not answer.
   */
  killed: boolean;
}

export interface Workers {
  /** Resolves when all workers have ended. */
  ended: Promise<WorkersEnd>;
  stop(): void;
  /** Tells workers that are ending not to wait for calls in progress. */
  hurry(): void;
  reload(): void;
}

export function runWorkers(options: WorkersOptions): Workers {
  const group = new WorkerGroup(options);
  return {
    ended: group.run(),
    stop: () => group.stop(),
    hurry: () => group.signal("SIGINT"),
    reload: () => group.signal("SIGHUP"),
  };
}

interface StartedWorker {
  /** Its port once it listens; null if it ends before. */
  listening: Promise<number | null>;
  ended: Promise<Deno.CommandStatus>;
}

class WorkerGroup {
  readonly #options: WorkersOptions;
  readonly #alive = new Map<number, Deno.ChildProcess>();
  /** Ends the pauses before workers are replaced. */
  readonly #pauses = new Set<() => void>();
  #stopping = false;
  #killed = false;
  #killing: ReturnType<typeof setTimeout> | undefined;

  constructor(options: WorkersOptions) {
    this.#options = options;
  }

  async run(): Promise<WorkersEnd> {
    try {
      return await this.#run();
    } finally {
      clearTimeout(this.#killing);
    }
  }

  signal(signal: Deno.Signal): void {
    for (const child of this.#alive.values()) {
      try {
        child.kill(signal);
      } catch {
        // It has just ended.
      }
    }
  }

  stop(): void {
    this.#stopping = true;
    this.signal("SIGTERM");
    // When a worker exits, Deno may wait endlessly for a telemetry collector that does not answer.
    this.#killing ??= setTimeout(() => {
      this.#options.log("workers that did not end in time are killed", "warn");
      this.signal("SIGKILL");
    }, this.#options.patienceMs);
    for (const wake of this.#pauses) wake();
  }

  async #run(): Promise<WorkersEnd> {
    const { count, print, log } = this.#options;
    const said: string[] = [];
    let speak: (line: string) => void = (line) => said.push(line);
    const first = this.#start(1, null, (line) => speak(line));
    const port = await first.listening;
    if (port === null) {
      const { code } = await first.ended;
      return { status: this.#stopping ? 0 : code || 1, killed: this.#killed };
    }
    const others = this.#stopping
      ? []
      : Array.from({ length: count - 1 }, (_, i) => this.#start(i + 2, port, () => {}));
    const ports = await Promise.all(others.map(({ listening }) => listening));
    const failed = !this.#stopping && ports.includes(null);
    if (failed) {
      log("a worker could not start", "warn");
      this.stop();
    }
    if (!this.#stopping) {
      for (const line of said) print(line);
      speak = print;
    }
    await Promise.all([first, ...others].map(({ ended }, i) => this.#keep(i + 1, port, ended)));
    return { status: failed ? 1 : 0, killed: this.#killed };
  }

  /** Starts a worker. @param say gets its lines other than those of the log */
  #start(which: number, port: number | null, say: (line: string) => void): StartedWorker {
    const { spawn, print, printError } = this.#options;
    const child = spawn(which, port);
    this.#alive.set(which, child);
    const listening = Promise.withResolvers<number | null>();
    const output = readLines(child.stdout, (line) => {
      const match = LISTENING.exec(line);
      if (match) listening.resolve(Number(match[1]));
      if (LOGGED.test(line)) print(line);
      else say(line);
    });
    const errors = readLines(child.stderr, printError);
    const ended = child.status.then(async (status) => {
      this.#alive.delete(which);
      listening.resolve(null);
      // Its last lines. A program that it started may keep its output open.
      await atMost(LAST_LINES_MS, Promise.all([output, errors]));
      return status;
    });
    return { listening: listening.promise, ended };
  }

  /** Replaces a worker each time it ends, from its first end on. */
  async #keep(which: number, port: number, ended: Promise<Deno.CommandStatus>): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    for (let end = ended;;) {
      const began = performance.now();
      const { code, signal } = await end;
      if (this.#stopping) {
        this.#killed ||= signal === "SIGKILL";
        return;
      }
      this.#options.log(`worker ${which} ended (${signal ?? `status ${code}`}); starting another`, "warn");
      if (performance.now() - began < SHORT_LIFE_MS) {
        await this.#pause(pauseMs);
        pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
        if (this.#stopping) return;
      } else pauseMs = FIRST_PAUSE_MS;
      end = this.#start(which, port, () => {}).ended;
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#pauses.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#pauses.add(done);
    });
  }
}

async function readLines(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  each: (line: string) => void,
): Promise<void> {
  const lines: ReadableStream<string> = stream.pipeThrough(new TextDecoderStream()).pipeThrough(
    new TextLineStream(),
  );
  for await (const line of lines) each(line);
}
