/**
 * Decompresses a body in `br` or `zstd`, for which there is no `DecompressionStream`.
 *
 * A few bytes of both can expand to many megabytes. These streams decompress no further than what is read
 * from them, unlike a `DecompressionStream`, which expands each chunk at once.
 */
import { Buffer } from "node:buffer";
import { pipeline, Readable } from "node:stream";
import { constants, createBrotliDecompress, createZstdDecompress } from "node:zlib";

/** Window of at most 8 MiB, as RFC 9659 requires of senders: a larger one is memory for the caller to claim. */
const ZSTD_WINDOW_LOG = 23;

const METHODS = {
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } }),
};

export type PackedAs = keyof typeof METHODS;

export async function* unpack(
  body: AsyncIterable<Uint8Array>,
  method: PackedAs,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let came = 0;
  async function* counted() {
    for await (const chunk of body) {
      came += chunk.length;
      yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    }
  }
  // Errors of the source reach the reader of the result too.
  const unpacked = pipeline(Readable.from(counted()), METHODS[method](), () => {});
  let given = 0;
  for await (const chunk of unpacked) {
    given += chunk.length;
    yield chunk;
  }
  // A body that was cut within its first block is no error to the library.
  if (came > 0 && given === 0) throw new Error(`incomplete ${method} data`);
}
