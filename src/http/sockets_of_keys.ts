/** Counts the open WebSockets of each key. */
import { Failure } from "../exchange/failure.ts";

export class SocketsOfKeys {
  readonly #open = new Map<string, number>();

  /**
   * Takes a place for a WebSocket; returns a function that releases it. Throws `provider_rate_limited` if the
   * key has the maximum number. @param most null: unlimited
   */
  enter(key: string, most: number | null): () => void {
    const count = this.#open.get(key) ?? 0;
    if (most !== null && count >= most) {
      throw new Failure(
        "provider_rate_limited",
        `Cannot open a WebSocket: this key has ${count} open, which is the maximum.`,
      );
    }
    this.#open.set(key, count + 1);
    return () => {
      const left = this.#open.get(key)! - 1;
      if (left === 0) this.#open.delete(key);
      else this.#open.set(key, left);
    };
  }
}
