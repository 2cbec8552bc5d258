/** Watches the heartbeats of other nodes: a node whose counter has stopped for long enough is considered dead. */

/** Of ours. At one in five seconds these are 30 seconds. */
const DEAD_AFTER = 6;

export class Heartbeats {
  readonly #ownNode: string;
  /** What each count was, and for how many of our heartbeats it has not moved. */
  #seen = new Map<string, { count: number; still: number }>();

  constructor(ownNode: string) {
    this.#ownNode = ownNode;
  }

  /** Takes the counts of all nodes and answers those that are dead. */
  observe(counts: ReadonlyMap<string, number>): string[] {
    // Empty: this node was given up, which proves nothing about the others.
    if (counts.size === 0) return [];
    const seen = new Map<string, { count: number; still: number }>();
    const dead: string[] = [];
    for (const [node, count] of counts) {
      if (node === this.#ownNode) continue;
      const before = this.#seen.get(node);
      const still = before !== undefined && before.count === count ? before.still + 1 : 0;
      if (still >= DEAD_AFTER) dead.push(node);
      else seen.set(node, { count, still });
    }
    this.#seen = seen;
    return dead;
  }

  /** How many other nodes there are, as far as is known. */
  get others(): number {
    return this.#seen.size;
  }

  /** Heartbeats that could not be watched prove nothing: after an outage everyone gets the whole time again. */
  reset(): void {
    this.#seen = new Map();
  }
}
