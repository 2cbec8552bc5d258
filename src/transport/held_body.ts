/**
 * A long body as a sequence of pieces, each released once it is taken: the client may need minutes for all of
 * them.
 */

const PIECE_BYTES = 1 << 16;

export class HeldBody {
  readonly length: number;
  readonly #pieces: (Uint8Array<ArrayBuffer> | null)[];
  #at = 0;
  /** Bytes not taken yet. */
  left: number;

  constructor(pieces: Uint8Array<ArrayBuffer>[]) {
    this.#pieces = pieces;
    this.length = this.left = pieces.reduce((sum, { length }) => sum + length, 0);
  }

  static ofText(text: string): HeldBody {
    const bytes = new TextEncoder().encode(text);
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      pieces.push(bytes.subarray(at, at + PIECE_BYTES));
    }
    return new HeldBody(pieces);
  }

  /** The next piece; null: end of the body. */
  take(): Uint8Array<ArrayBuffer> | null {
    if (this.#at === this.#pieces.length) return null;
    const piece = this.#pieces[this.#at];
    this.#pieces[this.#at++] = null;
    this.left -= piece!.length;
    return piece;
  }

  /** For servers that need a ReadableStream. */
  stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return new ReadableStream({
      pull: (controller) => {
        const piece = this.take();
        if (piece === null) controller.close();
        else controller.enqueue(piece);
      },
      cancel: () => {
        this.#pieces.length = this.#at = this.left = 0;
      },
    }, { highWaterMark: 0 });
  }
}
