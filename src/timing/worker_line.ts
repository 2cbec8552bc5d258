/**
 * A queue of jobs for one worker, in which keys take turns. The worker is started with the first job,
 * terminated when a job takes too long, and terminated when it is idle for a while.
 */
import { FairQueue } from "./fair_queue.ts";
import { PatientTimer } from "./within.ts";

export interface WorkerLineOptions {
  start(): Worker;
  /** Time limit of a job, in milliseconds in which the process runs. */
  limitMs: number;
  /** Idle time after which the worker is terminated, because it holds memory. */
  idleMs: number;
  /** Maximum number of waiting jobs. Beyond it, a job of the key with the most waiting ones is dropped. */
  mostWaiting: number;
}

export interface WorkerReply<T> {
  id: number;
  result: T | null;
}

interface JobOptions {
  /** The key for fair queueing. */
  key?: string;
  transfer?: Transferable[];
}

interface Waiting<J, T> {
  id: number;
  job: J;
  transfer: Transferable[];
  done(result: T | null): void;
}

export class WorkerLine<J extends object, T> {
  readonly #line = new FairQueue<Waiting<J, T>>();
  readonly #options: WorkerLineOptions;
  #worker: Worker | null = null;
  #running: Waiting<J, T> | null = null;
  /** Of the running job. */
  #limit: PatientTimer | undefined;
  /** Of the idle worker. */
  #idle: ReturnType<typeof setTimeout> | undefined;
  #lastId = 0;
  #closed = false;

  constructor(options: WorkerLineOptions) {
    this.#options = options;
  }

  /** Null: it took too long, failed, or found the queue full. */
  run(job: J, { key = "", transfer = [] }: JobOptions = {}): Promise<T | null> {
    if (this.#closed) return Promise.resolve(null);
    if (this.#line.length >= this.#options.mostWaiting) {
      const given = this.#line.makeRoom(key);
      if (given === undefined) return Promise.resolve(null);
      given.done(null);
    }
    return new Promise((done) => {
      this.#line.push(key, { id: ++this.#lastId, job, transfer, done });
      this.#next();
    });
  }

  close(): void {
    this.#closed = true;
    this.#end();
    this.#running?.done(null);
    while (this.#line.length > 0) this.#line.shift().done(null);
  }

  #start(): Worker {
    const made = this.#options.start();
    made.onmessage = (event: MessageEvent<WorkerReply<T>>) => {
      if (this.#running?.id === event.data.id) this.#finish(event.data.result);
    };
    // An error in the worker must not end the process.
    made.onerror = (event) => {
      event.preventDefault();
      if (this.#worker === made) this.#lose();
    };
    return made;
  }

  #end(): void {
    clearTimeout(this.#idle);
    this.#limit?.clear();
    this.#worker?.terminate();
    this.#worker = null;
  }

  #lose(): void {
    this.#end();
    this.#finish(null);
  }

  #finish(result: T | null): void {
    this.#limit?.clear();
    this.#running?.done(result);
    this.#running = null;
    this.#next();
  }

  #next(): void {
    if (this.#running !== null || this.#closed) return;
    clearTimeout(this.#idle);
    if (this.#line.length === 0) {
      this.#idle = setTimeout(() => this.#end(), this.#options.idleMs);
      Deno.unrefTimer(this.#idle as unknown as number);
      return;
    }
    const waiting = this.#running = this.#line.shift();
    try {
      this.#worker ??= this.#start();
      this.#limit = new PatientTimer(this.#options.limitMs, () => this.#lose());
      this.#worker.postMessage({ ...waiting.job, id: waiting.id }, waiting.transfer);
    } catch {
      // There is no worker at this point.
      this.#lose();
    }
  }
}
