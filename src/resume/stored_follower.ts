/**
 * Reads a stream from the store: one that has ended, that runs on another node, or whose node is gone. Of one that runs it
 * asks for more again and again, the less often the longer nothing comes.
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
  /** Number of the first event that is wanted. */
  from: number;
  now(): number;
  /** This process ends: who waits for another's stream waits elsewhere. */
  stopping(): boolean;
  /** Told how long a piece of work held the event loop, in milliseconds. */
  held?(ms: number): void;
}

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 400;
/** How often the stream's node is told that somebody reads it. */
const TELL_MS = 2000;
/** A store that is away for so long is not waited for, in milliseconds. */
const PATIENCE_MS = 30_000;

export class StoredFollower implements Follower {
  readonly #options: StoredFollowerOptions;
  #position: number;
  #left = false;
  #over = false;
  #wake = () => {};
  #told = -Infinity;

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

  /** What has come; empty: nothing yet, or it is over. */
  async #read(): Promise<string> {
    const { store, id, cipher, now, stopping, held } = this.#options;
    // Before its pieces: if it has ended, all of them are there.
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
    else if (Math.abs(now() - this.#told) >= TELL_MS) {
      this.#told = now();
      await store.followStream(id, now());
    }
    return "";
  }

  /** The end of a stream that was cut short: behind its last event the format's error. */
  #break(stream: StoredStream, events: number): string {
    this.#over = true;
    if (!stream.streamed) throw whyCutShort(stream);
    // Of one that was lost, the store may have taken more than its node has heard of, and this one read it.
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

/** Why a stream of which not everything is there has no end of its own: it was lost, or its node is gone. */
function whyCutShort({ state }: Pick<StoredStream, "state">): Failure {
  return state === "lost" ? notKept() : interrupted();
}

/** The last events of a stream that was cut short, with their ids. */
export function brokenOff(
  { id, format, state }: Pick<StoredStream, "id" | "format" | "state">,
  first: number,
): string {
  const { encodeBreak } = CALLER_FORMATS[format as CallerFormatName];
  return withIds(encodeBreak(whyCutShort({ state }), { id, sequence: first }), { id, first }).text;
}

/** What is stored from an event on, some of it, and the number behind the last event that was looked at. */
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
