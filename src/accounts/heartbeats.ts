/** Watches the heartbeats of other nodes: a node whose counter has stopped for long enough is considered dead. */

/** Number of this node's own heartbeats; at one every 5 s, this is 30 s. */
const DEAD_AFTER = 6;

export class Heartbeats {
  readonly #ownNode: string;
  /** The last counter of each node, and for how many of this node's heartbeats it has not changed. */
  #seen = new Map<string, { count: number; still: number }>();

  constructor(ownNode: string) {
    this.#ownNode = ownNode;
  }

  /** Processes the counters of all nodes and returns the dead ones. */
  observe(counts: ReadonlyMap<string, number>): string[] {
    // Empty: this node was removed, which says nothing about the others.
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

  /** Number of other nodes, as far as known. */
  get others(): number {
    return this.#seen.size;
  }

  /** Heartbeats that could not be observed prove nothing: after an outage every node gets the full time again. */
  reset(): void {
    this.#seen = new Map();
  }
}
