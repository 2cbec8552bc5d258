/** How much is kept of streams: by each key, and in all. What finds no place goes on without being kept. */

/** Of one stream, in characters. */
const MOST_OF_A_STREAM = 8 << 20;
/** Of one key, in this process. */
const MOST_OF_A_KEY = 128 << 20;
/** Of all, in this process. */
const MOST_OF_ALL = 512 << 20;
/** What a stream counts for beside its events. */
const OVERHEAD = 1024;

export interface KeptBounds {
  ofStream: number;
  ofKey: number;
  ofAll: number;
}

export class Kept {
  /** Characters. */
  all = 0;
  readonly #bounds: KeptBounds;
  readonly #keys = new Map<string, number>();
  /** What goes when its time is over. */
  readonly #leaving: { at: number; key: string; chars: number }[] = [];

  constructor(bounds: Partial<KeptBounds> = {}) {
    this.#bounds = { ofStream: MOST_OF_A_STREAM, ofKey: MOST_OF_A_KEY, ofAll: MOST_OF_ALL, ...bounds };
  }

  /** Takes the place of a stream. */
  open(key: string): KeptStream | null {
    return this.#take(key, OVERHEAD) === null ? new KeptStream(this, key, OVERHEAD) : null;
  }

  /** Takes more for a stream. Answers why there is no room; null: there is. */
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

  /** What a stream took is free from a time on. */
  leave({ key, chars }: KeptStream, at: number): void {
    this.#leaving.push({ at, key, chars });
  }

  /** Frees what is over. */
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

/** What one stream has taken. */
export class KeptStream {
  readonly #all: Kept;
  readonly key: string;
  chars: number;

  constructor(all: Kept, key: string, chars: number) {
    this.#all = all;
    this.key = key;
    this.chars = chars;
  }

  /** Answers why there is no room; null: there is. */
  take(chars: number): string | null {
    const refusal = this.#all.take(this, chars);
    if (refusal === null) this.chars += chars;
    return refusal;
  }

  leave(at: number): void {
    this.#all.leave(this, at);
  }
}
