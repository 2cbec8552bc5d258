/** A server of HTTP/2 behind TLS each of whose frames a test writes, and what a client comes to with it. */
import { Failure } from "../../../src/exchange/failure.ts";
import { openSend, type Send } from "../../../src/outgoing/send.ts";
import type { Exchange, Reply } from "../../../src/outgoing/reply.ts";
import {
  FLAG,
  FRAME,
  frame,
  numberFrame,
  PREFACE,
  readUint32,
  settings,
} from "../../../src/outgoing/http2/frames.ts";
import { encodeFields, type Field, HeadDecoder } from "../../../src/outgoing/http2/hpack.ts";
import type { Ticker } from "../../../src/timing/ticker.ts";
import { CA, TLS } from "../../support/tls.ts";

export interface Frame {
  type: number;
  flags: number;
  id: number;
  payload: Uint8Array;
}

export interface Request {
  id: number;
  fields: readonly Field[];
  body: string;
}

/** One connection, as the server sees it. */
export class RawConnection {
  readonly #conn: Deno.Conn;
  readonly #decoder = new HeadDecoder();
  #bytes = new Uint8Array();
  /** Requests that have begun. */
  readonly #open = new Map<number, Request>();
  /** What the client has sent besides requests. */
  readonly others: Frame[] = [];

  constructor(conn: Deno.Conn) {
    this.#conn = conn;
  }

  async #read(length: number): Promise<Uint8Array | null> {
    while (this.#bytes.length < length) {
      const buffer = new Uint8Array(65_536);
      const n = await this.#conn.read(buffer);
      if (n === null) return null;
      const longer = new Uint8Array(this.#bytes.length + n);
      longer.set(this.#bytes);
      longer.set(buffer.subarray(0, n), this.#bytes.length);
      this.#bytes = longer;
    }
    const taken = this.#bytes.slice(0, length);
    this.#bytes = this.#bytes.slice(length);
    return taken;
  }

  /** Reads what a client begins with; false: it is something else. */
  async preface(): Promise<boolean> {
    const bytes = await this.#read(PREFACE.length);
    return bytes !== null && new TextDecoder().decode(bytes) === PREFACE;
  }

  /** Null: the client has left. */
  async frame(): Promise<Frame | null> {
    const head = await this.#read(9);
    if (head === null) return null;
    const payload = await this.#read((head[0] << 16) | (head[1] << 8) | head[2]);
    return payload && { type: head[3], flags: head[4], id: readUint32(head, 5), payload };
  }

  /** The next whole request; null: the client has left. */
  async request(): Promise<Request | null> {
    const open = this.#open;
    for (let next = await this.frame(); next !== null; next = await this.frame()) {
      const { type, flags, id, payload } = next;
      if (type === FRAME.headers) {
        const parts = [...payload];
        for (let part = next; !(part.flags & FLAG.endHeaders);) {
          part = (await this.frame())!;
          parts.push(...part.payload);
        }
        open.set(id, { id, fields: this.#decoder.decode(Uint8Array.from(parts)), body: "" });
      } else if (type === FRAME.data) open.get(id)!.body += new TextDecoder().decode(payload);
      else {
        this.others.push(next);
        continue;
      }
      if (!(flags & FLAG.endStream)) continue;
      const request = open.get(id)!;
      open.delete(id);
      return request;
    }
    return null;
  }

  async write(...pieces: Uint8Array[]): Promise<void> {
    for (const bytes of pieces) {
      for (let done = 0; done < bytes.length;) done += await this.#conn.write(bytes.subarray(done));
    }
  }

  close(): void {
    this.#conn.close();
  }
}

/** The bytes of a text. */
export const text = (words: string) => new TextEncoder().encode(words);

export const head = (id: number, fields: readonly Field[] = [[":status", "200"]], flags = 0) =>
  frame(FRAME.headers, FLAG.endHeaders | flags, id, encodeFields(fields));
export const data = (id: number, words: string, flags = 0) => frame(FRAME.data, flags, id, text(words));
export const last = (id: number, words = "") => data(id, words, FLAG.endStream);
export const whole = (id: number, words: string) => [head(id), last(id, words)];
export const reset = (id: number, code: number) => numberFrame(FRAME.rstStream, id, code);
export const begin = settings([]);

export interface RawServer {
  url: string;
  /** Connections so far. */
  connections: RawConnection[];
  close(): Promise<void>;
}

/** Says "http/1.1" to each request. */
async function serveHttp1(conn: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(65_536);
  const answer = text("HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nhttp/1.1");
  for (let n = await conn.read(buffer); n !== null; n = await conn.read(buffer)) {
    if (buffer[n - 1] === "}".charCodeAt(0)) await conn.write(answer);
  }
}

/** @param serve answers one connection over HTTP/2, which is closed after it */
export function rawServer(
  serve: (connection: RawConnection, number: number) => Promise<void>,
  protocols = ["h2"],
): RawServer {
  const listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, ...TLS, alpnProtocols: protocols });
  const open = new Set<Deno.Conn>();
  const connections: RawConnection[] = [];
  const serving = (async () => {
    const all: Promise<void>[] = [];
    for await (const conn of listener) {
      open.add(conn);
      const connection = new RawConnection(conn);
      const number = connections.push(connection);
      const served = (async () => {
        try {
          const { alpnProtocol } = await conn.handshake();
          if (alpnProtocol === "h2") await serve(connection, number);
          else await serveHttp1(conn);
        } catch {
          // The client has left.
        } finally {
          if (open.delete(conn)) conn.close();
        }
      })();
      all.push(served);
    }
    await Promise.all(all);
  })();
  return {
    url: `https://localhost:${(listener.addr as Deno.NetAddr).port}/v1`,
    connections,
    async close() {
      listener.close();
      for (const conn of open) conn.close();
      open.clear();
      await serving;
    },
  };
}

const sendOwn = openSend({ caCerts: [CA] });

export function ask(
  url: string,
  ticker: Ticker,
  more: Partial<Exchange> = {},
  send: Send = sendOwn,
): Promise<Reply> {
  return send(
    { url, headers: {}, body: "{}", stream: true, firstByteMs: 60_000, idleMs: 60_000, ...more },
    ticker,
  );
}

export async function restOf(reply: Reply): Promise<string> {
  const decoder = new TextDecoder();
  let words = "";
  for (let bytes = await reply.read(); bytes !== null; bytes = await reply.read()) {
    words += decoder.decode(bytes, { stream: true });
  }
  return words;
}

/** The status and the text of an answer, or the code of the failure. */
export async function outcomeOf(
  url: string,
  ticker: Ticker,
  more?: Partial<Exchange>,
  send?: Send,
): Promise<string> {
  let reply: Reply | undefined;
  try {
    reply = await ask(url, ticker, more, send);
    return `${reply.status} ${await restOf(reply)}`;
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown.code;
    throw thrown;
  } finally {
    reply?.close();
  }
}
