/**
 * The text of documents: PDF, and archives such as the files of office programs. Read in a thread of its own, because a
 * file made to do harm may take any time and memory that it is given.
 */
import { WorkerLine } from "../timing/worker_line.ts";
import type { DocumentJob } from "./document_worker.ts";
import type { DocumentKind, DocumentText } from "./kind.ts";
import { startThread } from "../timing/start_thread.ts";

export interface Documents {
  /** Null: it cannot be read, because it is encrypted, broken, or too much. The bytes are the reader's from then on; keys take turns. */
  read(kind: DocumentKind, bytes: Uint8Array<ArrayBuffer>, key?: string): Promise<DocumentText | null>;
  close(): void;
}

const LIMIT_MS = 5000;
const IDLE_MS = 15_000;
const MOST_WAITING = 64;

/** @param limitMs milliseconds that one document has */
export function openDocuments({ limitMs = LIMIT_MS }: { limitMs?: number } = {}): Documents {
  const line = new WorkerLine<DocumentJob, DocumentText>({
    start: () => startThread(new URL("./document_worker.ts", import.meta.url)),
    limitMs,
    idleMs: IDLE_MS,
    mostWaiting: MOST_WAITING,
  });
  return {
    read: (kind, bytes, key) => line.run({ kind, bytes }, { key, transfer: [bytes.buffer] }),
    close: () => line.close(),
  };
}
