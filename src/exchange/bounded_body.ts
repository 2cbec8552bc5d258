/** Answers of other services than the providers of models: a stranger's, who may send more than anybody can hold. */

/** Pieces that are read before others have their turn; each takes some 40 µs, however small it is (Deno 2.9.6). */
const TURN_PIECES = 16;

/** The body's bytes. Throws where there are more than `most`, of which nothing is kept. */
export async function boundedBytes(
  { body }: Response,
  most: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  // Whatever ends the loop cancels the body.
  for await (const piece of body ?? []) {
    size += piece.length;
    if (size > most) throw new RangeError(`the answer is longer than ${most} bytes`);
    pieces.push(piece);
    if (pieces.length % TURN_PIECES === 0) await new Promise((resolve) => setTimeout(resolve));
  }
  if (pieces.length === 1) return pieces[0];
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

export async function boundedText(response: Response, most: number): Promise<string> {
  return new TextDecoder().decode(await boundedBytes(response, most));
}
