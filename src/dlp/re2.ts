/**
 * Callers' patterns, run by RE2 in linear time and out of everybody's way.
 *
 * `re2-wasm` works in a worker: a 512-character pattern can take a second for 8 KB, or more than the 16 MiB it has, and
 * then only its worker ends (a new one is ready after some 50 ms; Deno 2.9.6, two cores). Work goes in one job at a
 * time, so that it is known whose pattern was at fault; the others' jobs go on in the next worker. Started at the first
 * pattern; whoever opens this closes it.
 *
 * Not re2js: 2.10 runs over prose at 3 to 7 MB/s where the worker gives 2 to 9, and would need the worker all the same.
 */
import type { Answer, Job } from "./re2_worker.ts";

export interface Span {
  start: number;
  end: number;
}

export type Outcome =
  /** For each text; `whole` is false where there were more matches than are looked for. */
  | { kind: "found"; spans: Span[][]; whole: boolean }
  /** The pattern cannot be used at all. */
  | { kind: "refused"; why: string }
  /** Time or memory ran out with these texts. */
  | { kind: "exhausted" };

export interface Re2 {
  /** Looks for a pattern in texts; empty matches are not counted. */
  find(pattern: string, texts: readonly string[]): Promise<Outcome>;
  /** Workers started so far: one, unless some were lost. */
  starts(): number;
  close(): void;
}

interface Waiting {
  job: Job;
  resolve(outcome: Outcome): void;
  /** Whether the job has already cost one worker, which others' patterns may have filled. */
  again: boolean;
}

/** Patterns that RE2 was found not to take: asking it again would cost the same again. */
const REFUSED_KEPT = 1000;
const TOO_LARGE = "it needs more memory than a pattern may have";

export interface Re2Options {
  /** Milliseconds that a pattern has, and more for each million units of text. */
  limitMs?: number;
}

export function openRe2({ limitMs = 2000 }: Re2Options = {}): Re2 {
  const queue: Waiting[] = [];
  const refused = new Map<string, string>();
  let worker: Worker | null = null;
  let running: Waiting | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastId = 0;
  let starts = 0;
  let closed = false;

  function start(): Worker {
    starts++;
    const made = new Worker(new URL("./re2_worker.ts", import.meta.url), { type: "module" });
    made.onmessage = (event: MessageEvent<Answer>) => {
      if (running?.job.id === event.data.id) take(event.data);
    };
    // A worker that cannot start, or dies of more than its module, must not end the process.
    made.onerror = (event) => {
      event.preventDefault();
      if (worker === made) lose();
    };
    return made;
  }

  function next(): void {
    if (running || queue.length === 0) return;
    running = queue.shift()!;
    let units = 0;
    for (const text of running.job.texts) units += text.length;
    // The first job of a worker waits for its start as well.
    timer = setTimeout(lose, limitMs * (1 + units / 1e6) + (worker ? 0 : START_MS));
    try {
      worker ??= start();
      worker.postMessage(running.job);
    } catch {
      // A host without workers: nothing is searched, and so nothing is called clean.
      lose();
    }
  }

  function finish(outcome: Outcome): void {
    clearTimeout(timer);
    const done = running;
    running = null;
    done?.resolve(outcome);
    next();
  }

  function take(answer: Answer): void {
    switch (answer.kind) {
      case "found":
        return finish({ kind: "found", spans: answer.spans.map(spansOf), whole: !answer.cut });
      case "refused":
        return refuse(answer.why);
      case "died": {
        stop();
        if (running!.again) return answer.compiling ? refuse(TOO_LARGE) : finish({ kind: "exhausted" });
        clearTimeout(timer);
        queue.unshift({ ...running!, again: true });
        running = null;
        next();
      }
    }
  }

  function refuse(why: string): void {
    if (refused.size >= REFUSED_KEPT) refused.delete(refused.keys().next().value!);
    refused.set(running!.job.pattern, why);
    finish({ kind: "refused", why });
  }

  function stop(): void {
    worker?.terminate();
    worker = null;
  }

  function lose(): void {
    stop();
    finish({ kind: "exhausted" });
  }

  return {
    find(pattern, texts) {
      const why = refused.get(pattern);
      if (why !== undefined) return Promise.resolve({ kind: "refused", why });
      if (closed) return Promise.resolve({ kind: "exhausted" });
      return new Promise((resolve) => {
        queue.push({ job: { id: ++lastId, pattern, texts }, resolve, again: false });
        next();
      });
    },
    starts: () => starts,
    close() {
      closed = true;
      stop();
      clearTimeout(timer);
      for (const waiting of [running, ...queue.splice(0)]) waiting?.resolve({ kind: "exhausted" });
      running = null;
    },
  };
}

/** A slow machine's time to start a worker. */
const START_MS = 5000;

function spansOf(flat: Uint32Array): Span[] {
  const spans: Span[] = [];
  for (let i = 0; i < flat.length; i += 2) spans.push({ start: flat[i], end: flat[i + 1] });
  return spans;
}
