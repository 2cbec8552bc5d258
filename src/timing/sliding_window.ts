/** Two counts over a recent time span, kept in ten slots, the oldest of which is dropped as a whole. */

const SLOTS = 10;

interface Slot {
  /** Index of the slot since the start of the clock. */
  at: number;
  calls: number;
  hits: number;
}

export class SlidingWindow {
  readonly #slotMs: number;
  readonly #slots: Slot[];

  constructor(windowMs: number) {
    this.#slotMs = windowMs / SLOTS;
    this.#slots = Array.from({ length: SLOTS }, () => ({ at: -Infinity, calls: 0, hits: 0 }));
  }

  add(now: number, calls: number, hits: number): void {
    const at = Math.floor(now / this.#slotMs);
    const slot = this.#slots[at % SLOTS];
    if (slot.at !== at) {
      slot.at = at;
      slot.calls = 0;
      slot.hits = 0;
    }
    slot.calls += calls;
    slot.hits += hits;
  }

  sum(now: number): { calls: number; hits: number } {
    const oldest = Math.floor(now / this.#slotMs) - SLOTS;
    let calls = 0;
    let hits = 0;
    for (const slot of this.#slots) {
      if (slot.at <= oldest) continue;
      calls += slot.calls;
      hits += slot.hits;
    }
    return { calls, hits };
  }

  clear(): void {
    for (const slot of this.#slots) slot.at = -Infinity;
  }
}
