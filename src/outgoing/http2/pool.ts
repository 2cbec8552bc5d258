/** Connections over HTTP/2 to one server. */
import type { Clock } from "../../timing/clock.ts";
import { type IdleSweep, idleSweep } from "../idle_sweep.ts";
import type { Http2Connection } from "./connection.ts";

/** Maximum number of concurrent requests on a connection, if the server allows as many. */
const MOST_STREAMS = 100;

/** Idle timeout of a connection in milliseconds: some networks drop idle connections silently. */
const IDLE_MS = 90_000;
/** How long HTTP/1.1 is used after the server violated HTTP/2 or did not negotiate it, in milliseconds. */
const DECLINED_MS = 600_000;
/** After so many consecutive requests without a response, HTTP/1.1 is used: the server may only seem to support HTTP/2. */
const MOST_UNANSWERED = 3;

export class Http2Pool {
  readonly #connections: Http2Connection[] = [];
  /** The server does not support HTTP/1.1. */
  alone = false;
  /** Maximum number of concurrent requests on a connection, as the server said last. */
  #mostStreams = MOST_STREAMS;
  #declinedUntil = -Infinity;
  /** Consecutive requests without a response, and when the last of them ended. */
  #unanswered = 0;
  #unansweredAt = -Infinity;
  /** When the last response arrived. */
  #answeredAt = -Infinity;
  #dialing = 0;
  #waiting = 0;
  #dials = new Set<Promise<void>>();
  /** The clock of the last new connection, and whether it is used to close idle connections. */
  #clock: Clock | null = null;
  #watched = false;
  readonly #sweep: Pick<IdleSweep, "watch">;

  constructor(sweep: Pick<IdleSweep, "watch"> = idleSweep) {
    this.#sweep = sweep;
  }

  /** Number of connections that accept requests. */
  get size(): number {
    return this.#connections.length;
  }

  /** Whether HTTP/1.1 is to be used. */
  declined(now: number): boolean {
    return now < this.#declinedUntil;
  }

  /** Connections accept no more requests, so that none stays open while nobody looks for one. */
  decline(now: number): void {
    this.#declinedUntil = now + DECLINED_MS;
    if (!this.alone) { for (const connection of [...this.#connections]) connection.retire(); }
  }

  /** A response has arrived. */
  answered(now: number): void {
    this.#unanswered = 0;
    this.#answeredAt = now;
  }

  /**
   * A request has failed without a response. Requests that were open at the same time count as one, since one event, like the loss of
   * a connection, may have ended them all.
   *
   * @param late it timed out: if the server has answered over HTTP/2 recently, it is slow, which HTTP/1.1 would not change
   */
  unanswered(asked: number, now: number, late: boolean): void {
    if (asked <= this.#unansweredAt) return;
    if (late && now - this.#answeredAt < DECLINED_MS) return;
    this.#unansweredAt = now;
    if (++this.#unanswered >= MOST_UNANSWERED) this.decline(now);
  }

  get mostStreams(): number {
    return this.#mostStreams;
  }

  /** Sets the server's limit of concurrent requests on a connection. Returns the limit to use. */
  allows(streams: number): number {
    return this.#mostStreams = Math.max(1, Math.min(streams, MOST_STREAMS));
  }

  add(connection: Http2Connection, clock: Clock): void {
    this.#connections.push(connection);
    this.#clock = clock;
    if (this.#watched) return;
    this.#watched = true;
    this.#sweep.watch(this);
  }

  remove(connection: Http2Connection): void {
    const at = this.#connections.indexOf(connection);
    if (at >= 0) this.#connections.splice(at, 1);
  }

  /**
   * Waits for a connection with room for a request; null: HTTP/1.1 is to be used. The oldest connections are filled first, so that those
   * opened for a peak become idle and are closed after it.
   *
   * @param open adds a connection, or declines HTTP/2
   * @param since only connections on which the server has sent something since then, and new ones
   */
  async take(
    now: () => number,
    open: () => Promise<void>,
    since?: number,
  ): Promise<Http2Connection | null> {
    for (let opened = false;; opened = true) {
      const found = this.find(now(), since);
      if (found !== undefined) return found;
      if (opened && this.declined(now())) return null;
      this.#waiting++;
      try {
        // A dial in progress serves as many waiting requests as a connection accepts.
        if (this.#waiting > this.#dialing * this.#mostStreams) await this.#dial(open);
        else await Promise.race(this.#dials);
      } finally {
        this.#waiting--;
      }
    }
  }

  /**
   * A connection with room, if there is one. Closes connections that were idle for too long or may be dead.
   *
   * @param since only one on which the server has sent something since then, or a new one
   */
  find(now: number, since = -Infinity): Http2Connection | undefined {
    this.#retireOld(now);
    return this.#connections.find(({ room, heardAt }) => room > 0 && heardAt >= since);
  }

  closeOld(): boolean {
    if (this.#clock !== null) this.#retireOld(this.#clock.now());
    return this.#watched = this.#connections.length > 0;
  }

  #retireOld(now: number): void {
    for (const connection of [...this.#connections]) {
      const old = connection.size === 0 && now - connection.idleSince >= IDLE_MS;
      if (old || connection.isUnresponsive(now)) connection.retire();
    }
  }

  async #dial(open: () => Promise<void>): Promise<void> {
    const dial = open();
    this.#dialing++;
    this.#dials.add(dial);
    try {
      await dial;
    } finally {
      this.#dials.delete(dial);
      this.#dialing--;
    }
  }
}
