/** Where connections of callers come from: TCP in the open, or behind TLS. */

/** The part of `Deno.TcpConn` that the server needs. */
export interface Conn {
  readonly remoteAddr: Deno.Addr;
  /** The caller speaks HTTP/2. Absent: it does not. */
  readonly http2?: boolean;
  setNoDelay(on: boolean): void;
  read(into: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
  closeWrite(): Promise<void>;
  /**
   * Tells the other side that all has been sent. Absent: the end of the connection tells it.
   *
   * @param waits called before it waits for the other side; not called where there is nothing to wait for
   */
  finish?(waits: () => void): Promise<void>;
  close(): void;
}

/** The part of `Deno.TcpListener` that the server needs. */
export interface Listener {
  readonly addr: Deno.Addr;
  accept(): Promise<Conn>;
  close(): void;
}

/** In PEM. */
export interface Certificate {
  /** The server's certificate, then those that vouch for it. */
  cert: string;
  key: string;
}
