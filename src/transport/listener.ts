/** Interface of listeners for client connections: plain TCP or TLS. */

/** The part of `Deno.TcpConn` that the server uses. */
export interface Conn {
  readonly remoteAddr: Deno.Addr;
  /** The client negotiated HTTP/2. Absent: no. */
  readonly http2?: boolean;
  setNoDelay(on: boolean): void;
  read(into: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
  closeWrite(): Promise<void>;
  /**
   * Signals the end of the data (TLS close_notify). Absent: closing the connection does.
   *
   * @param waits called before waiting for the peer; not called if there is nothing to wait for
   */
  finish?(waits: () => void): Promise<void>;
  close(): void;
}

/** The part of `Deno.TcpListener` that the server uses. */
export interface Listener {
  readonly addr: Deno.Addr;
  accept(): Promise<Conn>;
  close(): void;
}

/** In PEM format. */
export interface Certificate {
  /** The server certificate, followed by intermediate certificates. */
  cert: string;
  key: string;
}
