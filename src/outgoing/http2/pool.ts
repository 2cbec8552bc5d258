/** Connections over HTTP/2 to one server. */
import type { Http2Connection } from "./connection.ts";

/** Requests under way on one connection, where the server allows for so many. */
const MOST_STREAMS = 100;

/** How long a connection is kept without a request, in milliseconds: some networks forget connections without a word. */
const IDLE_MS = 90_000;
/** A server that makes mistakes in HTTP/2, or likes HTTP/1.1 better, is asked over that for so long, in milliseconds. */
const DECLINED_MS = 600_000;

export class Http2Pool {
  readonly #connections: Http2Connection[] = [];
  /** The server speaks no HTTP/1.1. */
  alone = false;
  /** Requests that it takes at a time on a connection, as it said last. */
  #mostStreams = MOST_STREAMS;
  #declinedUntil = -Infinity;
  #dialing = 0;
  #waiting = 0;
  #dials = new Set<Promise<void>>();

  /** Connections that take requests, or have some under way. */
  get size(): number {
    return this.#connections.length;
  }

  /** HTTP/1.1 is to be used. */
  declined(now: number): boolean {
    return now < this.#declinedUntil;
  }

  decline(now: number): void {
    this.#declinedUntil = now + DECLINED_MS;
  }

  get mostStreams(): number {
    return this.#mostStreams;
  }

  /** The server takes so many requests at a time on a connection. Answers how many are made. */
  allows(streams: number): number {
    return this.#mostStreams = Math.max(1, Math.min(streams, MOST_STREAMS));
  }

  add(connection: Http2Connection): void {
    this.#connections.push(connection);
  }

  remove(connection: Http2Connection): void {
    const at = this.#connections.indexOf(connection);
    if (at >= 0) this.#connections.splice(at, 1);
  }

  /**
   * A connection with room for a request; null: the server would rather be asked over HTTP/1.1. The first ones are filled first, so that
   * those that a rush has opened are closed after it.
   *
   * @param open adds a connection, or finds that out
   */
  async take(now: () => number, open: () => Promise<void>): Promise<Http2Connection | null> {
    for (let opened = false;; opened = true) {
      const found = this.find(now());
      if (found !== undefined) return found;
      if (opened && this.declined(now())) return null;
      this.#waiting++;
      try {
        // As many may share a connection as it takes.
        if (this.#waiting > this.#dialing * this.#mostStreams) await this.#dial(open);
        else await Promise.race(this.#dials);
      } finally {
        this.#waiting--;
      }
    }
  }

  /** One with room, where there is one. Closes those that have rested too long, or may be dead. */
  find(now: number): Http2Connection | undefined {
    for (const connection of [...this.#connections]) {
      const old = connection.size === 0 && now - connection.idleSince >= IDLE_MS;
      if (old || connection.mute(now)) connection.retire();
    }
    return this.#connections.find(({ room }) => room > 0);
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
