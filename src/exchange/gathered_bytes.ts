/**
 * Bytes that arrive in parts, gathered in one growing buffer. The sender chooses the size of the parts, and a list of parts of one byte
 * would take a hundred times the memory of the bytes.
 */
type Bytes = Uint8Array<ArrayBuffer>;

const NOTHING: Bytes = new Uint8Array();

export class GatheredBytes {
  readonly #most: number;
  #buffer = NOTHING;
  #length = 0;

  /** @param most the maximum size, which the caller of `add` enforces: the buffer does not grow beyond it in advance */
  constructor(most = Infinity) {
    this.#most = most;
  }

  get length(): number {
    return this.#length;
  }

  /** Copies the bytes. */
  add(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(length, Math.min(this.#most, 2 * this.#buffer.length)));
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length = length;
  }

  /** A view of all bytes, valid until more are added. */
  get bytes(): Bytes {
    return this.#buffer.subarray(0, this.#length);
  }
}
