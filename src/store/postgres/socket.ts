/**
 * The socket passed to postgres.js. Version 3.4.9 mishandles the close of its own sockets: it drops its
 * reference, then writes from a timer and throws there, where nobody can catch it, and the process ends
 * (porsager/postgres issues 1066, 1154 and 1208). Or the connection stays in the pool but never writes again.
 *
 * This socket hides the close event from the driver. Pending work fails with an error, and the pool is
 * notified, so that it can be replaced. The driver sees the close only while the server has not completed the
 * login (for example because it has no connection left): then the driver has nothing to write, and reconnects
 * when needed. TLS is negotiated here too, since the driver would otherwise replace this socket by its own.
 *
 * After the login the session settings are sent before the driver learns that the server is ready. A pooler
 * such as PgBouncer rejects or ignores settings in the startup message.
 */
import { Buffer } from "node:buffer";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

export interface SocketOptions {
  /** The URL's `sslmode`; null: not set. */
  sslMode: string | null;
  timeoutMs: number;
  /** SQL statements sent first on each connection. */
  opening: string;
  /** Called when a connection closes after the login. */
  onClosed(): void;
}

interface Address {
  host: string[];
  port: number[];
  path?: string | false;
}

interface Named {
  host: string;
  port: number;
}

/** SSLRequest message: length 8, request code 80877103. */
const SSL_REQUEST = new Uint8Array([0, 0, 0, 8, 4, 210, 22, 47]);
const YES = 83;

/** Connects within the timeout, or rejects. */
export async function openSocket(address: Address, options: SocketOptions): Promise<Socket & Named> {
  const plain = address.path ? connectTcp(address.path) : connectTcp(address.port[0], address.host[0]);
  const timer = setTimeout(() => plain.destroy(coded("CONNECT_TIMEOUT")), options.timeoutMs);
  try {
    await once(plain, "connect");
    const socket = prepared(await secured(plain, address, options.sslMode), options);
    // The driver reads these properties for its error messages.
    return Object.assign(socket, { host: address.host[0], port: address.port[0] });
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
    // As in libpq, only these two modes verify the certificate.
    rejectUnauthorized: mode === "verify-full" || mode === "verify-ca",
  });
  await once(secure, "secureConnect");
  return secure;
}

/** Resolves with the next event of this name; rejects on an error or close before it. */
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

/** Hides the close from the driver, and messages that arrive before the settings were answered. */
function prepared(socket: Socket, { opening, onClosed }: SocketOptions): Socket {
  const listen = socket.on.bind(socket);
  const forget = socket.removeListener.bind(socket);
  const welcome = new Welcome();
  let hidden: Listener = () => {};
  let reader: Listener | null = null;
  // Without a listener, an error after the pool was abandoned would be uncaught.
  listen("error", () => {});
  listen("close", () => {
    socket.emit("error", coded("CONNECTION_CLOSED"));
    if (welcome.isOver) onClosed();
    else hidden(false);
  });
  const look = (bytes: Uint8Array) => {
    const { forwarded, isLetIn } = welcome.read(bytes);
    if (isLetIn) socket.write(statement(opening));
    if (forwarded.length > 0) reader?.(forwarded);
    if (welcome.isOver) {
      forget("data", look);
      if (reader !== null) listen("data", reader);
    } else if (welcome.hasFailed) socket.destroy();
  };
  listen("data", look);
  const on = (event: string, listener: Listener): Socket => {
    // A listener added with `once` has the property `listener`: the driver uses those to wait for a close
    // that it requested.
    if (event === "close" && !("listener" in listener)) {
      hidden = listener;
      return socket;
    }
    if (event === "data" && !welcome.isOver) {
      reader = listener;
      return socket;
    }
    return listen(event, listener);
  };
  const removeListener = (event: string, listener: Listener): Socket => {
    if (listener === reader) reader = null;
    return forget(event, listener);
  };
  socket.on = on as Socket["on"];
  socket.removeListener = removeListener as Socket["removeListener"];
  return socket;
}

/** A Query message ("Q"): SQL statements, which the server answers in order and ends with ReadyForQuery ("Z"). */
function statement(sql: string): Uint8Array {
  const text = new TextEncoder().encode(sql);
  const message = new Uint8Array(text.length + 6);
  message[0] = "Q".charCodeAt(0);
  new DataView(message.buffer).setUint32(1, text.length + 5);
  message.set(text, 5);
  return message;
}

/** ReadyForQuery. */
const READY = "Z".charCodeAt(0);
const FAILURE = "E".charCodeAt(0);
/** Messages that may occur between answers: NoticeResponse, ParameterStatus. */
const PASSED_ON = ["N", "S"].map((letter) => letter.charCodeAt(0));
/** Header of a message: type (1 byte) and length (4 bytes), where the length includes itself. */
const HEAD_BYTES = 5;

/**
 * Filters the server's messages until login and settings are complete. All of them except the answer to the
 * settings are forwarded to the driver.
 */
class Welcome {
  /** The settings were answered; everything else is passed through. */
  isOver = false;
  /** The server rejected the settings. */
  hasFailed = false;
  /** The server's first ReadyForQuery, which is forwarded last. */
  #ready: Buffer | null = null;
  #rest = Buffer.alloc(0);

  /** Returns the bytes to forward, and whether the settings should be sent. */
  read(bytes: Uint8Array): { forwarded: Buffer; isLetIn: boolean } {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const forwarded: Buffer[] = [];
    let isLetIn = false;
    while (!this.isOver && this.#rest.length >= HEAD_BYTES) {
      const length = 1 + this.#rest.readUInt32BE(1);
      if (this.#rest.length < length) break;
      const message = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      if (this.#ready === null) {
        if (message[0] === READY) [this.#ready, isLetIn] = [message, true];
        else forwarded.push(message);
      } else if (message[0] === READY) {
        if (this.hasFailed) continue;
        this.isOver = true;
        forwarded.push(this.#ready, this.#rest);
      } else if (message[0] === FAILURE) {
        this.hasFailed = true;
        forwarded.push(message);
      } else if (PASSED_ON.includes(message[0])) forwarded.push(message);
    }
    return { forwarded: Buffer.concat(forwarded), isLetIn };
  }
}

function coded(code: string): Error {
  return Object.assign(new Error("The connection to the database is gone."), { code });
}
