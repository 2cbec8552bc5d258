/**
 * Runs custom patterns with RE2, in linear time and isolated from other work.
 *
 * `re2-wasm` runs in a worker: a pattern of 512 characters can take a second for 8 KB, or more than the 16
 * MiB available, and then only its worker ends (a new one is ready after about 50 ms; Deno 2.9.6, two cores).
 * Jobs are run one at a time, so that it is known which pattern caused a failure; the other jobs continue in
 * the next worker. There are two workers, and a key uses at most one of them, so one key cannot block all
 * others. Workers are started on demand; the owner must close this object.
 *
 * Not re2js: version 2.10 processes prose at 3 to 7 MB/s, the worker at 2 to 9, and re2js would need a worker
 * as well.
 */
import type { Re2Job, Re2Reply } from "./re2_worker.ts";
import { startThread } from "../timing/start_thread.ts";
import { PatientTimer } from "../timing/within.ts";

/** A range in a text, in UTF-16 units; `end` is exclusive. */
export interface Re2Span {
  start: number;
  end: number;
}

/** The result of a search. */
export type Outcome =
  /** Spans for each text; `whole` is false if there were more matches than the maximum. */
  | { kind: "found"; spans: Re2Span[][]; whole: boolean }
  /** RE2 rejects the pattern. */
  | { kind: "refused"; why: string }
  /** Time or memory was exhausted. */
  | { kind: "exhausted" };

export interface Re2 {
  /** Searches texts for a pattern; empty matches are ignored. Keys take turns. Never rejects. */
  find(pattern: string, texts: readonly string[], key?: string): Promise<Outcome>;
  /** Number of workers started so far: at most two, unless some failed. */
  starts(): number;
  close(): void;
}

interface Waiting {
  key: string;
  job: Re2Job;
  resolve(outcome: Outcome): void;
  /** Whether the job has already ended a worker, possibly because others' patterns had filled its memory. */
  again: boolean;
}

/** A worker and its current job. */
interface Place {
  worker: Worker | null;
  running: Waiting | null;
  /** Time limit of the job. */
  timer: PatientTimer | undefined;
}

/** Whether this host supports workers; if not, every search has the result `exhausted`. */
export const hasRe2 = (): boolean => typeof Worker === "function";

const PLACES = 2;
/** Cache of patterns rejected by RE2, since compiling them again is expensive. */
const REFUSED_KEPT = 1000;
const TOO_LARGE = "it needs more memory than a pattern may have";
/** Time for starting a worker on a slow machine, in milliseconds. */
const START_MS = 5000;

export interface Re2Options {
  /** Time limit per pattern in milliseconds, extended for each million units of text. */
  limitMs?: number;
}

/** Workers are started by the first search. */
export function openRe2(options: Re2Options = {}): Re2 {
  return new Re2Workers(options);
}

class Re2Workers implements Re2 {
  readonly #limitMs: number;
  readonly #places = Array.from(
    { length: PLACES },
    (): Place => ({ worker: null, running: null, timer: undefined }),
  );
  /** Queues by key, in the order of their turns. */
  readonly #lines = new Map<string, Waiting[]>();
  /** The reason by rejected pattern. */
  readonly #refused = new Map<string, string>();
  #lastId = 0;
  #starts = 0;
  #closed = false;

  constructor({ limitMs = 2000 }: Re2Options) {
    this.#limitMs = limitMs;
  }

  find(pattern: string, texts: readonly string[], key = ""): Promise<Outcome> {
    const why = this.#refused.get(pattern);
    if (why !== undefined) return Promise.resolve({ kind: "refused", why });
    if (this.#closed) return Promise.resolve({ kind: "exhausted" });
    return new Promise((resolve) => {
      const line = this.#lines.get(key);
      const waiting: Waiting = { key, job: { id: ++this.#lastId, pattern, texts }, resolve, again: false };
      if (line) line.push(waiting);
      else this.#lines.set(key, [waiting]);
      this.#next();
    });
  }

  starts(): number {
    return this.#starts;
  }

  close(): void {
    this.#closed = true;
    const open = [...this.#places.map(({ running }) => running), ...[...this.#lines.values()].flat()];
    this.#lines.clear();
    for (const place of this.#places) {
      stop(place);
      place.timer?.clear();
      place.running = null;
    }
    for (const waiting of open) waiting?.resolve({ kind: "exhausted" });
  }

  /** Assigns jobs to all free workers. */
  #next(): void {
    // Running workers before those that must be started.
    const free = this.#places.filter(({ running }) => running === null)
      .sort((a, b) => Number(b.worker !== null) - Number(a.worker !== null));
    for (const place of free) {
      const waiting = this.#shift();
      if (waiting === undefined) return;
      this.#begin(place, waiting);
    }
  }

  /** The next job of a key that has no worker at present. */
  #shift(): Waiting | undefined {
    for (const [key, line] of this.#lines) {
      if (this.#places.some(({ running }) => running?.key === key)) continue;
      const waiting = line.shift()!;
      this.#lines.delete(key);
      // Maps keep insertion order, so this key is last from here on.
      if (line.length > 0) this.#lines.set(key, line);
      return waiting;
    }
  }

  #begin(place: Place, waiting: Waiting): void {
    place.running = waiting;
    let units = 0;
    for (const text of waiting.job.texts) units += text.length;
    // The first job of a worker includes its start.
    const limit = this.#limitMs * (1 + units / 1e6) + (place.worker ? 0 : START_MS);
    place.timer = new PatientTimer(limit, () => this.#lose(place));
    try {
      place.worker ??= this.#start(place);
      place.worker.postMessage(waiting.job);
    } catch {
      // No workers, or no free file handles: the text counts as not scanned.
      this.#lose(place);
    }
  }

  #start(place: Place): Worker {
    this.#starts++;
    const made = startThread(new URL("./re2_worker.ts", import.meta.url));
    made.onmessage = (event: MessageEvent<Re2Reply>) => {
      if (place.running?.job.id === event.data.id) this.#take(place, event.data);
    };
    // A worker that fails to start, or crashes, must not end the process.
    made.onerror = (event) => {
      event.preventDefault();
      if (place.worker === made) this.#lose(place);
    };
    return made;
  }

  #take(place: Place, answer: Re2Reply): void {
    switch (answer.kind) {
      case "found":
        return this.#finish(place, { kind: "found", spans: answer.spans.map(spansOf), whole: !answer.cut });
      case "refused":
        return this.#refuse(place, answer.why);
      case "died": {
        stop(place);
        const waiting = place.running!;
        if (waiting.again) {
          return answer.compiling
            ? this.#refuse(place, TOO_LARGE)
            : this.#finish(place, { kind: "exhausted" });
        }
        place.timer?.clear();
        this.#begin(place, { ...waiting, again: true });
      }
    }
  }

  #refuse(place: Place, why: string): void {
    if (this.#refused.size >= REFUSED_KEPT) this.#refused.delete(this.#refused.keys().next().value!);
    this.#refused.set(place.running!.job.pattern, why);
    this.#finish(place, { kind: "refused", why });
  }

  #lose(place: Place): void {
    stop(place);
    this.#finish(place, { kind: "exhausted" });
  }

  #finish(place: Place, outcome: Outcome): void {
    place.timer?.clear();
    const done = place.running;
    place.running = null;
    done?.resolve(outcome);
    this.#next();
  }
}

function stop(place: Place): void {
  place.worker?.terminate();
  place.worker = null;
}

/** @param flat pairs of start and end */
function spansOf(flat: Uint32Array): Re2Span[] {
  const spans: Re2Span[] = [];
  for (let i = 0; i < flat.length; i += 2) spans.push({ start: flat[i], end: flat[i + 1] });
  return spans;
}
