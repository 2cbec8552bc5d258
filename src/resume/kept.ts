/**
 * Memory limits for stored streams, per key and in total. A stream that exceeds them continues without being
 * stored.
 */

/** Per stream, in characters. */
const MOST_OF_A_STREAM = 8 << 20;
/** Per key, in this process. */
const MOST_OF_A_KEY = 128 << 20;
/** In total, in this process. */
const MOST_OF_ALL = 512 << 20;
/** Fixed amount per stream in addition to its events. */
const OVERHEAD = 1024;

export interface KeptBounds {
  ofStream: number;
  ofKey: number;
  ofAll: number;
}

export class Kept {
  /** Total characters. */
  all = 0;
  readonly #bounds: KeptBounds;
  readonly #keys = new Map<string, number>();
  /** Amounts to be released when their time has come. */
  readonly #leaving: { at: number; key: string; chars: number }[] = [];

  constructor(bounds: Partial<KeptBounds> = {}) {
    this.#bounds = { ofStream: MOST_OF_A_STREAM, ofKey: MOST_OF_A_KEY, ofAll: MOST_OF_ALL, ...bounds };
  }

  /** Reserves the fixed amount of a stream; null: not enough left. */
  open(key: string): KeptStream | null {
    return this.#take(key, OVERHEAD) === null ? new KeptStream(this, key, OVERHEAD) : null;
  }

  /** Reserves more for a stream. Returns the reason if there is not enough left; null: reserved. */
  take(stream: KeptStream, chars: number): string | null {
    if (stream.chars + chars > this.#bounds.ofStream) return "the stream is too long";
    return this.#take(stream.key, chars);
  }

  #take(key: string, chars: number): string | null {
    const ofKey = (this.#keys.get(key) ?? 0) + chars;
    if (ofKey > this.#bounds.ofKey) return "the key's streams are too many";
    if (this.all + chars > this.#bounds.ofAll) return "all streams are too many";
    this.#keys.set(key, ofKey);
    this.all += chars;
    return null;
  }

  /** Releases the amount of a stream at a given time. */
  leave({ key, chars }: KeptStream, at: number): void {
    this.#leaving.push({ at, key, chars });
  }

  /** Releases expired amounts. */
  sweep(now: number): void {
    let kept = 0;
    for (const one of this.#leaving) {
      if (one.at > now) this.#leaving[kept++] = one;
      else this.#free(one.key, one.chars);
    }
    this.#leaving.length = kept;
  }

  #free(key: string, chars: number): void {
    this.all -= chars;
    const left = this.#keys.get(key)! - chars;
    if (left > 0) this.#keys.set(key, left);
    else this.#keys.delete(key);
  }
}

/** The amount used by one stream. */
export class KeptStream {
  readonly #all: Kept;
  readonly key: string;
  chars: number;

  constructor(all: Kept, key: string, chars: number) {
    this.#all = all;
    this.key = key;
    this.chars = chars;
  }

  /** Returns the reason if there is not enough left; null: reserved. */
  take(chars: number): string | null {
    const refusal = this.#all.take(this, chars);
    if (refusal === null) this.chars += chars;
    return refusal;
  }

  leave(at: number): void {
    this.#all.leave(this, at);
  }
}
