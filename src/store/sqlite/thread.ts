/**
 * A worker with its own connection to an SQLite file, for long reads and housekeeping, which would block
 * calls on the main thread. With WAL, readers and one writer do not block each other.
 *
 * The worker starts with the first job. For a small file, and on a host without workers, jobs run on the main
 * thread.
 */
import { StoreUnavailable } from "../engine.ts";
import type { Job, JobAnswer, JobResult } from "./jobs.ts";
import { OutOfFiles, startThread } from "../../timing/start_thread.ts";

/** File size below which a full scan takes less than 50 ms. */
const SMALL_BYTES = 16 << 20;
/** How long close waits for a running job, in milliseconds. */
const CLOSE_MS = 2000;

export interface SqliteThreadOptions {
  path: string;
  /** Runs a job on the main thread. */
  here(job: Job): Promise<JobResult>;
  smallBytes?: number;
}

interface Pending {
  resolve(result: JobResult): void;
  reject(error: Error): void;
}

export class SqliteThread {
  readonly #options: SqliteThreadOptions;
  #worker: Worker | undefined;
  #broken = false;
  #closed = false;
  readonly #pending = new Map<number, Pending>();
  #count = 0;

  constructor(options: SqliteThreadOptions) {
    this.#options = options;
  }

  async run(job: Job): Promise<JobResult> {
    const { here, path } = this.#options;
    if (this.#closed) throw new StoreUnavailable("The store is closed.");
    if (this.#worker === undefined && (this.#broken || this.#isSmall())) return await here(job);
    const worker = this.#start();
    if (worker === null) return await here(job);
    const id = this.#count++;
    return await new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      worker.postMessage({ id, path, job });
    });
  }

  /** Resolves when the worker has closed the file. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#closed = true;
    if (worker === undefined) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
      this.#pending.set(-1, { resolve: () => resolve(), reject: () => resolve() });
      worker.postMessage({ id: -1, path: this.#options.path, job: null });
    });
    clearTimeout(timer);
    worker.terminate();
    this.#rejectAll("The store is closed.");
  }

  #isSmall(): boolean {
    try {
      return Deno.statSync(this.#options.path).size < (this.#options.smallBytes ?? SMALL_BYTES);
    } catch {
      return true;
    }
  }

  #start(): Worker | null {
    if (this.#worker !== undefined) return this.#worker;
    try {
      const worker = startThread(new URL("./worker.ts", import.meta.url));
      worker.onmessage = ({ data }: MessageEvent<JobAnswer>) => this.#answer(data);
      // A worker that fails to start, or ends, must not end the process.
      worker.onerror = (event) => {
        event.preventDefault();
        this.#broken = true;
        this.#worker = undefined;
        this.#rejectAll("A thread of the store has ended.");
      };
      return this.#worker = worker;
    } catch (thrown) {
      this.#broken = !(thrown instanceof OutOfFiles);
      return null;
    }
  }

  #answer(answer: JobAnswer): void {
    const pending = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    if ("result" in answer) return pending?.resolve(answer.result);
    const { message, transient } = answer.error;
    pending?.reject(transient ? new StoreUnavailable(message) : new Error(message));
  }

  #rejectAll(message: string): void {
    for (const { reject } of this.#pending.values()) reject(new StoreUnavailable(message));
    this.#pending.clear();
  }
}
