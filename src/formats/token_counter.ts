/**
 * Counts tokens in a thread of its own: to load the tokenizer takes 300 ms, and to count a long text seconds.
 *
 * Texts go to the thread in pieces of some milliseconds, one at a time, and keys take turns. The thread starts with the
 * first count; where it cannot, this one counts, in turns of the event loop. Whoever opens this closes it.
 */
import { FairQueue } from "../timing/fair_queue.ts";
import { countAll, pieces } from "./tokens.ts";
import type { TokenAnswer, TokenJob } from "./token_worker.ts";

export interface CountOptions {
  /** Counting stops soon after so many. */
  enough?: number;
  /** Who asks. */
  key?: string;
}

export interface TokenCounter {
  countAll(texts: Iterable<string>, options?: CountOptions): Promise<number>;
  close(): void;
}

interface Piece {
  key: string;
  texts: readonly string[];
  resolve(tokens: number | null): void;
}

/** @param start for tests */
export function openTokenCounter(start: () => Worker = startWorker): TokenCounter {
  const waiting = new FairQueue<Piece>();
  let worker: Worker | null = null;
  let running: Piece | null = null;
  let lastId = 0;
  /** There is no thread to count in. */
  let absent = false;

  function next(): void {
    if (running || waiting.length === 0) return;
    running = waiting.shift();
    try {
      worker ??= listen(start());
      const job: TokenJob = { id: ++lastId, texts: running.texts };
      worker.postMessage(job);
    } catch {
      lose();
    }
  }

  function listen(made: Worker): Worker {
    made.onmessage = ({ data }: MessageEvent<TokenAnswer>) => {
      if (data.id === lastId) finish(data.tokens);
    };
    made.onerror = (event) => {
      event.preventDefault();
      lose();
    };
    return made;
  }

  function finish(tokens: number | null): void {
    const done = running;
    running = null;
    done?.resolve(tokens);
    next();
  }

  /** From now on nothing is counted there; what waits is told so. */
  function lose(): void {
    absent = true;
    worker?.terminate();
    worker = null;
    finish(null);
    while (waiting.length > 0) waiting.shift().resolve(null);
  }

  function count(texts: readonly string[], key: string): Promise<number | null> {
    if (absent) return Promise.resolve(null);
    return new Promise((resolve) => {
      waiting.push(key, { key, texts, resolve });
      next();
    });
  }

  return {
    async countAll(texts, { enough = Infinity, key = "" } = {}) {
      let tokens = 0;
      for (const piece of pieces(texts)) {
        tokens += await count(piece, key) ?? await countAll(piece);
        if (tokens > enough) break;
      }
      return tokens;
    },
    close: lose,
  };
}

function startWorker(): Worker {
  return new Worker(new URL("./token_worker.ts", import.meta.url), { type: "module" });
}
