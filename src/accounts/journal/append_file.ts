/**
 * A file that grows at its end, with space allocated ahead by writing zeros: an append into that space cannot fail for a
 * full disk. This holds on file systems that overwrite in place, as ext4, XFS, NTFS and APFS without snapshots do.
 */

/** Allocated at a time. */
const CHUNK = 1 << 20;

const encoder = new TextEncoder();

export class AppendFile {
  readonly #handle: Deno.FsFile;
  readonly #buffer = new Uint8Array(64 << 10);
  /** Where the next append goes. */
  #length = 0;
  /** How far the file has been filled. */
  #allocated = 0;

  /** Makes the file anew with a text. Throws what the file system throws. */
  constructor(path: string, text: string) {
    this.#handle = Deno.openSync(path, { write: true, create: true, truncate: true, mode: 0o600 });
    try {
      this.append(text);
    } catch (error) {
      this.#handle.close();
      throw error;
    }
  }

  get length(): number {
    return this.#length;
  }

  get allocated(): number {
    return this.#allocated;
  }

  append(text: string): void {
    let bytes = this.#buffer;
    let { read, written: length } = encoder.encodeInto(text, bytes);
    if (read < text.length) {
      bytes = encoder.encode(text);
      length = bytes.length;
    }
    try {
      for (let done = 0; done < length;) done += this.#handle.writeSync(bytes.subarray(done, length));
    } catch (error) {
      // Half a line must not run into the next one.
      this.#handle.seekSync(this.#length, Deno.SeekMode.Start);
      throw error;
    }
    this.#length += length;
    if (this.#allocated < this.#length) this.#allocated = this.#length;
  }

  /** Makes the file at least `size` long, and one chunk longer when it is at it. */
  reserve(size: number): void {
    if (size <= this.#allocated) return;
    const end = size + CHUNK;
    const zeros = new Uint8Array(Math.min(CHUNK, end - this.#allocated));
    this.#handle.seekSync(this.#allocated, Deno.SeekMode.Start);
    try {
      while (this.#allocated < end) {
        this.#allocated += this.#handle.writeSync(
          zeros.subarray(0, Math.min(zeros.length, end - this.#allocated)),
        );
      }
    } finally {
      this.#handle.seekSync(this.#length, Deno.SeekMode.Start);
    }
  }

  sync(): Promise<void> {
    return this.#handle.syncData();
  }

  close(): void {
    this.#handle.close();
  }
}
