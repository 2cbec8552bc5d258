/**
 * A queue for reads of the ledger: one read runs at a time, callers take turns, and when the queue is full
 * the caller with the most waiting reads is refused. There are two lanes, so that a slow aggregation does not
 * delay pages.
 */
import { FairQueue } from "../timing/fair_queue.ts";
import { type Query, StoreUnavailable } from "./engine.ts";
import type { Row, Value } from "./rows.ts";

/** Maximum number of waiting reads. */
const MOST = 256;

interface Waiting {
  begin(): void;
  refuse(error: Error): void;
}

export class ReadLane {
  readonly #run: Query;
  readonly #most: number;
  readonly #waiting = new FairQueue<Waiting>();
  #busy = false;

  constructor(run: Query, most = MOST) {
    this.#run = run;
    this.#most = most;
  }

  /** A query function on behalf of one caller. */
  of(asker: string): Query {
    return (sql, params) => this.#read(asker, sql, params);
  }

  async #read(asker: string, sql: string, params: readonly Value[] | undefined): Promise<Row[]> {
    if (this.#busy) await this.#turn(asker);
    this.#busy = true;
    try {
      return await this.#run(sql, params);
    } finally {
      this.#busy = false;
      // The next waiter starts synchronously, so nobody can get ahead of it.
      if (this.#waiting.length > 0) this.#waiting.shift().begin();
    }
  }

  #turn(asker: string): Promise<void> {
    return new Promise((begin, refuse) => {
      if (this.#waiting.length >= this.#most) {
        const other = this.#waiting.makeRoom(asker);
        const refusal = new StoreUnavailable("Too many reads are waiting.");
        if (other === undefined) return refuse(refusal);
        other.refuse(refusal);
      }
      this.#waiting.push(asker, {
        begin: () => {
          this.#busy = true;
          begin();
        },
        refuse,
      });
    });
  }
}
