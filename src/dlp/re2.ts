/**
 * Callers' patterns, run by RE2 in linear time and out of everybody's way.
 *
 * `re2-wasm` works in a worker: a 512-character pattern can take a second for 8 KB, or more than the 16 MiB it has, and
 * then only its worker ends (a new one is ready after some 50 ms; Deno 2.9.6, two cores). Work goes in one job at a
 * time, so that it is known whose pattern was at fault; the others' jobs go on in the next worker. There are two workers,
 * and a key has one of them at most: what one key asks for never keeps all others waiting. Each is started when it is
 * first needed; whoever opens this closes it.
 *
 * Not re2js: 2.10 runs over prose at 3 to 7 MB/s where the worker gives 2 to 9, and would need the worker all the same.
 */
import type { Re2Job, Re2Reply } from "./re2_worker.ts";
import { startThread } from "../timing/start_thread.ts";

/** A place in a text, in UTF-16 units; `end` is behind it. */
export interface Re2Span {
  start: number;
  end: number;
}

/** What came of a search. */
export type Outcome =
  /** For each text; `whole` is false where there were more matches than are looked for. */
  | { kind: "found"; spans: Re2Span[][]; whole: boolean }
  /** The pattern cannot be used at all. */
  | { kind: "refused"; why: string }
  /** Time or memory ran out with these texts. */
  | { kind: "exhausted" };

export interface Re2 {
  /** Looks for a pattern in texts; empty matches are not counted. Keys take turns. Never rejects. */
  find(pattern: string, texts: readonly string[], key?: string): Promise<Outcome>;
  /** Workers started so far: one or two, unless some were lost. */
  starts(): number;
  close(): void;
}

interface Waiting {
  key: string;
  job: Re2Job;
  resolve(outcome: Outcome): void;
  /** Whether the job has already cost one worker, which others' patterns may have filled. */
  again: boolean;
}

/** A worker and what it does. */
interface Place {
  worker: Worker | null;
  running: Waiting | null;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** Whether this host can look for patterns; where it cannot, every search is exhausted. */
export const hasRe2 = (): boolean => typeof Worker === "function";

const PLACES = 2;
/** Patterns that RE2 was found not to take: asking it again would cost the same again. */
const REFUSED_KEPT = 1000;
const TOO_LARGE = "it needs more memory than a pattern may have";
/** A slow machine's time to start a worker. */
const START_MS = 5000;

export interface Re2Options {
  /** Milliseconds that a pattern has, and more for each million units of text. */
  limitMs?: number;
}

/** Starts no worker: the first search does. */
export function openRe2(options: Re2Options = {}): Re2 {
  return new Re2Workers(options);
}

class Re2Workers implements Re2 {
  readonly #limitMs: number;
  readonly #places = Array.from(
    { length: PLACES },
    (): Place => ({ worker: null, running: null, timer: undefined }),
  );
  /** By key, in the order of their turns. */
  readonly #lines = new Map<string, Waiting[]>();
  /** By pattern: why RE2 does not take it. */
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
      clearTimeout(place.timer);
      place.running = null;
    }
    for (const waiting of open) waiting?.resolve({ kind: "exhausted" });
  }

  /** Gives every free worker its next job. */
  #next(): void {
    // A worker that runs before one that must be started.
    const free = this.#places.filter(({ running }) => running === null)
      .sort((a, b) => Number(b.worker !== null) - Number(a.worker !== null));
    for (const place of free) {
      const waiting = this.#shift();
      if (waiting === undefined) return;
      this.#begin(place, waiting);
    }
  }

  /** The next job of a key that has no worker yet. */
  #shift(): Waiting | undefined {
    for (const [key, line] of this.#lines) {
      if (this.#places.some(({ running }) => running?.key === key)) continue;
      const waiting = line.shift()!;
      this.#lines.delete(key);
      // A map keeps the order of insertion: this key now comes last.
      if (line.length > 0) this.#lines.set(key, line);
      return waiting;
    }
  }

  #begin(place: Place, waiting: Waiting): void {
    place.running = waiting;
    let units = 0;
    for (const text of waiting.job.texts) units += text.length;
    // The first job of a worker waits for its start as well.
    const limit = this.#limitMs * (1 + units / 1e6) + (place.worker ? 0 : START_MS);
    place.timer = setTimeout(() => this.#lose(place), limit);
    try {
      place.worker ??= this.#start(place);
      place.worker.postMessage(waiting.job);
    } catch {
      // A host without workers, or no files for one: nothing is searched, and so nothing is called clean.
      this.#lose(place);
    }
  }

  #start(place: Place): Worker {
    this.#starts++;
    const made = startThread(new URL("./re2_worker.ts", import.meta.url));
    made.onmessage = (event: MessageEvent<Re2Reply>) => {
      if (place.running?.job.id === event.data.id) this.#take(place, event.data);
    };
    // A worker that cannot start, or dies of more than its module, must not end the process.
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
        clearTimeout(place.timer);
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
    clearTimeout(place.timer);
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
