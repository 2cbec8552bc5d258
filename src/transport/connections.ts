/**
 * The connections of one server: their maximum number, the timeout of each state, and which connection is closed when a new one needs its
 * place.
 */
import { UnsentAnswers } from "./unsent_answers.ts";
import type { Host, Hosted, Phase } from "./host.ts";
import type { Conn } from "./listener.ts";
import { OldestFirst, Place } from "./oldest_first.ts";
import type { ServeOptions } from "./serve_options.ts";
import { StalledWriters } from "./stalled_writers.ts";
import { ServerConnection } from "./server_connection.ts";

/**
 * Connections that receive a 503 answer at the same time when the server is full; further ones are closed
 * without an answer.
 */
const MOST_TURNED_AWAY = 64;
/**
 * How long a connection may wait for its request body before it can be closed in favour of another client, in
 * milliseconds.
 */
const PATIENT_MS = 200;

/** Creates the handler of an HTTP/2 connection. */
export type OpenHttp2 = (conn: Conn, host: Host) => Hosted;

/** Interval of the timeout checks, in milliseconds. */
export function tickMs(headerMs: number, idleMs: number): number {
  return Math.min(1000, Math.max(10, Math.min(headerMs, idleMs) / 4));
}

export class Connections implements Host {
  readonly handle: Host["handle"];
  readonly headerMs: number;
  readonly idleMs: number;
  readonly unsent: UnsentAnswers<Hosted>;
  /** Connections close after their current request; a new one may send one request. */
  stopping = false;
  /** No new connections are accepted. */
  over = false;
  /** Number of connections rejected because the server was full. */
  refused = 0;
  /**
   * Number of connections closed in favour of others since the accept loop reset it; their file descriptors
   * are released only later.
   */
  closing = 0;

  readonly #bounds: ServeOptions["maxConnections"];
  readonly #clock: NonNullable<ServeOptions["clock"]>;
  readonly #openHttp2: OpenHttp2 | undefined;
  readonly #tickMs: number;
  readonly #open = new Map<Hosted, Place<Hosted>>();
  /** Connections without a request, in the order in which they started to wait. */
  readonly #waiting = new OldestFirst<Hosted>();
  /** Connections waiting for body bytes, with the start of the wait, in the same order. */
  readonly #silent = new Map<Hosted, number>();
  /** WebSockets without a current turn, in the same order. */
  readonly #resting = new Set<Hosted>();
  readonly #turnedAway = new Set<Hosted>();
  readonly #stalled: StalledWriters;
  /** File descriptors used by connections beyond one each. */
  #moreFiles = 0;
  /**
   * A clock that advances at most two ticks at a time: after the process was suspended, connections must not
   * time out for bytes that it had no time to read.
   */
  #now = 0;
  #lookedAt: number;
  readonly #empty = Promise.withResolvers<void>();

  /** @param openHttp2 absent: HTTP/2 is not supported here */
  constructor(options: ServeOptions, openHttp2?: OpenHttp2) {
    const { handle, headerMs, idleMs, heldBytes, maxConnections, clock = performance } = options;
    this.handle = handle;
    this.headerMs = headerMs;
    this.idleMs = idleMs;
    this.unsent = new UnsentAnswers(heldBytes);
    this.#bounds = maxConnections;
    this.#clock = clock;
    this.#openHttp2 = openHttp2;
    this.#tickMs = tickMs(headerMs, idleMs);
    this.#lookedAt = clock.now();
    this.#stalled = new StalledWriters(clock);
  }

  /** Number of open connections. */
  get open(): number {
    return this.#open.size;
  }

  /** Number of connections by phase; phases without connections are omitted. */
  counts(): Partial<Record<Phase, number>> {
    const counts: Partial<Record<Phase, number>> = {};
    for (const { phase } of [...this.#open.keys(), ...this.#turnedAway]) {
      counts[phase] = (counts[phase] ?? 0) + 1;
    }
    return counts;
  }

  /** Number of connections that are not closed in favour of others as soon as those come. */
  get busy(): number {
    return this.#open.size - this.#waiting.size - this.#resting.size;
  }

  /** Maximum number of connections besides idle WebSockets. */
  get most(): number {
    const { most, mostFiles = Infinity } = this.#bounds;
    return Math.min(most, Math.max(0, mostFiles - this.#moreFiles));
  }

  /** Closes connections whose timeout has passed. */
  look(): void {
    const at = this.#clock.now();
    this.#now += Math.min(at - this.#lookedAt, 2 * this.#tickMs);
    this.#lookedAt = at;
    for (const connection of this.#open.keys()) if (connection.due <= this.#now) connection.expire();
    for (const connection of this.#turnedAway) if (connection.due <= this.#now) connection.close();
  }

  /**
   * Serves a new connection. If the server is full, an idle one is closed for it; if there is none, the new
   * one is rejected.
   */
  take(conn: Conn): void {
    if (this.#isFull() && !this.#makePlace()) return this.#turnAway(conn);
    const connection = this.#connectionOf(conn);
    // An HTTP/2 connection needs more file descriptors than the closed one may have had.
    for (let more = connection.files; more > 1 && this.#isFull() && this.#makePlace();) more--;
    this.#open.set(connection, new Place(connection));
    this.#moreFiles += connection.files - 1;
    void connection.serve();
  }

  /** Closes up to this many idle connections. */
  closeSome(count: number): void {
    for (let left = count; left > 0 && this.#makePlace();) left--;
  }

  /** Closes the connections without a request, and every other one after its answer. */
  stop(): void {
    this.stopping = true;
    for (const connection of [...this.#waiting, ...this.#turnedAway]) {
      if (connection.phase !== "lingering") connection.close();
    }
    for (const connection of this.#open.keys()) connection.stop();
  }

  /** Resolves when all current requests have been answered. No new connection may be added. */
  async ended(): Promise<void> {
    this.stop();
    if (this.#open.size === 0) this.#empty.resolve();
    await this.#empty.promise;
    for (const connection of this.#turnedAway) connection.close();
  }

  entered(connection: Hosted, before?: Phase): void {
    const { phase } = connection;
    connection.steps++;
    // Occurs for each piece of a stream. Such connections are not in any of the lists.
    if (phase === "writing" && before === "handling") {
      return void (connection.due = this.#now + this.idleMs);
    }
    if (phase === "handling" && before === "writing") return void (connection.due = Infinity);
    if (phase === "handling" || phase === "upgraded") connection.due = Infinity;
    else if (phase === "lingering") connection.due = this.#now + ServerConnection.LINGER_MS;
    else connection.due = this.#now + (phase === "head" || phase === "body" ? this.headerMs : this.idleMs);
    const place = this.#open.get(connection);
    if (phase === "idle" || phase === "head" || phase === "lingering") {
      if (place === undefined) return;
      this.#waiting.join(place);
      if (this.stopping && phase === "idle") connection.close();
    } else if (place !== undefined) this.#waiting.leave(place);
    if (this.#silent.size > 0) this.#silent.delete(connection);
    if (phase === "body" && place !== undefined) this.#silent.set(connection, this.#clock.now());
  }

  rests(connection: Hosted, rests: boolean): void {
    this.#resting.delete(connection);
    if (rests && this.#open.has(connection)) this.#resting.add(connection);
  }

  closed(connection: Hosted): void {
    const place = this.#open.get(connection);
    if (place !== undefined) {
      this.#open.delete(connection);
      this.#moreFiles -= connection.files - 1;
      this.#waiting.leave(place);
    }
    this.#silent.delete(connection);
    this.#resting.delete(connection);
    this.#turnedAway.delete(connection);
    this.#stalled.forget(connection);
    if (this.over && this.#open.size === 0) this.#empty.resolve();
  }

  #connectionOf(conn: Conn): Hosted {
    return conn.http2 === true ? this.#openHttp2!(conn, this) : new ServerConnection(conn, this);
  }

  #isFull(): boolean {
    const { most, resting: besides = 0, mostFiles = Infinity } = this.#bounds;
    const count = this.#open.size - Math.min(this.#resting.size, besides);
    return count >= most || count + this.#moreFiles >= mostFiles;
  }

  /**
   * Closes the connection that has waited longest for a request; or else for a body; or else the one whose
   * client has received nothing of its answer for the longest time; or else the WebSocket that has waited
   * longest for a message. Clients that send or receive something take precedence over those that do not.
   */
  #makePlace(): boolean {
    const [longest] = this.#waiting;
    if (longest !== undefined) {
      longest.close();
      this.closing++;
      return true;
    }
    const [stalled] = this.#silent;
    if (stalled !== undefined && this.#clock.now() - stalled[1] >= PATIENT_MS) {
      this.#silent.delete(stalled[0]);
      stalled[0].expire();
      this.closing++;
      return true;
    }
    const writer = this.#stalled.longest(this.#open.keys());
    if (writer !== null) {
      writer.close();
      this.closing++;
      return true;
    }
    const [socket] = this.#resting;
    if (socket === undefined) return false;
    this.#resting.delete(socket);
    socket.closeSocket();
    this.closing++;
    return true;
  }

  #turnAway(conn: Conn): void {
    this.refused++;
    const connection = this.#connectionOf(conn);
    if (this.#turnedAway.size >= MOST_TURNED_AWAY) return connection.close();
    this.#turnedAway.add(connection);
    void connection.turnAway();
  }
}
