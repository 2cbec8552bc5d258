/** How many WebSockets each key has open. */
import { Failure } from "../exchange/failure.ts";

export class SocketsOfKeys {
  readonly #open = new Map<string, number>();

  /**
   * Takes a place for one of this key; gives what gives it back. Throws `provider_rate_limited` where the key has as many as it may.
   * @param most null: no bound
   */
  enter(key: string, most: number | null): () => void {
    const count = this.#open.get(key) ?? 0;
    if (most !== null && count >= most) {
      throw new Failure(
        "provider_rate_limited",
        `Cannot open a WebSocket: this key has ${count} open, which are all that it may.`,
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
