/**
 * The socket that postgres.js is given, because of how 3.4.9 treats its own: when one closes it forgets it, goes on to write
 * from a timer, and throws there, out of anybody's reach; the process ends (porsager/postgres issues 1066, 1154 and 1208).
 * Or the connection stays in the pool, never to write again.
 *
 * This socket hides its closing from the driver. What runs on it fails with an error instead, and whoever made the pool is
 * told, to make another. Only where the server has not let it in yet, as one that has no connection left, the driver may
 * know: it had nothing to write then, and connects again when it needs to. TLS happens here too, since the driver would
 * otherwise replace the socket by one of its own.
 */
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

export interface SocketOptions {
  /** As in the URL's `sslmode`; null: none. */
  sslMode: string | null;
  timeoutMs: number;
  /** It was in use. */
  onClosed(): void;
}

interface Address {
  host: string[];
  port: number[];
  path?: string | false;
}

/** Asks a server whether it speaks TLS: length 8, request code 80877103. */
const SSL_REQUEST = new Uint8Array([0, 0, 0, 8, 4, 210, 22, 47]);
const YES = 83;

/** Connects, in time or not at all. */
export async function openSocket(address: Address, options: SocketOptions): Promise<Socket> {
  const plain = address.path ? connectTcp(address.path) : connectTcp(address.port[0], address.host[0]);
  const timer = setTimeout(() => plain.destroy(coded("CONNECT_TIMEOUT")), options.timeoutMs);
  try {
    await once(plain, "connect");
    return hideClosing(await secured(plain, address, options.sslMode), options.onClosed);
  } catch (error) {
    plain.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function secured(plain: Socket, address: Address, mode: string | null): Promise<Socket> {
  if (mode === null || mode === "disable") return plain;
  plain.write(SSL_REQUEST);
  const answer = await once(plain, "data");
  if (!(answer instanceof Uint8Array) || answer[0] !== YES) {
    if (mode === "prefer" || mode === "allow") return plain;
    throw coded("CONNECT_TLS_REFUSED");
  }
  plain.removeAllListeners();
  const host = address.host[0];
  const secure = connectTls({
    socket: plain,
    servername: isIP(host) > 0 ? undefined : host,
    // As libpq has it: only these two modes look at who answers.
    rejectUnauthorized: mode === "verify-full" || mode === "verify-ca",
  });
  await once(secure, "secureConnect");
  return secure;
}

/** The first event of a name, as a promise; an error or a close before it is its failure. */
function once(socket: Socket, event: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const failed = (error?: unknown) => {
      removeListeners();
      reject(error instanceof Error ? error : coded("CONNECTION_CLOSED"));
    };
    const done = (value?: unknown) => {
      removeListeners();
      resolve(value);
    };
    function removeListeners(): void {
      socket.off(event, done);
      socket.off("error", failed);
      socket.off("close", failed);
    }
    socket.on(event, done);
    socket.on("error", failed);
    socket.on("close", failed);
  });
}

type Listener = (...args: unknown[]) => void;

function hideClosing(socket: Socket, onClosed: () => void): Socket {
  const listen = socket.on.bind(socket);
  const welcome = new Welcome();
  let hidden: Listener = () => {};
  // Its pool may have been left behind by the time it fails.
  listen("error", () => {});
  listen("close", () => {
    socket.emit("error", coded("CONNECTION_CLOSED"));
    if (welcome.isOver) onClosed();
    else hidden(false);
  });
  const look = (bytes: Uint8Array) => {
    welcome.read(bytes);
    if (welcome.isOver) socket.off("data", look);
  };
  listen("data", look);
  const on = (event: string, listener: Listener): Socket => {
    // A listener made by `once` carries the one that it stands for: the driver waits with those for the end it asked for.
    if (event === "close" && !("listener" in listener)) {
      hidden = listener;
      return socket;
    }
    return listen(event, listener);
  };
  socket.on = on as Socket["on"];
  return socket;
}

/** "Z": the server has let its client in, and waits for what it is asked. */
const READY = 90;

/** What a server says until it has let its client in: messages of a letter, their length without it in four bytes, and the rest. */
class Welcome {
  isOver = false;
  #head: number[] = [];
  /** Bytes of the message that are still to come. */
  #left = 0;

  read(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && !this.isOver;) {
      if (this.#left > 0) {
        const skipped = Math.min(this.#left, bytes.length - at);
        this.#left -= skipped;
        at += skipped;
        continue;
      }
      if (this.#head.push(bytes[at++]) < 5) continue;
      const [letter, ...length] = this.#head;
      this.isOver = letter === READY;
      this.#left = Math.max(0, length.reduce((sum, byte) => sum * 256 + byte, 0) - 4);
      this.#head = [];
    }
  }
}

function coded(code: string): Error {
  return Object.assign(new Error("The connection to the database is gone."), { code });
}
