/** The worker of `checkpointer.ts`: each message with a path makes it run a checkpoint; null ends it. */
import { DatabaseSync } from "node:sqlite";

/** A checkpoint was made or attempted; or the database was closed. */
export type CheckpointAnswer = "done" | "closed";

/** Declared by hand because the program's types are those of the main thread, whose `self` differs. */
declare const self: {
  onmessage: (event: { data: string | null }) => void;
  postMessage(answer: CheckpointAnswer): void;
};

let database: DatabaseSync | undefined;

function close(): void {
  database?.close();
  database = undefined;
}

self.onmessage = ({ data: path }) => {
  if (path === null) {
    close();
    return self.postMessage("closed");
  }
  try {
    database ??= new DatabaseSync(path, { timeout: 0 });
    // Passive: it neither waits for readers and writers nor blocks them.
    database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  } catch {
    // Another process runs a checkpoint, or the disk is full: the log grows until the next checkpoint.
    close();
  }
  self.postMessage("done");
};
