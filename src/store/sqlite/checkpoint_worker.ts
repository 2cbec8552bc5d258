/** The thread of `checkpointer.ts`: for each path that it is sent, a checkpoint of what is in the log by then; for null, the end. */
import { DatabaseSync } from "node:sqlite";

/** A checkpoint was made, or tried; the database is closed. */
export type CheckpointAnswer = "done" | "closed";

/** The program's types are those of the main thread, whose `self` differs. */
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
    // Passive: waits for nobody, and nobody waits for it.
    database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  } catch {
    // Another is at it, or the disk is full: the log goes on growing until the next one.
    close();
  }
  self.postMessage("done");
};
