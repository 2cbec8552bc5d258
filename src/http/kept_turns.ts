/**
 * Memory of the WebSockets of a gateway: answers that a later turn of the connection may name as `previous_response_id`, and queued
 * messages. It is released with the connection, and its total is limited. When the limit is exceeded, conversations are removed, and their
 * clients have to send them again.
 */

/** Part of all for answers. The rest is for messages: a socket that may not bring any is of no use, a conversation can be sent anew. */
const SHARE_OF_TURNS = 0.5;
/** Part of all that messages of one key may take which have come, whole or in part, and wait. */
const SHARE_OF_A_KEY = 0.25;

interface SocketBounds {
  most: number;
  longestMessage: number;
}

/** Bytes that all sockets hold together. */
export class SocketMemory {
  #held = 0;
  #most = 0;
  #longestMessage = 0;
  readonly #keys = new Map<string, KeyMemory>();

  constructor(bounds: SocketBounds) {
    this.bound(bounds);
  }

  get held(): number {
    return this.#held;
  }

  /** Sets the bound of a configuration. What is over it already goes with its connection. */
  bound({ most, longestMessage }: SocketBounds): void {
    this.#most = most;
    this.#longestMessage = longestMessage;
  }

  /** What the sockets of a key hold. Every one that asks for it must leave it. */
  enter(key: string): KeyMemory {
    let memory = this.#keys.get(key);
    if (memory === undefined) {
      memory = new KeyMemory(this, () => this.#keys.delete(key));
      this.#keys.set(key, memory);
    }
    memory.sockets++;
    return memory;
  }

  /** Takes more for messages, or gives back where `bytes` is negative. False: there is no room for so many. */
  takeMessages(memory: KeyMemory, bytes: number): boolean {
    // A key may bring one message of any length.
    const mostOfKey = Math.max(this.#most * SHARE_OF_A_KEY, this.#longestMessage);
    const isOver = memory.messages + bytes > mostOfKey || this.#held + bytes > this.#most;
    if (bytes > 0 && isOver) return false;
    memory.messages += bytes;
    this.#held += bytes;
    return true;
  }

  /**
   * Takes more for answers, or gives back where `bytes` is negative. Where all is taken, the key that keeps most loses those of
   * its connections, the oldest first. False: that is this key.
   */
  takeTurns(memory: KeyMemory, bytes: number): boolean {
    while (bytes > 0 && this.#held + bytes > this.#most * SHARE_OF_TURNS) {
      let largest = memory;
      for (const other of this.#keys.values()) if (other.turns > largest.turns + bytes) largest = other;
      if (largest === memory || !largest.forgetOldest()) return false;
    }
    memory.turns += bytes;
    this.#held += bytes;
    return true;
  }
}

/** What the sockets of one key hold. */
export class KeyMemory {
  readonly #all: SocketMemory;
  readonly #empty: () => void;
  /** Connections that keep answers, the one that began first before others. */
  readonly #keeping = new Set<KeptTurns>();
  sockets = 0;
  /** Bytes. */
  messages = 0;
  turns = 0;

  constructor(all: SocketMemory, empty: () => void) {
    this.#all = all;
    this.#empty = empty;
  }

  takeMessages(bytes: number): boolean {
    return this.#all.takeMessages(this, bytes);
  }

  takeTurns(kept: KeptTurns, bytes: number): boolean {
    if (!this.#all.takeTurns(this, bytes)) return false;
    this.#keeping.add(kept);
    return true;
  }

  giveTurns(kept: KeptTurns, bytes: number): void {
    this.#all.takeTurns(this, -bytes);
    if (kept.bytes === 0) this.#keeping.delete(kept);
  }

  /** False: there is nothing to forget. */
  forgetOldest(): boolean {
    const [oldest] = this.#keeping;
    oldest?.clear();
    return oldest !== undefined;
  }

  leave(): void {
    if (--this.sockets === 0) this.#empty();
  }
}

interface Turn {
  previous: Turn | null;
  /** How many need it: its id, as long as that is known, and each turn that goes on from it. */
  needs: number;
  /** Items of its input and of its answer. */
  items: readonly unknown[];
  bytes: number;
}

/** The answers of one connection by id. */
export class KeptTurns {
  readonly #memory: KeyMemory;
  readonly #turns = new Map<string, Turn>();
  #bytes = 0;

  constructor(memory: KeyMemory) {
    this.#memory = memory;
  }

  get bytes(): number {
    return this.#bytes;
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
    if (!this.#memory.takeTurns(this, bytes)) {
      // All that this connection keeps makes room for others.
      this.clear();
      return;
    }
    this.#bytes += bytes;
    if (before !== null) before.needs++;
    this.#turns.set(id, { previous: before, needs: 1, items, bytes });
  }

  /** An answer that nothing goes on from any more. What was said before it stays as long as another answer needs it. */
  forget(id: string): void {
    let turn = this.#turns.get(id) ?? null;
    if (turn === null) return;
    this.#turns.delete(id);
    let bytes = 0;
    for (; turn !== null && --turn.needs === 0; turn = turn.previous) bytes += turn.bytes;
    this.#bytes -= bytes;
    this.#memory.giveTurns(this, bytes);
  }

  clear(): void {
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#turns.clear();
    this.#memory.giveTurns(this, bytes);
  }
}
