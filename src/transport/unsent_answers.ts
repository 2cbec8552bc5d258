/**
 * Memory limit for output that callers have not yet received. A caller may read slowly as long as it makes progress. If the total
 * exceeds the limit, the connection whose caller has received nothing for the longest time is closed.
 */

import type { HeldBody } from "./held_body.ts";

/** Smaller answers are not tracked: their total is bounded by the number of connections. */
export const LARGE_BYTES = 1 << 16;
const MOST_BYTES = 128 << 20;

interface Taker {
  /** When the connection is closed unless it makes progress. */
  readonly due: number;
  close(): void;
}

export class UnsentAnswers<T extends Taker> {
  readonly #most: number;
  readonly #held = new Map<T, number>();
  #all = 0;

  /** @param most total in bytes; a single answer may exceed it */
  constructor(most = MOST_BYTES) {
    this.#most = most;
  }

  /** Total of unsent bytes. */
  get bytes(): number {
    return this.#all;
  }

  /** Adds unsent bytes of a connection. */
  add(taker: T, bytes: number): void {
    this.#held.set(taker, (this.#held.get(taker) ?? 0) + bytes);
    this.#all += bytes;
    while (this.#all > this.#most && this.#held.size > 1) {
      const slowest = this.#slowestBut(taker);
      this.end(slowest);
      slowest.close();
    }
  }

  /** The client has received bytes. */
  taken(taker: T, bytes: number): void {
    const held = this.#held.get(taker);
    // The connection has been closed.
    if (held === undefined) return;
    this.#all -= bytes;
    if (held > bytes) this.#held.set(taker, held - bytes);
    else this.#held.delete(taker);
  }

  /** All bytes of the connection have been sent, or it was closed. */
  end(taker: T): void {
    this.taken(taker, this.#held.get(taker) ?? 0);
  }

  /** Writes a head, and its body in pieces; the unwritten rest is tracked. */
  async pass(
    taker: T,
    { head, body }: { head: Uint8Array; body: HeldBody },
    write: (piece: Uint8Array) => Promise<void>,
  ): Promise<void> {
    this.add(taker, body.length);
    try {
      await write(head);
      for (let piece = body.take(); piece !== null; piece = body.take()) {
        await write(piece);
        this.taken(taker, piece.length);
      }
    } finally {
      this.end(taker);
    }
  }

  /** The first of those that have waited equally long. */
  #slowestBut(taker: T): T {
    let slowest: T | undefined;
    for (const one of this.#held.keys()) {
      if (one !== taker && (slowest === undefined || one.due < slowest.due)) slowest = one;
    }
    return slowest!;
  }
}
