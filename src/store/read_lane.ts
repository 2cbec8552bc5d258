/**
 * Where reads of the ledger wait for their turn: one runs at a time, whoever asks takes turns with the others, and beyond
 * a bound whoever has asked most is refused. Two of these keep a long sum from making pages wait.
 */
import { FairQueue } from "../timing/fair_queue.ts";
import { type Query, StoreUnavailable } from "./engine.ts";
import type { Row, Value } from "./rows.ts";

/** So many wait at most. */
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

  /** The query of one asker. */
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
      // Whoever begins does so before anybody else can come in between.
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
