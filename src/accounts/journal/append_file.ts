/**
 * An append-only file with space allocated in advance by writing zeros, so that an append into that space
 * cannot fail because of a full disk. This holds on file systems that overwrite in place, such as ext4, XFS,
 * NTFS and APFS without snapshots.
 */

/**
 * Bytes allocated in advance: as many as are needed already, within these limits. The first call after a start
 * should not wait until a large chunk is written.
 */
const LEAST_AHEAD = 64 << 10;
const MOST_AHEAD = 1 << 20;

const encoder = new TextEncoder();

export class AppendFile {
  readonly #handle: Deno.FsFile;
  readonly #buffer = new Uint8Array(64 << 10);
  /** Position of the next append. */
  #length = 0;
  /** Allocated size of the file. */
  #allocated = 0;

  /** Creates or replaces the file with a text. Throws file system errors. */
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
      // A partial line must be overwritten by the next one.
      this.#handle.seekSync(this.#length, Deno.SeekMode.Start);
      throw error;
    }
    this.#length += length;
    if (this.#allocated < this.#length) this.#allocated = this.#length;
  }

  /** Allocates at least `size` bytes, and if it has to allocate, more in advance. */
  reserve(size: number): void {
    if (size <= this.#allocated) return;
    const end = size + Math.min(MOST_AHEAD, Math.max(LEAST_AHEAD, size));
    const zeros = new Uint8Array(Math.min(MOST_AHEAD, end - this.#allocated));
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
