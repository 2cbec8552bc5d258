/** Which generations began and ended since the store was last told: for a node without a journal. */

export interface RunningChanges {
  readonly began: readonly { id: string; data: string }[];
  readonly ended: readonly string[];
  /** Of those, without a record. */
  readonly released: readonly string[];
}

const NONE: RunningChanges = { began: [], ended: [], released: [] };

export class RunningReport {
  readonly #enabled: boolean;
  #began: { id: string; data: string }[] = [];
  #ended: string[] = [];
  #released: string[] = [];

  constructor(enabled: boolean) {
    this.#enabled = enabled;
  }

  get isEmpty(): boolean {
    return this.#began.length === 0 && this.#ended.length === 0;
  }

  /** True: there is something to tell. */
  began(id: string, data: string): boolean {
    if (this.#enabled) this.#began.push({ id, data });
    return this.#enabled;
  }

  /** True: there is something to tell. */
  ended(id: string, { released = false } = {}): boolean {
    if (!this.#enabled) return false;
    const at = this.#began.findIndex((b) => b.id === id);
    if (at >= 0) {
      this.#began.splice(at, 1);
      return false;
    }
    this.#ended.push(id);
    if (released) this.#released.push(id);
    return true;
  }

  take(): RunningChanges {
    if (this.isEmpty) return NONE;
    const taken = { began: this.#began, ended: this.#ended, released: this.#released };
    this.#began = [];
    this.#ended = [];
    this.#released = [];
    return taken;
  }

  /** The store has not heard of these. */
  putBack({ began, ended, released }: RunningChanges): void {
    if (began.length > 0) this.#began = [...began, ...this.#began];
    if (ended.length > 0) this.#ended = [...ended, ...this.#ended];
    if (released.length > 0) this.#released = [...released, ...this.#released];
  }
}
