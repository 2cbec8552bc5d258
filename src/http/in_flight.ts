/**
 * Generations in progress, including abandoned ones, whose caller has disconnected.
 *
 * An abandoned call continues, because the provider bills it, but it does not take capacity from connected callers. It does not count
 * towards the limit of calls in progress, and each key may have only a limited number. If a provider has no free capacity, the oldest
 * abandoned call there is ended; its time limit would end it some minutes later anyway.
 */

/** Share of all places that calls of one key may use after their callers have disconnected. */
const ABANDONED_SHARE = 1 / 8;
/** Share of the process's file descriptors that such calls may use; each has a connection to a provider. */
const ABANDONED_FILES = 1 / 4;
/**
 * Share of places reserved for keys with few calls, if there are several keys. The same share of all bytes and
 * of all client connections can never be used by one key: all bytes need only sixteen calls, without even
 * sending the bodies, and without a connection neither an administrator nor a health check gets an answer.
 */
const RESERVED_SHARE = 1 / 8;

/** The connections of all clients. */
export interface ClientConnections {
  /** Number of those that are not closed in favour of others as soon as those come. */
  readonly busy: number;
  readonly most: number;
}

interface KeyCalls {
  count: number;
  /** Total bytes of the key's places. */
  bytes: number;
  /**
   * A place that may grow although its key has used its share of bytes: otherwise, of several concurrent
   * calls none might complete.
   */
  first: Place | null;
  /** In the order in which they were abandoned. */
  abandoned: Set<Place>;
}

export class InFlight {
  count = 0;
  /** Those of {@link count} whose callers have disconnected. */
  abandoned = 0;
  /** Number of calls admitted since the start. */
  entered = 0;
  /** Total size of their request bodies on the wire; in memory it is several times as much. */
  bytes = 0;
  readonly #keys = new Map<string, KeyCalls>();
  #connections: ClientConnections = { busy: 0, most: Infinity };
  #idle: (() => void)[] = [];
  #mostAbandoned = Infinity;

  /** Whether connected calls use all places, or abandoned calls use the same number again. */
  isFull(most: number): boolean {
    return this.count - this.abandoned >= most || this.count >= 2 * most;
  }

  /** @param files file descriptors available to the process; null: as many as needed */
  boundAbandoned(files: number | null): void {
    this.#mostAbandoned = files === null ? Infinity : Math.max(2, Math.floor(files * ABANDONED_FILES));
  }

  follow(connections: ClientConnections): void {
    this.#connections = connections;
  }

  /** Whether connections remain for others if this key holds one more for a long time. */
  leavesConnections(key: string): boolean {
    const calls = this.#keys.get(key);
    return calls === undefined || this.#leavesConnections(calls);
  }

  #leavesConnections(calls: KeyCalls): boolean {
    const { busy, most } = this.#connections;
    const reserved = Math.floor(most * RESERVED_SHARE);
    // The connection of the request is itself busy.
    return reserved === 0 || busy <= most - reserved || calls.count - calls.abandoned.size < reserved;
  }

  /**
   * Whether a call of this key may take one of the places that {@link isFull} found free.
   *
   * @param alone there is no other key
   */
  admits(key: string, { most, alone }: { most: number; alone: boolean }): boolean {
    if (this.abandoned >= this.#mostAbandoned) this.#endOldest();
    const calls = this.#keys.get(key);
    if (calls === undefined) return true;
    const share = Math.max(1, Math.floor(Math.min(most * ABANDONED_SHARE, this.#mostAbandoned / 2)));
    if (calls.abandoned.size >= share) {
      for (const place of calls.abandoned) {
        if (place.end()) calls.abandoned.delete(place);
        break;
      }
      // A call cannot be ended before its provider starts to answer.
      if (calls.abandoned.size >= share) return false;
    }
    const reserved = Math.floor(most * RESERVED_SHARE);
    const live = calls.count - calls.abandoned.size;
    const hasPlace = alone || live < reserved || this.count - this.abandoned < most - reserved;
    return hasPlace && this.#leavesConnections(calls);
  }

  /** Ends the oldest abandoned call of the key that has the most of them. */
  #endOldest(): void {
    let most: KeyCalls | undefined;
    for (const calls of this.#keys.values()) {
      if (calls.abandoned.size > (most?.abandoned.size ?? 0)) most = calls;
    }
    for (const place of most?.abandoned ?? []) {
      if (place.end()) most!.abandoned.delete(place);
      return;
    }
  }

  enter(bytes: number): Place {
    this.count++;
    this.entered++;
    this.bytes += bytes;
    return new Place(this, bytes);
  }

  /** Ends the oldest abandoned call at this provider. */
  makeRoom(provider: string): void {
    for (const { abandoned } of this.#keys.values()) {
      for (const place of abandoned) {
        if (place.call?.provider !== provider || !place.end()) continue;
        abandoned.delete(place);
        return;
      }
    }
  }

  callsOf(key: string): KeyCalls {
    let calls = this.#keys.get(key);
    if (calls === undefined) {
      this.#keys.set(key, calls = { count: 0, bytes: 0, first: null, abandoned: new Set() });
    }
    return calls;
  }

  left(key: string | null, calls: KeyCalls | null): void {
    this.count--;
    if (calls !== null && --calls.count === 0) this.#keys.delete(key!);
    if (this.count === 0) { for (const resolve of this.#idle.splice(0)) resolve(); }
  }

  /** Resolves when no call is in progress. */
  idle(): Promise<void> {
    return this.count === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }
}

/** The place of one call. */
export class Place {
  readonly #all: InFlight;
  #bytes: number;
  #key: string | null = null;
  #calls: KeyCalls | null = null;
  #end: (() => boolean) | null = null;
  #left = false;
  /**
   * The current provider of the call; null: none yet, or it has ended. Not a function: V8 (15.0) kept such a
   * closure, and with it the prompt, alive after the call until a full garbage collection.
   */
  call: { readonly provider: string | null } | null = null;

  constructor(all: InFlight, bytes: number) {
    this.#all = all;
    this.#bytes = bytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Assigns the call to a key. */
  own(key: string): void {
    this.#key = key;
    this.#calls = this.#all.callsOf(key);
    this.#calls.count++;
    this.#calls.bytes += this.#bytes;
  }

  /** Whether the key's share allows the call to use this many bytes. A single call always may. */
  fits(bytes: number, most: number): boolean {
    const others = (this.#calls?.bytes ?? this.#bytes) - this.#bytes;
    return others === 0 || others + bytes <= most * (1 - RESERVED_SHARE);
  }

  /** The same for a body that turns out to be larger. */
  mayGrow(bytes: number, most: number): boolean {
    if (this.#calls === null || this.fits(bytes, most)) return true;
    this.#calls.first ??= this;
    return this.#calls.first === this;
  }

  /** Sets the bytes used by the call. */
  hold(bytes: number): void {
    if (this.#left) return;
    this.#all.bytes += bytes - this.#bytes;
    if (this.#calls !== null) this.#calls.bytes += bytes - this.#bytes;
    this.#bytes = bytes;
  }

  /** @param end ends the call early; false: it cannot be ended until its provider starts to answer */
  abandon(end: () => boolean): void {
    if (this.#left || this.#end !== null) return;
    this.#end = end;
    this.#all.abandoned++;
    this.#calls?.abandoned.add(this);
  }

  /** The caller has reconnected. */
  reclaim(): void {
    if (this.#left || this.#end === null) return;
    this.#end = null;
    this.#all.abandoned--;
    this.#calls?.abandoned.delete(this);
  }

  end(): boolean {
    return this.#end?.() ?? false;
  }

  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.call = null;
    this.#all.bytes -= this.#bytes;
    if (this.#calls !== null) {
      this.#calls.bytes -= this.#bytes;
      if (this.#calls.first === this) this.#calls.first = null;
    }
    if (this.#end !== null) {
      this.#all.abandoned--;
      this.#calls?.abandoned.delete(this);
    }
    this.#all.left(this.#key, this.#calls);
  }
}
