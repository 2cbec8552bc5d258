/**
 * The text of documents: PDF, and archives such as the files of office programs. Read in a thread of its own, which is
 * started when the first document comes, because a file made to do harm may take any time and memory that it is given.
 */

import type { DocumentJob, DocumentReply } from "./document_worker.ts";
import type { DocumentKind, DocumentText } from "./kind.ts";

export interface Documents {
  /** Null: it cannot be read, because it is encrypted, broken, or too much. The bytes are the reader's from then on. */
  read(kind: DocumentKind, bytes: Uint8Array<ArrayBuffer>): Promise<DocumentText | null>;
  close(): void;
}

/** Milliseconds that one document has. */
const LIMIT_MS = 5000;
/** Documents that wait for the one that is read; another is not read at all. */
const MOST_WAITING = 64;
/** A worker that has nothing to do for so long is ended: it holds some 60 MB. */
const IDLE_MS = 15_000;

interface Waiting {
  job: DocumentJob;
  done(read: DocumentText | null): void;
}

export function openDocuments({ limitMs = LIMIT_MS }: { limitMs?: number } = {}): Documents {
  const line: Waiting[] = [];
  let worker: Worker | null = null;
  let running: Waiting | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastId = 0;
  let closed = false;

  function start(): Worker {
    const made = new Worker(new URL("./document_worker.ts", import.meta.url), { type: "module" });
    made.onmessage = (event: MessageEvent<DocumentReply>) => {
      if (running?.job.id === event.data.id) finish(event.data.read);
    };
    // A worker that dies of a document must not end the process.
    made.onerror = (event) => {
      event.preventDefault();
      if (worker === made) lose();
    };
    return made;
  }

  function lose(): void {
    worker?.terminate();
    worker = null;
    finish(null);
  }

  function finish(read: DocumentText | null): void {
    clearTimeout(timer);
    running?.done(read);
    running = null;
    next();
  }

  function next(): void {
    if (running !== null || closed) return;
    const waiting = line.shift();
    if (waiting === undefined) {
      timer = setTimeout(() => {
        worker?.terminate();
        worker = null;
      }, IDLE_MS);
      Deno.unrefTimer(timer as unknown as number);
      return;
    }
    clearTimeout(timer);
    running = waiting;
    worker ??= start();
    timer = setTimeout(lose, limitMs);
    worker.postMessage(waiting.job, [waiting.job.bytes.buffer]);
  }

  return {
    read(kind, bytes) {
      if (closed || line.length >= MOST_WAITING) return Promise.resolve(null);
      return new Promise((done) => {
        line.push({ job: { id: ++lastId, kind, bytes }, done });
        next();
      });
    },
    close() {
      closed = true;
      clearTimeout(timer);
      worker?.terminate();
      worker = null;
      running?.done(null);
      for (const { done } of line.splice(0)) done(null);
    },
  };
}
