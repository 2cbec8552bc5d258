/**
 * Counts tokens in a worker: loading the tokenizer takes 300 ms, and counting a long text takes seconds.
 *
 * Texts are sent to the worker in pieces of some milliseconds, one at a time, and keys take turns. The worker
 * is started with the first count; if that fails, the main thread counts in turns of the event loop. The
 * owner must close this object.
 */
import { Failure } from "../../exchange/failure.ts";
import { FairQueue } from "../../timing/fair_queue.ts";
import { countAll, pieces } from "./tokenizer.ts";
import type { TokenAnswer, TokenJob } from "./worker.ts";
import { OutOfFiles, startThread } from "../../timing/start_thread.ts";

export interface CountOptions {
  /** Counting stops soon after this number. */
  enough?: number;
  /**
   * Unnatural text takes up to a hundred times as long as prose, so counting ends after some seconds: the
   * rest is omitted, or estimated by extrapolation.
   */
  rest?: "left out" | "estimated";
  /** The key for fair queueing. */
  key?: string;
}

export interface TokenCounter {
  countAll(texts: Iterable<string>, options?: CountOptions): Promise<number>;
  close(): void;
}

/** Time limit of one count in the worker, in milliseconds: prose of maximum length takes a third of it. */
const MOST_MS = 3000;

interface Piece {
  key: string;
  texts: readonly string[];
  resolve(counted: Counted | null): void;
  reject(thrown: Failure): void;
}

interface Counted {
  tokens: number;
  ms: number;
}

export interface TokenCounterOptions {
  /** For tests. */
  start?(): Worker;
  mostMs?: number;
}

export function openTokenCounter(
  { start = startWorker, mostMs = MOST_MS }: TokenCounterOptions = {},
): TokenCounter {
  const waiting = new FairQueue<Piece>();
  let worker: Worker | null = null;
  let running: Piece | null = null;
  let lastId = 0;
  /** Workers are not available. */
  let absent = false;

  function next(): void {
    if (running || waiting.length === 0) return;
    running = waiting.shift();
    try {
      worker ??= listen(start());
      const job: TokenJob = { id: ++lastId, texts: running.texts };
      worker.postMessage(job);
    } catch (thrown) {
      if (!(thrown instanceof OutOfFiles)) return lose();
      // Loading the tokenizer in the main thread needs file handles too, and would end the process if there
      // are none.
      refuse(thrown);
    }
  }

  function listen(made: Worker): Worker {
    made.onmessage = ({ data }: MessageEvent<TokenAnswer>) => {
      if (data.id === lastId) finish(data);
    };
    made.onerror = (event) => {
      event.preventDefault();
      lose();
    };
    return made;
  }

  function finish(counted: Counted | null): void {
    const done = running;
    running = null;
    done?.resolve(counted);
    next();
  }

  function refuse(cause: OutOfFiles): void {
    const refused = running;
    running = null;
    refused?.reject(
      new Failure("service_unavailable", "Tokens cannot be counted just now; try again soon.", { cause }),
    );
    next();
  }

  /** Rejects waiting and future counts. */
  function lose(): void {
    absent = true;
    worker?.terminate();
    worker = null;
    finish(null);
    while (waiting.length > 0) waiting.shift().resolve(null);
  }

  function count(texts: readonly string[], key: string): Promise<Counted | null> {
    if (absent) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      waiting.push(key, { key, texts, resolve, reject });
      next();
    });
  }

  return {
    async countAll(texts, { enough = Infinity, key = "", rest = "left out" } = {}) {
      const all = [...texts];
      let tokens = 0;
      let chars = 0;
      let msLeft = mostMs;
      for (const piece of pieces(all)) {
        const counted = await count(piece, key) ?? await countHere(piece);
        tokens += counted.tokens;
        chars += charsOf(piece);
        msLeft -= counted.ms;
        if (tokens > enough) break;
        if (msLeft <= 0) return rest === "estimated" ? Math.ceil(tokens * charsOf(all) / chars) : tokens;
      }
      return tokens;
    },
    close: lose,
  };
}

async function countHere(texts: readonly string[]): Promise<Counted> {
  const begun = performance.now();
  return { tokens: await countAll(texts), ms: performance.now() - begun };
}

function charsOf(texts: readonly string[]): number {
  let chars = 0;
  for (const text of texts) chars += text.length;
  return chars;
}

function startWorker(): Worker {
  return startThread(new URL("./worker.ts", import.meta.url));
}
