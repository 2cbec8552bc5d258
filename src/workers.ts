/**
 * Several processes on one port: this one starts them, passes signals on and replaces those that died; it serves nothing itself.
 *
 * The kernel deals connections out among sockets that share an address (SO_REUSEPORT). Each worker is a node of its own
 * over the same store. What workers print on stdout is theirs to say once, so only the first one's is passed on; lines of a log
 * are passed on of all.
 */
import { TextLineStream } from "@std/streams/text_line_stream.js";

/** What the first line of a serving process looks like. */
const LISTENING = /^sluice listening on https?:\/\/.*:(\d+)$/;
/** A line of the log as JSON: of these, those of every worker count. */
const LOGGED = /^\{/;

/** A worker that lived shorter than this is replaced only after a pause, which doubles, in milliseconds. */
const SHORT_LIFE_MS = 10_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

export interface WorkersOptions {
  count: number;
  /** Starts one: `which` counts from 1; `port` is what the first one was given by the system, null for the first. */
  spawn(which: number, port: number | null): Deno.ChildProcess;
  print(line: string): void;
  log(line: string): void;
  /** How long workers may take to end once they are told to, in milliseconds; then they are killed. */
  patienceMs: number;
}

/** How they ended. */
export interface WorkersEnd {
  /** For the exit: not 0 when one could not even begin to listen. */
  status: number;
  /** Whether one was told to end and was killed instead: by this process, or by itself, where a collector of telemetry hung. */
  killed: boolean;
}

export interface Workers {
  /** Resolves once all have ended. */
  ended: Promise<WorkersEnd>;
  stop(): void;
  /** Those that still end need not wait for what is under way. */
  hurry(): void;
  reload(): void;
}

export function runWorkers(options: WorkersOptions): Workers {
  const { count, spawn, print, log, patienceMs } = options;
  const alive = new Map<number, Deno.ChildProcess>();
  const pauses = new Set<() => void>();
  let stopping = false;
  let killed = false;
  let killing: ReturnType<typeof setTimeout> | undefined;

  function signalAll(signal: Deno.Signal): void {
    for (const child of alive.values()) {
      try {
        child.kill(signal);
      } catch {
        // It has just ended.
      }
    }
  }

  function stop(): void {
    stopping = true;
    signalAll("SIGTERM");
    // Deno waits for a collector of telemetry that hangs, as a process exits.
    killing ??= setTimeout(() => {
      log("workers that did not end in time are killed");
      signalAll("SIGKILL");
    }, patienceMs);
    for (const wake of pauses) wake();
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        pauses.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      pauses.add(done);
    });
  }

  /** Starts a worker; resolves with its port once it listens, null if it ends before. */
  function start(which: number, port: number | null, say: (line: string) => void) {
    const child = spawn(which, port);
    alive.set(which, child);
    const listening = Promise.withResolvers<number | null>();
    void readLines(child.stdout, (line) => {
      const match = LISTENING.exec(line);
      if (match) listening.resolve(Number(match[1]));
      if (LOGGED.test(line)) print(line);
      else say(line);
    });
    const ended = child.status.then((status) => {
      alive.delete(which);
      listening.resolve(null);
      return status;
    });
    return { listening: listening.promise, ended };
  }

  /** Keeps one worker going, from its first end on. */
  async function keep(which: number, port: number, ended: Promise<Deno.CommandStatus>): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    for (let end = ended;;) {
      const began = performance.now();
      const { code, signal } = await end;
      if (stopping) {
        killed ||= signal === "SIGKILL";
        return;
      }
      log(`worker ${which} ended (${signal ?? `status ${code}`}); starting another`);
      if (performance.now() - began < SHORT_LIFE_MS) {
        await pause(pauseMs);
        pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
        if (stopping) return;
      } else pauseMs = FIRST_PAUSE_MS;
      end = start(which, port, () => {}).ended;
    }
  }

  async function run(): Promise<WorkersEnd> {
    const said: string[] = [];
    let speak: (line: string) => void = (line) => said.push(line);
    const first = start(1, null, (line) => speak(line));
    const port = await first.listening;
    if (port === null) return { status: (await first.ended).code || 1, killed };
    const others = Array.from({ length: count - 1 }, (_, i) => start(i + 2, port, () => {}));
    const ports = await Promise.all(others.map((o) => o.listening));
    if (!stopping && ports.includes(null)) {
      log("a worker could not start");
      stop();
    }
    if (!stopping) {
      for (const line of said) print(line);
      speak = print;
    }
    await Promise.all([first, ...others].map(({ ended }, i) => keep(i + 1, port, ended)));
    return { status: ports.includes(null) ? 1 : 0, killed };
  }

  return {
    ended: run().finally(() => clearTimeout(killing)),
    stop,
    hurry: () => signalAll("SIGINT"),
    reload: () => signalAll("SIGHUP"),
  };
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
