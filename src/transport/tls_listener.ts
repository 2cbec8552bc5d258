/**
 * TLS listener based on `node:tls`: `Deno.listenTls` cannot disable Nagle's algorithm, which delays each
 * frame of a stream until the previous one is acknowledged (40 ms on the same machine; Deno 2.9.6), and
 * cannot change its certificate.
 */
import { createServer, type Server as TlsServer, type TLSSocket } from "node:tls";
import type { Socket } from "node:net";
import type { Certificate, Conn, Listener } from "./listener.ts";
import { tryCertificate } from "./try_certificate.ts";

/** How often the listener is restarted if it has stopped, in milliseconds; see `revive`. */
const REVIVE_MS = 250;
/** The interval when many handshakes are aborted, whose file descriptors are released in a later turn. */
const REVIVE_SOON_MS = 5;
/** Maximum bytes per write: a socket reports when a write is complete, not its progress. */
const MOST_WRITTEN = 1 << 16;

export interface TlsListener extends Listener {
  /** Replaces the certificate for new connections. Throws if the key does not match the certificate. */
  renew(certificate: Certificate): void;
}

export interface TlsOptions extends Certificate {
  hostname: string;
  port: number;
  reusePort?: boolean;
  backlog: number;
  /** Timeout of the handshake, in milliseconds. */
  handshakeMs: number;
  /** Maximum concurrent handshakes; beyond it the oldest is aborted. */
  mostHandshakes(): number;
  /** HTTP/2 is offered (ALPN). */
  http2: boolean;
}

/** Rejects with a Deno error if the address is not available. */
export async function listenTls(options: TlsOptions): Promise<TlsListener> {
  const { hostname, port, reusePort, backlog, handshakeMs, mostHandshakes, cert, key, http2 } = options;
  tryCertificate(options);
  const arrived: Conn[] = [];
  let waiting: PromiseWithResolvers<Conn> | null = null;
  let closed = false;
  /** By client address. */
  const handshakes = new Map<string, Socket>();
  let soon: ReturnType<typeof setTimeout> | undefined;
  const server = createServer(
    { cert, key, ALPNProtocols: http2 ? ["h2", "http/1.1"] : ["http/1.1"], handshakeTimeout: handshakeMs },
    (socket) => {
      handshakes.delete(peerOf(socket));
      const conn = new TlsConn(socket);
      if (closed) return conn.close();
      if (waiting === null) arrived.push(conn);
      else waiting.resolve(conn);
      waiting = null;
    },
  );
  server.on("connection", (socket: Socket) => {
    const peer = peerOf(socket);
    handshakes.set(peer, socket);
    socket.once("close", () => handshakes.get(peer) === socket && handshakes.delete(peer));
    const [[longest, first]] = handshakes;
    if (handshakes.size <= mostHandshakes()) return;
    handshakes.delete(longest);
    first.destroy();
    soon ??= setTimeout(() => {
      soon = undefined;
      revive(server, backlog);
    }, REVIVE_SOON_MS);
  });
  server.on("tlsClientError", (_, socket) => {
    handshakes.delete(peerOf(socket));
    socket.destroy();
  });
  await listening(server, { host: hostname, port, reusePort, backlog });
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("The server has no address.");
  server.on("error", () => {});
  const reviving = setInterval(() => revive(server, backlog), REVIVE_MS);
  Deno.unrefTimer(reviving);
  return {
    addr: { transport: "tcp", hostname: address.address, port: address.port },
    accept() {
      if (closed) return Promise.reject(new Deno.errors.BadResource("The listener is closed."));
      const conn = arrived.shift();
      if (conn !== undefined) return Promise.resolve(conn);
      waiting = Promise.withResolvers();
      return waiting.promise;
    },
    close() {
      closed = true;
      clearInterval(reviving);
      clearTimeout(soon);
      server.close();
      for (const conn of arrived.splice(0)) conn.close();
      for (const socket of handshakes.values()) socket.destroy();
      handshakes.clear();
      waiting?.reject(new Deno.errors.BadResource("The listener is closed."));
      waiting = null;
    },
    renew(next) {
      tryCertificate(next);
      server.setSecureContext(next);
    },
  };
}

/**
 * After the process could open no file for a connection, `node:net` stops accepting without an error (Deno
 * 2.9.6). Calling listen again on the same socket makes it continue; if it has not stopped, the call has no
 * effect and takes a tenth of a microsecond.
 */
function revive(server: TlsServer, backlog: number): void {
  const { _handle: handle } = server as { _handle?: { listen?(backlog: number): number } | null };
  handle?.listen?.(backlog);
}

function addressOf({ remoteAddress = "", remotePort = 0 }: TLSSocket): Deno.NetAddr {
  return { transport: "tcp", hostname: remoteAddress, port: remotePort };
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

interface Address {
  host: string;
  port: number;
  reusePort?: boolean;
  backlog: number;
}

function listening(server: TlsServer, address: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: Error & { code?: string }) => {
      const { code, message } = error;
      if (code === "EADDRINUSE") reject(new Deno.errors.AddrInUse(message));
      else if (code === "EACCES") reject(new Deno.errors.PermissionDenied(message));
      else reject(error);
    });
    server.listen(address, () => resolve());
  });
}

/** A native connection: of TLS, or of the TCP connection below it. */
interface Handle {
  readStart(): number;
  readStop(): number;
}

/**
 * Makes TCP stop and start receiving together with TLS, so that a client who sends more than is read has to wait.
 *
 * Deno stops TLS only (2.9.6): up to 2 MB that have arrived are then read into the memory for each connection, and all that arrives later.
 */
function stopTogether(socket: TLSSocket): void {
  const { _handle: tls, _parent } = socket as { _handle?: Handle; _parent?: { _handle?: Handle } };
  const tcp = _parent?._handle;
  if (!tls || !tcp) return;
  const { readStart, readStop } = tls;
  tls.readStop = () => {
    tcp.readStop();
    return readStop.call(tls);
  };
  tls.readStart = () => {
    tcp.readStart();
    return readStart.call(tls);
  };
}

/** A Node socket with the interface of a Deno connection. Reads only on demand. */
class TlsConn implements Conn {
  readonly #socket: TLSSocket;
  #ended = false;
  #failed: Error | null = null;
  /** Null: no read is pending. */
  #wake: (() => void) | null = null;
  readonly remoteAddr: Deno.NetAddr;
  readonly http2: boolean;

  constructor(socket: TLSSocket) {
    this.#socket = socket;
    stopTogether(socket);
    this.http2 = socket.alpnProtocol === "h2";
    this.remoteAddr = addressOf(socket);
    socket.on("readable", () => this.#wakes());
    socket.on("end", () => this.#end(null));
    socket.on("close", () => this.#end(null));
    socket.on("error", (error: Error) => this.#end(error));
  }

  #wakes(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  #end(error: Error | null): void {
    this.#ended = true;
    this.#failed ??= error;
    this.#wakes();
  }

  setNoDelay(on: boolean): void {
    this.#socket.setNoDelay(on);
  }

  async read(into: Uint8Array): Promise<number | null> {
    while (true) {
      const socket = this.#socket;
      const length = Math.min(into.length, socket.readableLength);
      const bytes: Uint8Array | null = length > 0 ? socket.read(length) : socket.read();
      if (bytes !== null) {
        into.set(bytes.subarray(0, into.length));
        if (bytes.length > into.length) socket.unshift(bytes.subarray(into.length));
        return Math.min(bytes.length, into.length);
      }
      if (this.#failed) throw this.#failed;
      if (this.#ended) return null;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  /**
   * Writes a part of the bytes, like a connection without TLS, so that slow clients can be distinguished from
   * stalled ones.
   */
  write(bytes: Uint8Array): Promise<number> {
    const piece = bytes.length > MOST_WRITTEN ? bytes.subarray(0, MOST_WRITTEN) : bytes;
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new Deno.errors.BadResource("The connection is closed."));
      this.#socket.write(piece, (error) => error ? reject(error) : resolve(piece.length));
    });
  }

  /** Sends close_notify: without it, an answer that ends with the connection is treated as truncated. */
  async finish(waits: () => void): Promise<void> {
    if (this.#ended || this.#socket.destroyed) return;
    waits();
    await this.closeWrite();
  }

  closeWrite(): Promise<void> {
    return new Promise((resolve) => this.#socket.end(() => resolve()));
  }

  close(): void {
    this.#socket.destroy();
    this.#end(null);
  }
}
