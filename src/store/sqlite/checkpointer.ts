/**
 * Runs SQLite's WAL checkpoints in a worker. A checkpoint waits for the disk (10 to 30 ms for some thousand
 * rows), which would delay calls on the main thread.
 *
 * The worker starts with the first checkpoint. If it cannot be started, or if writers leave no moment in
 * which the log can be reset, SQLite's own checkpoint at a much larger log size takes over.
 */

import type { CheckpointAnswer } from "./checkpoint_worker.ts";
import { startThread } from "../../timing/start_thread.ts";

export interface Checkpointer {
  /** To be called after a commit, with the number of rows. */
  committed(rows: number): void;
  /**
   * Resolves when the worker has closed the database, so that the main thread closes the last connection and
   * SQLite removes the log.
   */
  close(): Promise<void>;
}

/** Rows between checkpoints: some 2,000 to 4,000 pages of 4 KiB in the log. */
const ROWS = 4096;
/** How long close waits for a running checkpoint, in milliseconds. */
const CLOSE_MS = 2000;

/**
 * Runs checkpoints in a worker.
 *
 * @param path path of the database file
 */
export function openCheckpointer(path: string, { rows: most = ROWS } = {}): Checkpointer {
  let worker: Worker | undefined;
  let rows = 0;
  let busy = false;

  function start(): Worker {
    const made = startThread(new URL("./checkpoint_worker.ts", import.meta.url));
    made.onmessage = () => busy = false;
    // A worker that fails to start must not end the process. It stays marked as busy, so that no further
    // attempt is made.
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
        // The host has no workers or no free file handles: try again after the next rows.
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
