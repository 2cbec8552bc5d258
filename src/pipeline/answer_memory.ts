/**
 * Memory limit for large answers, from reading to writing them for the callers. Providers may send many large answers at the same time:
 * their total memory is limited, and calls above the limit stop reading from their connections (backpressure). The oldest call of each
 * key always continues, which prevents a deadlock.
 */
import { LARGE } from "../timing/slices.ts";

const MOST_BYTES = 256 << 20;
/** Limit for one key. */
const SHARE_OF_KEY = 0.5;
/** Copies of each received byte: the provider's text, the decoded parts, and the answer in the caller's format. */
const COPIES = 3;
/** Answers smaller than this, in bytes, are not counted: most answers are. */
const UNCOUNTED_BYTES = 128 << 10;

interface OfKey {
  bytes: number;
  /** In the order of their beginning. */
  open: Set<CallMemory>;
}

interface Waiting {
  held: CallMemory;
  resolve(): void;
}

export class AnswerMemory {
  readonly #most: number;
  readonly #keys = new Map<string, OfKey>();
  /** In the order of their arrival. */
  readonly #waiting = new Set<Waiting>();
  #all = 0;

  constructor(most = MOST_BYTES) {
    this.#most = most;
  }

  /** Total memory in use. */
  get bytes(): number {
    return this.#all;
  }

  /** The memory of one call; its provider calls share it. */
  open(key: string): CallMemory {
    let of = this.#keys.get(key);
    if (of === undefined) this.#keys.set(key, of = { bytes: 0, open: new Set() });
    const held = new CallMemory(this, key);
    of.open.add(held);
    return held;
  }

  /** Resolves when there is memory for more. */
  async add(held: CallMemory, bytes: number): Promise<void> {
    this.#count(held, bytes);
    if (!this.#mayGoOn(held)) await new Promise<void>((resolve) => this.#waiting.add({ held, resolve }));
  }

  remove(held: CallMemory, bytes: number): void {
    this.#count(held, -bytes);
    this.#goOn();
  }

  close(held: CallMemory, bytes: number): void {
    this.#count(held, -bytes);
    const of = this.#keys.get(held.key)!;
    of.open.delete(held);
    if (of.open.size === 0) this.#keys.delete(held.key);
    this.#goOn();
  }

  #count(held: CallMemory, bytes: number): void {
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

  #mayGoOn(held: CallMemory): boolean {
    const of = this.#keys.get(held.key);
    // The call has ended.
    if (of === undefined || !of.open.has(held)) return true;
    const [oldest] = of.open;
    return oldest === held || (this.#all <= this.#most && of.bytes <= this.#most * SHARE_OF_KEY);
  }
}

/** The memory that one call uses. */
export class CallMemory {
  readonly key: string;
  readonly #memory: AnswerMemory;
  #bytes = 0;
  #closed = false;

  constructor(memory: AnswerMemory, key: string) {
    this.#memory = memory;
    this.key = key;
  }

  /** Counts received bytes; resolves when there is memory for more. */
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

/** The part of a provider's answer that is in memory. */
export class AnswerBuffer {
  readonly #open: () => CallMemory;
  #memory: CallMemory | null = null;
  #all = 0;
  /** Bytes counted in the call's memory. */
  #counted = 0;

  /** @param open creates the memory count of the call; it is called when the answer is large enough */
  constructor(open: () => CallMemory) {
    this.#open = open;
  }

  /** More bytes were received and stay in memory. A promise: nothing more may be read before it resolves. */
  more(bytes: number): Promise<void> | null {
    return this.holds(this.#all + bytes);
  }

  /** Sets the number of bytes in memory. A promise: as above. */
  holds(bytes: number): Promise<void> | null {
    this.#all = bytes;
    const more = bytes < UNCOUNTED_BYTES ? -this.#counted : COPIES * bytes - this.#counted;
    if (more < 0) this.#memory!.shrink(-more);
    else if (more < COPIES * UNCOUNTED_BYTES) return null;
    this.#counted += more;
    if (more < 0) return null;
    this.#memory ??= this.#open();
    return this.#memory.grow(more);
  }

  /** Releases the memory: the answer has been passed on, or never will be. */
  passed(): void {
    if (this.#counted > 0) this.holds(0);
  }

  /** Whether the answer must be processed in slices. */
  get isLarge(): boolean {
    return this.#all > LARGE;
  }
}
