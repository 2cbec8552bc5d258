/**
 * Memory of large answers, from where they are read to where they are written for their callers. A provider may send tens of them at
 * once: what all of them hold is bounded, and what is over waits, its connection with it. The call that began first of each key
 * always goes on, so that nothing waits for ever.
 */
import { LARGE } from "../timing/slices.ts";

const MOST_BYTES = 256 << 20;
/** Of all, for one key. */
const SHARE_OF_KEY = 0.5;
/** Of each byte that has come there is its text, what is said in it, and the answer as the caller gets it. */
const COPIES = 3;
/** Bytes that come before they are counted: most answers are smaller. */
const UNCOUNTED_BYTES = 128 << 10;

interface OfKey {
  bytes: number;
  /** The oldest first. */
  open: Set<HeldAnswer>;
}

interface Waiting {
  held: HeldAnswer;
  resolve(): void;
}

export class AnswerMemory {
  readonly #most: number;
  readonly #keys = new Map<string, OfKey>();
  /** In the order in which they came. */
  readonly #waiting = new Set<Waiting>();
  #all = 0;

  constructor(most = MOST_BYTES) {
    this.#most = most;
  }

  /** What all of them hold. */
  get bytes(): number {
    return this.#all;
  }

  /** Of one call, whose calls of providers share it. */
  open(key: string): HeldAnswer {
    let of = this.#keys.get(key);
    if (of === undefined) this.#keys.set(key, of = { bytes: 0, open: new Set() });
    const held = new HeldAnswer(this, key);
    of.open.add(held);
    return held;
  }

  /** Resolves when there is room for more. */
  async add(held: HeldAnswer, bytes: number): Promise<void> {
    this.#count(held, bytes);
    if (!this.#mayGoOn(held)) await new Promise<void>((resolve) => this.#waiting.add({ held, resolve }));
  }

  remove(held: HeldAnswer, bytes: number): void {
    this.#count(held, -bytes);
    this.#goOn();
  }

  close(held: HeldAnswer, bytes: number): void {
    this.#count(held, -bytes);
    const of = this.#keys.get(held.key)!;
    of.open.delete(held);
    if (of.open.size === 0) this.#keys.delete(held.key);
    this.#goOn();
  }

  #count(held: HeldAnswer, bytes: number): void {
    this.#all += bytes;
    this.#keys.get(held.key)!.bytes += bytes;
  }

  #goOn(): void {
    for (const waiting of this.#waiting) {
      if (!this.#mayGoOn(waiting.held)) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }

  #mayGoOn(held: HeldAnswer): boolean {
    const of = this.#keys.get(held.key);
    // Its call is over.
    if (of === undefined || !of.open.has(held)) return true;
    const [oldest] = of.open;
    return oldest === held || (this.#all <= this.#most && of.bytes <= this.#most * SHARE_OF_KEY);
  }
}

/** What one call holds. */
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
  async grow(bytes: number): Promise<void> {
    if (this.#closed) return;
    this.#bytes += bytes;
    await this.#memory.add(this, bytes);
  }

  shrink(bytes: number): void {
    if (this.#closed) return;
    this.#bytes -= bytes;
    this.#memory.remove(this, bytes);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#memory.close(this, this.#bytes);
  }
}

/** What of one provider's answer is in memory. */
export class Intake {
  readonly #open: () => HeldAnswer;
  #held: HeldAnswer | null = null;
  #all = 0;
  /** Of the call's. */
  #counted = 0;

  /** @param open gives what the call holds, once that is worth counting */
  constructor(open: () => HeldAnswer) {
    this.#open = open;
  }

  /** More has come, and all of it stays. A promise: nothing more may be read before it resolves. */
  more(bytes: number): Promise<void> | null {
    return this.holds(this.#all + bytes);
  }

  /** So much of it is in memory now. A promise likewise. */
  holds(bytes: number): Promise<void> | null {
    this.#all = bytes;
    const more = bytes < UNCOUNTED_BYTES ? -this.#counted : COPIES * bytes - this.#counted;
    if (more < 0) this.#held!.shrink(-more);
    else if (more < COPIES * UNCOUNTED_BYTES) return null;
    this.#counted += more;
    if (more < 0) return null;
    this.#held ??= this.#open();
    return this.#held.grow(more);
  }

  /** What has come has been taken, or will never be. */
  passed(): void {
    if (this.#counted > 0) this.holds(0);
  }

  /** It is to be worked on in slices. */
  get isLarge(): boolean {
    return this.#all > LARGE;
  }
}
