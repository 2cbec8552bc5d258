/**
 * Copies SQLite's write-ahead log into its database, in a thread of its own: it waits for the disk, 10 to 30 ms for some
 * thousand rows, and calls must not wait with it.
 *
 * The thread starts with the first checkpoint. Where it cannot, and where writers leave it no moment to finish the log so
 * that it begins anew, SQLite's own checkpoint at a much longer log is what remains.
 */

import type { CheckpointAnswer } from "./checkpoint_worker.ts";
import { startThread } from "../../timing/start_thread.ts";

export interface Checkpointer {
  /** So many rows have been committed. */
  committed(rows: number): void;
  /** Resolves when the thread has let go of the database, so that whoever closes it next is the last and tidies up. */
  close(): Promise<void>;
}

/** The log of so many rows is some 2,000 to 4,000 pages of 4 KiB. */
const ROWS = 4096;
/** How long a checkpoint under way may still take, in milliseconds. */
const CLOSE_MS = 2000;

/**
 * Does SQLite's checkpoints in a worker.
 *
 * @param path of the database
 */
export function openCheckpointer(path: string, { rows: most = ROWS } = {}): Checkpointer {
  let worker: Worker | undefined;
  let rows = 0;
  let busy = false;

  function start(): Worker {
    const made = startThread(new URL("./checkpoint_worker.ts", import.meta.url));
    made.onmessage = () => busy = false;
    // A worker that does not start must not end the process. That it stays busy ends the attempts.
    made.onerror = (event) => {
      event.preventDefault();
      worker = undefined;
    };
    return made;
  }

  return {
    committed(more) {
      rows += more;
      if (rows < most || busy) return;
      rows = 0;
      busy = true;
      try {
        worker ??= start();
        worker.postMessage(path);
      } catch {
        // A host without workers, or no files for one: the next rows are another attempt.
        busy = false;
      }
    },
    async close() {
      if (worker === undefined) return;
      const ending = worker;
      let timer: ReturnType<typeof setTimeout> | undefined;
      await new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_MS);
        ending.onerror = (event) => {
          event.preventDefault();
          resolve();
        };
        ending.onmessage = ({ data }: MessageEvent<CheckpointAnswer>) => data === "closed" && resolve();
        ending.postMessage(null);
      });
      clearTimeout(timer);
      ending.terminate();
    },
  };
}
