/**
 * Extracts the text of documents: PDF, and archives such as office documents. They are read in a separate
 * thread, because a malicious file may use any amount of time and memory.
 */
import { WorkerLine } from "../timing/worker_line.ts";
import type { DocumentJob } from "./document_worker.ts";
import type { DocumentKind, DocumentText } from "./kind.ts";
import { startThread } from "../timing/start_thread.ts";

export interface Documents {
  /**
   * Resolves with null if the document is encrypted, damaged or too large. The bytes are transferred to the
   * worker. Documents of different keys are read in turn.
   */
  read(kind: DocumentKind, bytes: Uint8Array<ArrayBuffer>, key?: string): Promise<DocumentText | null>;
  close(): void;
}

const LIMIT_MS = 5000;
const IDLE_MS = 15_000;
const MOST_WAITING = 64;

/** @param limitMs milliseconds within which one document must be read */
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
