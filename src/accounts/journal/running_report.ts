/**
 * Generations that started and ended since the last report to the store: for a node without a journal.
 *
 * The end of a call is not reported before its record is sent: if the process died between the two, nobody
 * would know of the call.
 */

export interface RunningChanges {
  /** Sequence number of the report, from 1. */
  readonly number: number;
  readonly began: readonly { id: string; data: string }[];
  readonly ended: readonly string[];
  /** Those that ended without a record. */
  readonly released: readonly string[];
}

const NONE: RunningChanges = { number: 0, began: [], ended: [], released: [] };

export class RunningReport {
  readonly #enabled: boolean;
  #began: { id: string; data: string }[] = [];
  #ended: string[] = [];
  #released: string[] = [];
  /** Ended calls whose records have not been sent. */
  #held: string[] = [];
  #taken = 0;
  #heard = 0;

  constructor(enabled: boolean) {
    this.#enabled = enabled;
  }

  /** Nothing can be reported before more records are sent. */
  get isEmpty(): boolean {
    return this.#began.length === 0 && this.#ended.length === 0;
  }

  /** True: there is something to report. */
  began(id: string, data: string): boolean {
    if (this.#enabled) this.#began.push({ id, data });
    return this.#enabled;
  }

  /** The number of the report that will contain it; null: the store need not know. */
  ended(id: string, { released = false } = {}): number | null {
    if (!this.#enabled) return null;
    const at = this.#began.findIndex((b) => b.id === id);
    if (at >= 0) {
      this.#began.splice(at, 1);
      return null;
    }
    this.#ended.push(id);
    if (released) this.#released.push(id);
    return this.#taken + 1;
  }

  /** @param waiting ids of calls whose records are sent later than this report */
  take(waiting: () => ReadonlySet<string>): RunningChanges {
    if (this.isEmpty && this.#held.length === 0) return NONE;
    const later = waiting();
    let ended = this.#held.length === 0 ? this.#ended : [...this.#held, ...this.#ended];
    this.#held = [];
    if (later.size > 0) {
      this.#held = ended.filter((id) => later.has(id));
      ended = ended.filter((id) => !later.has(id));
    }
    const taken = { number: ++this.#taken, began: this.#began, ended, released: this.#released };
    this.#began = [];
    this.#ended = [];
    this.#released = [];
    return taken;
  }

  /** The store has received this report, and all before it, since they are sent in order. */
  heard({ number }: RunningChanges): void {
    this.#heard = Math.max(this.#heard, number);
  }

  hasHeard(report: number): boolean {
    return report <= this.#heard;
  }

  /** The report failed. */
  putBack({ began, ended, released }: RunningChanges): void {
    if (began.length > 0) this.#began = [...began, ...this.#began];
    if (ended.length > 0) this.#ended = [...ended, ...this.#ended];
    if (released.length > 0) this.#released = [...released, ...this.#released];
  }
}
