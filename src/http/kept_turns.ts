/**
 * Memory of the WebSockets of a gateway: answers that a later turn of the connection may name as `previous_response_id`, and queued
 * messages. It is released with the connection, and its total is limited. When the limit is exceeded, conversations are removed, and their
 * clients have to send them again.
 */

/**
 * Share of the total for answers. The rest is for messages: a socket that cannot receive a message is
 * useless, while a conversation can be sent again.
 */
const SHARE_OF_TURNS = 0.5;
/** Share of the total that queued messages of one key, complete or partial, may use. */
const SHARE_OF_A_KEY = 0.25;

interface SocketBounds {
  most: number;
  longestMessage: number;
}

/** Bytes used by all sockets together. */
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

  /** Applies the limits of a configuration. Data above a lowered limit is released with its connection. */
  bound({ most, longestMessage }: SocketBounds): void {
    this.#most = most;
    this.#longestMessage = longestMessage;
  }

  /** Bytes used by the sockets of a key. Each socket that calls this must call `leave`. */
  enter(key: string): KeyMemory {
    let memory = this.#keys.get(key);
    if (memory === undefined) {
      memory = new KeyMemory(this, () => this.#keys.delete(key));
      this.#keys.set(key, memory);
    }
    memory.sockets++;
    return memory;
  }

  /** Reserves bytes for messages, or releases them if `bytes` is negative. False: not enough memory. */
  takeMessages(memory: KeyMemory, bytes: number): boolean {
    // A key may always receive one message of maximum length.
    const mostOfKey = Math.max(this.#most * SHARE_OF_A_KEY, this.#longestMessage);
    const isOver = memory.messages + bytes > mostOfKey || this.#held + bytes > this.#most;
    if (bytes > 0 && isOver) return false;
    memory.messages += bytes;
    this.#held += bytes;
    return true;
  }

  /**
   * Reserves bytes for answers, or releases them if `bytes` is negative. If none are left, the key that uses
   * the most loses conversations, oldest connections first. False: it is this key.
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

/** Bytes used by the sockets of one key. */
export class KeyMemory {
  readonly #all: SocketMemory;
  readonly #empty: () => void;
  /** Connections with stored answers, oldest first. */
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

  /** False: there is nothing to remove. */
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
  /** Reference count: its own id, while that is known, and each turn that continues from it. */
  needs: number;
  /** Items of the input and of the answer. */
  items: readonly unknown[];
  bytes: number;
}

/** Stored answers of one connection by response id. */
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

  /** The conversation up to and including an answer; null: unknown id. */
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
   * @param previous id of the preceding answer; null: this one starts the conversation
   * @param bytes approximate size of the items as JSON
   */
  keep(
    id: string,
    previous: string | null,
    { items, bytes }: { items: readonly unknown[]; bytes: number },
  ): void {
    const before = previous === null ? null : this.#turns.get(previous) ?? null;
    if (previous !== null && before === null) return;
    if (!this.#memory.takeTurns(this, bytes)) {
      // Everything stored for this connection is released.
      this.clear();
      return;
    }
    this.#bytes += bytes;
    if (before !== null) before.needs++;
    this.#turns.set(id, { previous: before, needs: 1, items, bytes });
  }

  /**
   * Removes an answer that cannot be continued any more. Earlier parts of the conversation are kept while
   * another answer refers to them.
   */
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
