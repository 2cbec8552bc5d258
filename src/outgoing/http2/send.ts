/** Sends requests over HTTP/2. Many share a connection, so that many streams at once need few handshakes and few reads. */
import { encodeFields, type Field } from "./hpack.ts";
import type { Address } from "../address.ts";
import { dial, ForeignProtocol } from "../dial.ts";
import { Connection } from "../http1_connection.ts";
import { broken, type Exchange, MISDIRECTED, type Reply, timeout, unreachable } from "../reply.ts";
import { WireError } from "../../transport/body_framing.ts";
import type { Ticker } from "../../timing/ticker.ts";
import { Http2Connection } from "./connection.ts";
import { FramePace } from "./frame_pace.ts";
import { Http2Stream } from "./stream.ts";

/**
 * If a reused connection closes so soon after a request was sent, in milliseconds, the server had closed it before the request arrived;
 * and if a new one closes so soon, the server accepts no requests on it.
 */
const STALE_MS = 1000;

/**
 * How often a request is sent that the server has not processed, or that it does not accept on a connection, and how often if the server
 * does not support HTTP/1.1.
 */
const MOST_ATTEMPTS = 2;
const MOST_ATTEMPTS_ALONE = 3;

/** Headers of HTTP/1.1 connections, which HTTP/2 forbids (RFC 9113, section 8.2.2). */
const OF_CONNECTIONS: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
  "te",
]);

const encoder = new TextEncoder();

/** For all connections of this process. */
const pace = new FramePace();

export interface SendOptions {
  caCerts?: string[];
  /** The server does not support HTTP/1.1. */
  alone?: boolean;
}

/**
 * Null: HTTP/1.1 is to be used. Rejects with a Failure, or with {@link ForeignProtocol} if `alone` is set and the server does not support
 * HTTP/2 either.
 */
export async function sendHttp2(
  address: Address,
  exchange: Exchange,
  ticker: Ticker,
  { caCerts, alone = false }: SendOptions = {},
): Promise<Reply | null> {
  const { http2 } = address;
  const head = [encodeTarget(address, exchange.method ?? "POST"), encodeHeaders(exchange.headers)];
  const body = typeof exchange.body === "string" ? encoder.encode(exchange.body) : exchange.body;
  if (body.length > 0) head.push(encodeFields([["content-length", String(body.length)]]));
  const open = () => openConnection(address, exchange.firstByteMs, ticker, { caCerts, alone });
  let attempts = 0;
  let since: number | undefined;
  for (;;) {
    if (!alone && http2.declined(ticker.recently())) return null;
    const connection = http2.find(ticker.recently(), since) ??
      await within(exchange, ticker, http2.take(() => ticker.recently(), open, since));
    if (connection === null) return null;
    // Other requests have taken its capacity in the meantime, or it has closed.
    if (connection.room === 0) continue;
    const stream = new Http2Stream(connection, exchange, ticker);
    const fresh = !connection.answered;
    const asked = ticker.lately;
    try {
      await stream.ask(head, body);
      http2.answered(ticker.lately);
      if (stream.status !== MISDIRECTED) return stream;
      connection.retire();
      if (fresh || ++attempts === MOST_ATTEMPTS) return stream;
      stream.close();
      since = asked;
    } catch (cause) {
      stream.close();
      if (exchange.signal?.aborted) throw broken(cause);
      http2.unanswered(asked, ticker.now(), stream.late);
      if (stream.late) throw timeout(exchange.firstByteMs);
      const stale = stream.fate === "cut" && !fresh && !stream.heard && ticker.now() - asked < STALE_MS;
      if (stream.fate !== "refused" && !stale) {
        throw stream.heard || stream.fate === "taken" ? broken(cause) : unreachable(cause);
      }
      // Then HTTP/1.1.
      if (++attempts >= (alone ? MOST_ATTEMPTS_ALONE : MOST_ATTEMPTS)) {
        if (alone) throw unreachable(cause);
        return null;
      }
      // Other connections that were idle may be closed as well.
      since = asked;
    }
  }
}

/**
 * Opens a connection and adds it to the pool, or declines HTTP/2. Several calls may wait for it, so it is not aborted when one of them
 * ends, and it keeps no reference to the call that needed it first.
 */
async function openConnection(
  address: Address,
  firstByteMs: number,
  ticker: Ticker,
  { caCerts, alone }: SendOptions,
): Promise<void> {
  const { http2 } = address;
  const began = ticker.now();
  const protocols = alone ? ["h2"] : ["h2", "http/1.1"];
  const { conn, protocol } = await dial(address, { firstByteMs }, ticker, { caCerts, protocols });
  if (protocol !== "h2") {
    if (alone) {
      conn.close();
      throw new ForeignProtocol();
    }
    http2.decline(ticker.now());
    // It is used for HTTP/1.1.
    return new Connection(conn, address.pool).rest(ticker.recently(), ticker);
  }
  const connection: Http2Connection = new Http2Connection(conn, {
    now: () => ticker.recently(),
    ended(mistaken) {
      http2.remove(connection);
      const now = ticker.now();
      if (mistaken) http2.decline(now);
      // A server that shuts down may close each connection before it is used: without a bound, a call would open one after the other.
      else if (connection.calls === 0 && now - began < STALE_MS) http2.unanswered(began, now, false);
    },
    mostStreams: http2.mostStreams,
    allows: (streams) => http2.allows(streams),
    pace,
  });
  http2.add(connection, ticker);
}

/** Limits the wait by the call's signal and its own timeout for the first byte; the dial may have the longer timeout of another call. */
function within<T>({ signal, firstByteMs }: Exchange, ticker: Ticker, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(broken(new WireError("nobody wants the answer any more")));
    const deadline = ticker.deadline(() => reject(timeout(firstByteMs)));
    deadline.arm(firstByteMs);
    if (signal?.aborted) leave();
    else signal?.addEventListener("abort", leave);
    // Also after the caller has left: an unhandled rejection would end the process.
    promise.then(resolve, reject).finally(() => {
      deadline.close();
      signal?.removeEventListener("abort", leave);
    });
  });
}

const targets = new WeakMap<Address, Map<string, Uint8Array>>();

/** The pseudo-headers of a request, encoded once for each address. */
function encodeTarget(address: Address, method: string): Uint8Array {
  let known = targets.get(address);
  if (known === undefined) targets.set(address, known = new Map());
  let bytes = known.get(method);
  if (bytes === undefined) {
    known.set(
      method,
      bytes = encodeFields([
        [":method", method],
        [":scheme", "https"],
        [":authority", address.host],
        [":path", address.path],
      ]),
    );
  }
  return bytes;
}

/** Encoded headers that many calls share. */
const encoded = new WeakMap<Readonly<Record<string, string>>, Uint8Array>();

function encodeHeaders(headers: Readonly<Record<string, string>>): Uint8Array {
  const before = encoded.get(headers);
  if (before !== undefined) return before;
  const fields: Field[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (/[\0\r\n\u0100-\uffff]/.test(value)) throw new WireError(`the value of header ${name} is invalid`);
    const lower = name.toLowerCase();
    if (!OF_CONNECTIONS.has(lower)) fields.push([lower, value.trim()]);
  }
  const bytes = encodeFields(fields);
  // Frozen headers are one object for all calls to an upstream. Others are made for one call.
  if (Object.isFrozen(headers)) encoded.set(headers, bytes);
  return bytes;
}
