/**
 * Memory of large answers that are read whole. A provider may send tens of them at once, to callers who need not take any: what all
 * of them hold is bounded, and what is over waits, its connection with it. The oldest answer of each key always goes on, so
 * that nothing waits for ever.
 */

const MOST_BYTES = 256 << 20;
/** Of all, for one key. */
const SHARE_OF_KEY = 0.5;

interface OfKey {
  bytes: number;
  /** The oldest first. */
  open: Set<HeldAnswer>;
}

export class AnswerMemory {
  readonly #most: number;
  readonly #keys = new Map<string, OfKey>();
  readonly #waiting = new Map<HeldAnswer, () => void>();
  #all = 0;

  constructor(most = MOST_BYTES) {
    this.#most = most;
  }

  open(key: string): HeldAnswer {
    let of = this.#keys.get(key);
    if (of === undefined) this.#keys.set(key, of = { bytes: 0, open: new Set() });
    const held = new HeldAnswer(this, key);
    of.open.add(held);
    return held;
  }

  /** Resolves when there is room for more. */
  async add(held: HeldAnswer, bytes: number): Promise<void> {
    this.#all += bytes;
    this.#keys.get(held.key)!.bytes += bytes;
    if (this.#mayGoOn(held)) return;
    await new Promise<void>((resolve) => this.#waiting.set(held, resolve));
  }

  close(held: HeldAnswer, bytes: number): void {
    const of = this.#keys.get(held.key)!;
    this.#all -= bytes;
    of.bytes -= bytes;
    of.open.delete(held);
    if (of.open.size === 0) this.#keys.delete(held.key);
    this.#waiting.get(held)?.();
    this.#waiting.delete(held);
    for (const [other, resolve] of this.#waiting) {
      if (!this.#mayGoOn(other)) continue;
      this.#waiting.delete(other);
      resolve();
    }
  }

  #mayGoOn(held: HeldAnswer): boolean {
    const { bytes, open } = this.#keys.get(held.key)!;
    const [oldest] = open;
    return oldest === held || (this.#all <= this.#most && bytes <= this.#most * SHARE_OF_KEY);
  }
}

export class HeldAnswer {
  readonly key: string;
  readonly #memory: AnswerMemory;
  #bytes = 0;
  #closed = false;

  constructor(memory: AnswerMemory, key: string) {
    this.#memory = memory;
    this.key = key;
  }

  /** So much more has come; resolves when there is room for more. */
  grow(bytes: number): Promise<void> {
    this.#bytes += bytes;
    return this.#memory.add(this, bytes);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#memory.close(this, this.#bytes);
  }
}
