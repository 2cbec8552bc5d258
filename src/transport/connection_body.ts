/** The body of a request, read from its connection on demand. */
import { Buffer } from "node:buffer";
import { WireError } from "./body_framing.ts";
import type { BodySource } from "./incoming.ts";
import type { RequestHead } from "./request_head.ts";

/** What a body needs from its connection. */
export interface BodyConnection {
  /** Number of bytes in the buffer that have not been consumed. */
  readonly unread: number;
  /** Reads more bytes into the buffer; false: end of the connection. */
  fill(): Promise<boolean>;
  /** Passes the unconsumed bytes to `use`, which returns the position up to which it consumed them. */
  taken(use: (buffer: Buffer, from: number, to: number) => number): void;
  /** Reads directly into another buffer, if the connection's buffer is empty; null: end of the connection. */
  readDirectly(into: Uint8Array): Promise<number | null>;
  bodyWaits(): void;
  bodyCame(ended: boolean): void;
  write(bytes: Uint8Array): Promise<void>;
}

/** The body of the request that the connection is currently processing. */
export class ConnectionBody implements BodySource {
  readonly #connection: BodyConnection;
  readonly #head: RequestHead;
  #invited = false;

  constructor(connection: BodyConnection, head: RequestHead) {
    this.#connection = connection;
    this.#head = head;
  }

  invite(): void {
    if (this.#invited) return;
    this.#invited = true;
    if (!this.#head.expects || this.#connection.unread > 0) return;
    this.#connection.write(Buffer.from("HTTP/1.1 100 Continue\r\n\r\n")).catch(() => {});
  }

  async next(): Promise<Uint8Array<ArrayBuffer> | null> {
    const connection = this.#connection;
    const { framing } = this.#head;
    while (true) {
      if (framing.ended) return null;
      if (connection.unread === 0) {
        connection.bodyWaits();
        if (!await connection.fill()) throw new WireError("the body broke off");
      }
      let bytes: Uint8Array<ArrayBuffer> | undefined;
      connection.taken((buffer, from, to) => {
        const end = framing.take(buffer, from, to);
        // A copy, since the buffer is reused for what the client sends next.
        if (end > from) bytes = new Uint8Array(buffer.subarray(from, end));
        return to - framing.unused;
      });
      connection.bodyCame(framing.ended);
      if (bytes !== undefined) return bytes;
    }
  }

  atHand<T>(read: (bytes: Uint8Array) => T): T | null {
    const connection = this.#connection;
    const { framing } = this.#head;
    const { left } = framing;
    if (left === null || left === 0 || connection.unread < left) return null;
    let bytes!: Uint8Array;
    connection.taken((buffer, from) => {
      bytes = new Uint8Array(buffer.buffer, buffer.byteOffset + from, left);
      return from + left;
    });
    try {
      return read(bytes);
    } finally {
      // The buffer may be overwritten from here on.
      framing.skip(left);
      connection.bodyCame(true);
    }
  }

  async readInto(bytes: Uint8Array): Promise<number> {
    const connection = this.#connection;
    const { framing } = this.#head;
    let n = 0;
    if (connection.unread > 0) {
      connection.taken((buffer, from, to) => {
        n = Math.min(bytes.length, to - from);
        bytes.set(buffer.subarray(from, from + n));
        return from + n;
      });
    } else {
      connection.bodyWaits();
      const read = await connection.readDirectly(bytes);
      if (read === null) throw new WireError("the body broke off");
      n = read;
    }
    framing.skip(n);
    connection.bodyCame(framing.ended);
    return n;
  }
}
