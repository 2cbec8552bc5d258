/**
 * Reads a stream from the store: one that has ended, that runs on another node, or whose node has died. A
 * running one is polled, less often the longer nothing arrives.
 */
import { CALLER_FORMATS } from "../formats/caller_formats.ts";
import type { CallerFormatName } from "../exchange/format_name.ts";
import { type StoredStream, StoreUnavailable, type StreamStore } from "../store/mod.ts";
import type { StreamCipher } from "./cipher.ts";
import type { Failure } from "../exchange/failure.ts";
import { behind, eventsIn, upTo, withIds } from "./event_ids.ts";
import { type Follower, interrupted, notKept, WINDOW } from "./follower.ts";

export interface StoredFollowerOptions {
  store: StreamStore;
  id: string;
  cipher: StreamCipher;
  /** Number of the first event wanted. */
  from: number;
  now(): number;
  /** This process is shutting down: a reader of another node's stream must continue elsewhere. */
  stopping(): boolean;
  /** Called with the time that a piece of work blocked the event loop, in milliseconds. */
  held?(ms: number): void;
}

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 400;
/** Interval of reports to the stream's node that somebody reads it, in milliseconds. */
const REPORT_MS = 2000;
/** How long an unavailable store is waited for, in milliseconds. */
const PATIENCE_MS = 30_000;

export class StoredFollower implements Follower {
  readonly #options: StoredFollowerOptions;
  #position: number;
  #left = false;
  #over = false;
  #wake = () => {};
  #reportedAt = -Infinity;

  constructor(options: StoredFollowerOptions) {
    this.#options = options;
    this.#position = options.from;
  }

  async next(): Promise<string | null> {
    let pause = FIRST_PAUSE_MS;
    let away = 0;
    while (!this.#left && !this.#over) {
      try {
        const text = await this.#read();
        if (text !== "") return text;
        away = 0;
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || (away += pause) > PATIENCE_MS) throw error;
      }
      if (this.#over || this.#left) break;
      await this.#pause(pause);
      pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
    }
    return null;
  }

  leave(): void {
    this.#left = true;
    this.#wake();
  }

  /** New events; empty: none yet, or the end. */
  async #read(): Promise<string> {
    const { store, id, cipher, now, stopping, held } = this.#options;
    // Read before its pieces: if it has ended, they are complete.
    const stream = await store.stream(id, now());
    if (stream === null) throw notKept();
    const { state, events } = stream;
    const until = state === "lost" ? events : Infinity;
    const { text, end } = await readPieces(store, cipher, { id, event: this.#position, until, held });
    if (text !== "") {
      this.#position += eventsIn(text);
      return text;
    }
    if (state === "lost") return this.#break(stream, events);
    if (state !== "running") this.#over = true;
    else if (!stream.alive) return this.#break(stream, end);
    else if (stopping()) throw new Error("The gateway stops.");
    else if (Math.abs(now() - this.#reportedAt) >= REPORT_MS) {
      this.#reportedAt = now();
      await store.followStream(id, now());
    }
    return "";
  }

  /** Ends a truncated stream: adds the format's error event after the last event. */
  #break(stream: StoredStream, events: number): string {
    this.#over = true;
    if (!stream.streamed) throw whyCutShort(stream);
    // For a lost stream, the store may have more than its node knew, and this reader has read it.
    const beyond = this.#options.from <= events && this.#position > events;
    const first = beyond ? this.#position : Math.min(events, this.#position);
    return behind(brokenOff(stream, first), this.#position - first);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake(), ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Why an incomplete stream has no regular end: it was lost, or its node has died. */
function whyCutShort({ state }: Pick<StoredStream, "state">): Failure {
  return state === "lost" ? notKept() : interrupted();
}

/** The last events of a truncated stream, with their ids. */
export function brokenOff(
  { id, format, state }: Pick<StoredStream, "id" | "format" | "state">,
  first: number,
): string {
  const { encodeBreak } = CALLER_FORMATS[format as CallerFormatName];
  return withIds(encodeBreak(whyCutShort({ state }), { id, sequence: first }), { id, first }).text;
}

/** Stored events from a number on, up to a bound, and the number after the last one that was read. */
export async function readPieces(
  store: StreamStore,
  cipher: StreamCipher,
  { id, event, until = Infinity, held }: {
    id: string;
    event: number;
    until?: number;
    held?(ms: number): void;
  },
): Promise<{ text: string; end: number }> {
  let text = "";
  let at = event;
  let end = 0;
  const pieces = await store.streamPieces(id, { event, chars: WINDOW });
  const begun = performance.now();
  for (const piece of pieces) {
    end = Math.min(until, piece.first + piece.events);
    if (end <= at) continue;
    if (piece.first > at) throw notKept();
    text += behind(upTo(cipher.open(piece.data, `${piece.first}`), end - piece.first), at - piece.first);
    at = end;
  }
  held?.(performance.now() - begun);
  return { text, end };
}
