/**
 * The socket that postgres.js is given, because of how 3.4.9 treats its own: when one closes it forgets it, goes on to write
 * from a timer, and throws there, out of anybody's reach; the process ends (porsager/postgres issues 1066, 1154 and 1208).
 * Or the connection stays in the pool, never to write again.
 *
 * This socket hides its closing from the driver. What runs on it fails with an error instead, and whoever made the pool is
 * told, to make another. Only where the server has not let it in yet, as one that has no connection left, the driver may
 * know: it had nothing to write then, and connects again when it needs to. TLS happens here too, since the driver would
 * otherwise replace the socket by one of its own.
 *
 * Once the server has let the driver in, it is told the session's settings before the driver hears of it. A pooler such as
 * PgBouncer refuses them among the parameters of the start, or leaves them out.
 */
import { Buffer } from "node:buffer";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

export interface SocketOptions {
  /** As in the URL's `sslmode`; null: none. */
  sslMode: string | null;
  timeoutMs: number;
  /** Said before anything else on each connection: statements of SQL. */
  opening: string;
  /** It was in use. */
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

/** Asks a server whether it speaks TLS: length 8, request code 80877103. */
const SSL_REQUEST = new Uint8Array([0, 0, 0, 8, 4, 210, 22, 47]);
const YES = 83;

/** Connects, in time or not at all. */
export async function openSocket(address: Address, options: SocketOptions): Promise<Socket & Named> {
  const plain = address.path ? connectTcp(address.path) : connectTcp(address.port[0], address.host[0]);
  const timer = setTimeout(() => plain.destroy(coded("CONNECT_TIMEOUT")), options.timeoutMs);
  try {
    await once(plain, "connect");
    const socket = prepared(await secured(plain, address, options.sslMode), options);
    // The driver names them where it gives up.
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

/** Hides its closing from the driver, and what is said before it may speak. */
function prepared(socket: Socket, { opening, onClosed }: SocketOptions): Socket {
  const listen = socket.on.bind(socket);
  const forget = socket.removeListener.bind(socket);
  const welcome = new Welcome();
  let hidden: Listener = () => {};
  let reader: Listener | null = null;
  // Its pool may have been left behind by the time it fails.
  listen("error", () => {});
  listen("close", () => {
    socket.emit("error", coded("CONNECTION_CLOSED"));
    if (welcome.isOver) onClosed();
    else hidden(false);
  });
  const look = (bytes: Uint8Array) => {
    const { told, isLetIn } = welcome.read(bytes);
    if (isLetIn) socket.write(statement(opening));
    if (told.length > 0) reader?.(told);
    if (welcome.isOver) {
      forget("data", look);
      if (reader !== null) listen("data", reader);
    } else if (welcome.hasFailed) socket.destroy();
  };
  listen("data", look);
  const on = (event: string, listener: Listener): Socket => {
    // A listener made by `once` carries the one that it stands for: the driver waits with those for the end it asked for.
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

/** A message "Q": statements of SQL, which the server answers one after the other, and then with "Z". */
function statement(sql: string): Uint8Array {
  const text = new TextEncoder().encode(sql);
  const message = new Uint8Array(text.length + 6);
  message[0] = "Q".charCodeAt(0);
  new DataView(message.buffer).setUint32(1, text.length + 5);
  message.set(text, 5);
  return message;
}

/** "Z": the server waits for what it is asked. */
const READY = "Z".charCodeAt(0);
const FAILURE = "E".charCodeAt(0);
/** What else may come between statements: a notice, a parameter that has changed. */
const PASSED_ON = ["N", "S"].map((letter) => letter.charCodeAt(0));
/** A letter, and the length of what follows it, itself among it, in four bytes. */
const HEAD_BYTES = 5;

/**
 * What a server says until it has let its client in and has answered the opening: messages, of which the driver is told all but that
 * answer.
 */
class Welcome {
  /** The opening has been answered; all else is between the server and the driver. */
  isOver = false;
  /** The opening was refused. */
  hasFailed = false;
  /** The message by which the server let its client in: the driver is told of it at the end. */
  #ready: Buffer | null = null;
  #rest = Buffer.alloc(0);

  /** What the driver is told now, and whether it is time for the opening. */
  read(bytes: Uint8Array): { told: Buffer; isLetIn: boolean } {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const told: Buffer[] = [];
    let isLetIn = false;
    while (!this.isOver && this.#rest.length >= HEAD_BYTES) {
      const length = 1 + this.#rest.readUInt32BE(1);
      if (this.#rest.length < length) break;
      const message = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      if (this.#ready === null) {
        if (message[0] === READY) [this.#ready, isLetIn] = [message, true];
        else told.push(message);
      } else if (message[0] === READY) {
        if (this.hasFailed) continue;
        this.isOver = true;
        told.push(this.#ready, this.#rest);
      } else if (message[0] === FAILURE) {
        this.hasFailed = true;
        told.push(message);
      } else if (PASSED_ON.includes(message[0])) told.push(message);
    }
    return { told: Buffer.concat(told), isLetIn };
  }
}

function coded(code: string): Error {
  return Object.assign(new Error("The connection to the database is gone."), { code });
}
