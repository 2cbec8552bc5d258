/**
 * Resumable streams and idempotent requests: the output of a generation is stored, encrypted, for some
 * minutes, so that a client can continue to read after its connection broke, on any node, and a repeated
 * request joins the original generation.
 *
 * Only for calls that request it; nothing is stored for others.
 */
import type { Level } from "../exchange/log_level.ts";
import { type StoredStream, StoreUnavailable, type StreamStart, type StreamStore } from "../store/mod.ts";
import { pause } from "../timing/waits.ts";
import { hashOf, StreamCipher } from "./cipher.ts";
import type { Follower, Head } from "./follower.ts";
import { Kept, type KeptBounds } from "./kept.ts";
import { LiveStream } from "./live_stream.ts";
import { brokenOff, readPieces, StoredFollower } from "./stored_follower.ts";
import { eventsIn } from "./event_ids.ts";
import { Readers } from "./readers.ts";
import { StreamWriter } from "./writer.ts";

export { cutShort, type Follower, interrupted, notKept, WINDOW } from "./follower.ts";
export type { LiveStream } from "./live_stream.ts";
export type { Reader } from "./readers.ts";

export interface ResumptionOptions {
  store: StreamStore;
  /** The id of this process among those that share the store. */
  node: string;
  /** The secret for hashes and keys; null: the store has not been reached yet. */
  secret(): Uint8Array | null;
  /** False: the store is unavailable. */
  storeUp(): boolean;
  /** This process is shutting down. */
  stopping(): boolean;
  now(): number;
  log(line: string, level?: Level): void;
  /** Called with the time that pieces of work blocked the event loop, in milliseconds. */
  held?(ms: number): void;
  /** A stream cannot be stored any more. */
  lost(): void;
  bounds?: Partial<KeptBounds>;
  /** How long events may wait for the store, in milliseconds. */
  patienceMs?: number;
  /** How long the store is not used after a failure, in milliseconds. */
  restMs?: number;
  /** Interval at which expired streams are deleted, in milliseconds. */
  sweepMs?: number;
  /** Interval at which a node asks whether streams without local followers are read elsewhere, in milliseconds. */
  askMs?: number;
}

/** A request for a resumable generation. */
export interface Asking {
  id: string;
  keyId: string;
  format: string;
  streamed: boolean;
  keepMs: number;
}

/** A resumable generation: running here or elsewhere, or ended. */
export interface Found {
  id: string;
  format: string;
  streamed: boolean;
  /** Null: the answer has not started. */
  head: Head | null;
  /** Number of the next event, after the last available one. */
  events: number;
  /** Further events will follow. */
  goesOn: boolean;
  /** Number of readers on this node. */
  followers: number;
  /** A part could not be stored. */
  lost: boolean;
  follow(from: number): Follower;
}

export type Claim =
  | { live: LiveStream }
  /**
   * Another generation has claimed it: with the same request or another one, and possibly not completely
   * stored.
   */
  | { joined: string; same: boolean; lost: boolean };

const SWEEP_MS = 5000;
const RETIRED_AT_ONCE = 200;
const ASK_MS = 3000;
/** Readers on other nodes report more often than this, in milliseconds. */
const ELSEWHERE_MS = 8000;

export class Resumption {
  readonly #options: ResumptionOptions;
  readonly #kept: Kept;
  readonly #writer: StreamWriter;
  readonly #live = new Map<string, LiveStream>();
  /** For streams without local followers: the last report of a reader on another node, and when it was received. */
  readonly #elsewhere = new Map<string, { reported: number; heard: number }>();
  /** Readers in addition to the original callers. */
  readonly readers = new Readers();
  #sweeping: ReturnType<typeof setInterval> | undefined;
  #asking: ReturnType<typeof setInterval> | undefined;
  #busy: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: ResumptionOptions) {
    this.#options = options;
    this.#kept = new Kept(options.bounds);
    this.#writer = new StreamWriter(options);
  }

  /** Stored characters of streams of this process. */
  get keptChars(): number {
    return this.#kept.all;
  }

  /** A generation without an idempotency key. Null: it cannot be stored at present. */
  begin(asking: Asking): LiveStream | null {
    return this.#open({ ...asking, claim: null, request: null });
  }

  /**
   * Claims the idempotency key for a generation, or finds the one that has claimed it. Throws
   * `StoreUnavailable`, since it is unknown then whether this is the first.
   *
   * @param request everything the answer depends on
   */
  async claim(asking: Asking, { text, request }: { text: string; request: string }): Promise<Claim> {
    const secret = this.#options.secret();
    if (secret === null || this.#closed) throw new StoreUnavailable("The store has not been reached yet.");
    const { store, now } = this.#options;
    const claim = hashOf(secret, "claim", asking.keyId, text);
    const hash = hashOf(secret, "request", request);
    const start = this.#startOf({ ...asking, claim, request: hash });
    const other = await store.claimStream(start, now()).catch((error) => {
      this.#giveBack(start, secret);
      throw error;
    });
    if (other !== null) {
      return { joined: other.id, same: other.request === hash, lost: other.state === "lost" };
    }
    return { live: this.#open(start) ?? this.#unkept(start, secret) };
  }

  #startOf(asking: Asking & Pick<StreamStart, "claim" | "request">): StreamStart {
    return { ...asking, node: this.#options.node, created: this.#options.now() };
  }

  #open(asking: Asking & Pick<StreamStart, "claim" | "request">): LiveStream | null {
    const { storeUp, secret } = this.#options;
    const key = secret();
    if (key === null || !storeUp() || this.#writer.rests || this.#closed) return null;
    const kept = this.#kept.open(asking.keyId);
    if (kept === null) return null;
    return this.#make(this.#startOf(asking), key, kept);
  }

  /**
   * After a failure the claim may have been stored all the same, for a generation that will never run:
   * release it.
   */
  #giveBack(start: StreamStart, secret: Uint8Array): void {
    const live = this.#make(start, secret, new Kept().open(start.keyId)!);
    live.refuse({ status: 503, headers: { "retry-after": "1" }, body: "" });
  }

  /** The claim is held even if there is no room for the answer. */
  #unkept(start: StreamStart, secret: Uint8Array): LiveStream {
    const live = this.#make(start, secret, new Kept().open(start.keyId)!);
    live.lose("there is no room");
    return live;
  }

  #make(
    start: StreamStart,
    secret: Uint8Array,
    kept: NonNullable<ReturnType<Kept["open"]>>,
  ): LiveStream {
    const { store, now, lost, stopping, held } = this.#options;
    const { id } = start;
    const cipher = new StreamCipher(secret, id);
    const forget = () => {
      this.#live.delete(id);
      this.#elsewhere.delete(id);
    };
    const live: LiveStream = new LiveStream({
      start,
      cipher,
      kept,
      now,
      touched: (stream) => this.#writer.touched(stream),
      stored: (from) => new StoredFollower({ store, id, cipher, from, now, stopping, held }),
      lost: () => {
        lost();
        forget();
      },
      over: forget,
    });
    this.#live.set(id, live);
    this.#watch();
    return live;
  }

  /** Null: none for this key, or expired. Throws `StoreUnavailable`. */
  async find(id: string, keyId: string): Promise<Found | null> {
    const live = this.#live.get(id);
    if (live !== undefined) return live.start.keyId === keyId ? foundHere(live) : null;
    const { store, now } = this.#options;
    const secret = this.#options.secret();
    if (secret === null) throw new StoreUnavailable("The store has not been reached yet.");
    const stream = await store.stream(id, now());
    if (stream === null || stream.keyId !== keyId) return null;
    return await this.#foundThere(stream, new StreamCipher(secret, id));
  }

  /** As {@link find}, after the answer has started, or it is certain that it never will. */
  async answered(id: string, keyId: string, disconnected: () => boolean): Promise<Found | null> {
    for (let ms = 25;; ms = Math.min(400, ms * 2)) {
      const found = await this.find(id, keyId);
      if (found === null || found.head !== null || !found.goesOn || disconnected()) return found;
      const live = this.#live.get(id);
      await (live?.changed(ms) ?? pause(ms));
    }
  }

  async #foundThere(stream: StoredStream, cipher: StreamCipher): Promise<Found> {
    const { store, now, stopping, held } = this.#options;
    const { id, format, streamed, state } = stream;
    let { events } = stream;
    if (state === "running") {
      events = (await readPieces(store, cipher, { id, event: Number.MAX_SAFE_INTEGER })).end;
    }
    const interrupted = state === "running" && !stream.alive;
    const lost = state === "lost";
    if ((interrupted || lost) && streamed) events += eventsIn(brokenOff(stream, 0));
    return {
      id,
      format,
      streamed,
      head: stream.head === null ? null : JSON.parse(cipher.open(stream.head, "head")),
      events,
      goesOn: state === "running" && !interrupted,
      followers: 0,
      lost,
      follow: (from) => new StoredFollower({ store, id, cipher, from, now, stopping, held }),
    };
  }

  /** Periodic maintenance while there are streams. */
  #watch(): void {
    if (this.#sweeping !== undefined) return;
    this.#sweeping = setInterval(() => void this.#sweep(), this.#options.sweepMs ?? SWEEP_MS);
    this.#asking = setInterval(() => void this.#ask(), this.#options.askMs ?? ASK_MS);
    Deno.unrefTimer(this.#sweeping);
    Deno.unrefTimer(this.#asking);
  }

  #sweep(): Promise<void> {
    return this.#busy = this.#busy.then(async () => {
      const { store, now } = this.#options;
      this.#kept.sweep(now());
      try {
        while (!this.#closed && await store.retireStreams(now(), RETIRED_AT_ONCE) > 0) {
          await pause(30);
        }
      } catch {
        // Deleted later, or by housekeeping.
      }
    });
  }

  /** Asks whether streams without local followers are read elsewhere. */
  #ask(): Promise<void> {
    return this.#busy = this.#busy.then(async () => {
      const { store, now } = this.#options;
      const alone = [...this.#live.values()].filter(({ followers }) => followers === 0);
      if (alone.length === 0 || this.#closed) return;
      try {
        const followed = await store.followedStreams(alone.map(({ id }) => id));
        for (const stream of alone) {
          const reported = followed.get(stream.id);
          const before = this.#elsewhere.get(stream.id);
          // Only a change of the reported time counts: clocks of nodes may differ.
          if (reported !== undefined && reported !== before?.reported) {
            this.#elsewhere.set(stream.id, { reported, heard: now() });
          }
          const heard = this.#elsewhere.get(stream.id)?.heard ?? -Infinity;
          stream.followedElsewhere(Math.abs(now() - heard) < ELSEWHERE_MS);
        }
      } catch {
        // Tried again next time.
      }
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweeping);
    clearInterval(this.#asking);
    await this.#writer.close();
    await this.#busy;
  }
}

function foundHere(live: LiveStream): Found {
  const { id, start: { format, streamed }, head, events } = live;
  return {
    id,
    format,
    streamed,
    head,
    events,
    goesOn: true,
    // A getter, since others may arrive meanwhile.
    get followers() {
      return live.followers;
    },
    lost: false,
    follow: (from) => live.follow(from),
  };
}
