/**
 * What the sockets of a gateway keep: answers that the next turn of a connection may name as its `previous_response_id`, and
 * messages that have come and wait. Nothing of it outlives its connection, and all together is bounded; what finds no place
 * is forgotten, and its client sends the conversation anew.
 */

/** Bytes that all sockets hold together. */
export class SocketMemory {
  #held = 0;
  #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get held(): number {
    return this.#held;
  }

  /** Sets the bound of a configuration. What is over it already goes with its connection. */
  bound(most: number): void {
    this.#most = most;
  }

  /**
   * Takes more, or gives back where `bytes` is negative. False: there is no room for so many.
   *
   * @param share of all that may be taken afterwards
   */
  take(bytes: number, share = 1): boolean {
    if (bytes > 0 && this.#held + bytes > this.#most * share) return false;
    this.#held += bytes;
    return true;
  }
}

/** The rest is for messages: a socket that may not bring any is of no use, while a conversation can be sent anew. */
const SHARE_OF_TURNS = 0.5;

interface Turn {
  previous: Turn | null;
  /** Items of its input and of its answer. */
  items: readonly unknown[];
  bytes: number;
}

/** The answers of one connection by id. */
export class KeptTurns {
  readonly #memory: SocketMemory;
  readonly #turns = new Map<string, Turn>();
  #bytes = 0;

  constructor(memory: SocketMemory) {
    this.#memory = memory;
  }

  /** The conversation up to the end of an answer; null: it is not known. */
  upTo(id: string): { items: unknown[]; bytes: number } | null {
    let turn = this.#turns.get(id) ?? null;
    if (turn === null) return null;
    const parts: (readonly unknown[])[] = [];
    let bytes = 0;
    for (; turn !== null; turn = turn.previous) {
      parts.push(turn.items);
      bytes += turn.bytes;
    }
    return { items: parts.reverse().flat(), bytes };
  }

  /**
   * @param previous id of the answer before; null: the conversation begins with this one
   * @param bytes about as many as the items take as JSON
   */
  keep(
    id: string,
    previous: string | null,
    { items, bytes }: { items: readonly unknown[]; bytes: number },
  ): void {
    const before = previous === null ? null : this.#turns.get(previous) ?? null;
    if (previous !== null && before === null) return;
    if (!this.#memory.take(bytes, SHARE_OF_TURNS)) {
      // All that this connection keeps makes room for others.
      this.clear();
      return;
    }
    this.#bytes += bytes;
    this.#turns.set(id, { previous: before, items, bytes });
  }

  /** An answer that nothing goes on from any more. */
  forget(id: string): void {
    const turn = this.#turns.get(id);
    if (turn === undefined) return;
    this.#turns.delete(id);
    for (const { previous } of this.#turns.values()) if (previous === turn) return;
    this.#memory.take(-turn.bytes);
    this.#bytes -= turn.bytes;
  }

  clear(): void {
    this.#memory.take(-this.#bytes);
    this.#bytes = 0;
    this.#turns.clear();
  }
}
