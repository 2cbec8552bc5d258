/**
 * Generations in progress, including abandoned ones, whose caller has disconnected.
 *
 * An abandoned call continues, because the provider bills it, but it does not take capacity from connected callers. It does not count
 * towards the limit of calls in progress, and each key may have only a limited number. If a provider has no free capacity, the oldest
 * abandoned call there is ended; its time limit would end it some minutes later anyway.
 */

/** Part of all places that the calls of one key may go on in after their callers have left. */
const ABANDONED_SHARE = 1 / 8;
/** Part of the files that the process may open that such calls may hold, which have a connection to a provider each. */
const ABANDONED_FILES = 1 / 4;
/**
 * Part of all places that is kept for keys that have few calls, while several keys are in use; and of all bytes, which no key ever
 * holds: it takes two thousand calls to hold all places, and sixteen to hold all bytes, without sending any of them.
 */
const RESERVED_SHARE = 1 / 8;
/** A key is in use for so many further admissions. */
const REMEMBERED = 1000;

interface KeyCalls {
  count: number;
  /** Of its places, together. */
  bytes: number;
  /** One that grows where its key has no bytes left: of several that come at once, else none might. */
  first: Place | null;
  /** The one that was left first stands first. */
  abandoned: Set<Place>;
}

export class InFlight {
  count = 0;
  /** Those of {@link count} whose callers have left. */
  abandoned = 0;
  /** All that have ever been admitted. */
  entered = 0;
  /** What their requests' bodies took on the wire; in memory it is several times as much. */
  bytes = 0;
  readonly #keys = new Map<string, KeyCalls>();
  /** Keys of the last admissions, and of those before. */
  #lately = new Set<string>();
  #before = new Set<string>();
  #turned = 0;
  #idle: (() => void)[] = [];
  #mostAbandoned = Infinity;

  /** Whether callers hold all places, or calls that nobody waits for any more are as many again. */
  isFull(most: number): boolean {
    return this.count - this.abandoned >= most || this.count >= 2 * most;
  }

  /** @param files that the process may open; null: as many as it needs */
  boundAbandoned(files: number | null): void {
    this.#mostAbandoned = files === null ? Infinity : Math.max(2, Math.floor(files * ABANDONED_FILES));
  }

  /** Whether a call of this key may take one of the places that {@link isFull} has found free. */
  admits(key: string, most: number): boolean {
    this.#remember(key);
    if (this.abandoned >= this.#mostAbandoned) this.#endOldest();
    const calls = this.#keys.get(key);
    if (calls === undefined) return true;
    const share = Math.max(1, Math.floor(Math.min(most * ABANDONED_SHARE, this.#mostAbandoned / 2)));
    if (calls.abandoned.size >= share) {
      for (const place of calls.abandoned) {
        if (place.end()) calls.abandoned.delete(place);
        break;
      }
      // It could not be ended at once: its provider has not begun to answer.
      if (calls.abandoned.size >= share) return false;
    }
    const reserved = Math.floor(most * RESERVED_SHARE);
    const live = calls.count - calls.abandoned.size;
    return live < reserved || this.count - this.abandoned < most - reserved || !this.#othersThan(key);
  }

  /** Ends a call without its caller of the key that has most of them. */
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

  /** Ends the call at this provider that has gone on longest without its caller. */
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

  /** Resolves when nothing is under way. */
  idle(): Promise<void> {
    return this.count === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  #remember(key: string): void {
    if (++this.#turned >= REMEMBERED) {
      this.#turned = 0;
      this.#before = this.#lately;
      this.#lately = new Set();
    }
    this.#lately.add(key);
  }

  #othersThan(key: string): boolean {
    for (const keys of [this.#lately, this.#before]) {
      if (keys.size > 1 || (keys.size === 1 && !keys.has(key))) return true;
    }
    return false;
  }
}

/** One call's place. */
export class Place {
  readonly #all: InFlight;
  #bytes: number;
  #key: string | null = null;
  #calls: KeyCalls | null = null;
  #end: (() => boolean) | null = null;
  #left = false;
  /**
   * Says which provider answers it; null: none does yet, or it is over. Not a function that looks it up: V8 (15.0) let each such one
   * survive its call, and with it the prompt, until all memory was collected.
   */
  call: { readonly provider: string | null } | null = null;

  constructor(all: InFlight, bytes: number) {
    this.#all = all;
    this.#bytes = bytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The call is one of this key's. */
  own(key: string): void {
    this.#key = key;
    this.#calls = this.#all.callsOf(key);
    this.#calls.count++;
    this.#calls.bytes += this.#bytes;
  }

  /** Whether the call may hold so many bytes as far as its key's share goes. One alone may. */
  fits(bytes: number, most: number): boolean {
    const others = (this.#calls?.bytes ?? this.#bytes) - this.#bytes;
    return others === 0 || others + bytes <= most * (1 - RESERVED_SHARE);
  }

  /** Likewise of a body that turns out to be larger. */
  mayGrow(bytes: number, most: number): boolean {
    if (this.#calls === null || this.fits(bytes, most)) return true;
    this.#calls.first ??= this;
    return this.#calls.first === this;
  }

  /** The call holds so many bytes now. */
  hold(bytes: number): void {
    if (this.#left) return;
    this.#all.bytes += bytes - this.#bytes;
    if (this.#calls !== null) this.#calls.bytes += bytes - this.#bytes;
    this.#bytes = bytes;
  }

  /** @param end ends the call, before its time; false: it goes on until its provider begins to answer */
  abandon(end: () => boolean): void {
    if (this.#left || this.#end !== null) return;
    this.#end = end;
    this.#all.abandoned++;
    this.#calls?.abandoned.add(this);
  }

  /** Its caller is back. */
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
