/**
 * Resumed streams, and requests that may be repeated: what was sent of a generation is kept, encrypted, for some
 * minutes, so that a client goes on reading after its connection broke, on any node, and a repeated request joins the
 * generation that it began.
 *
 * Only calls that ask for it come here; nothing is kept of others.
 */
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

export { eventNumber } from "./event_ids.ts";
export { cutShort, type Follower, type Head, interrupted, notKept, WINDOW } from "./follower.ts";
export type { LiveStream } from "./live_stream.ts";
export type { Reader } from "./readers.ts";

export interface ResumptionOptions {
  store: StreamStore;
  /** Of this process among those that share the store. */
  node: string;
  /** What hashes and keys are made of; null: the store has not been reached yet. */
  secret(): Uint8Array | null;
  /** False: the store is away. */
  storeUp(): boolean;
  /** This process ends soon. */
  stopping(): boolean;
  now(): number;
  log(line: string): void;
  /** Told how long pieces of work held the event loop, in milliseconds. */
  held?(ms: number): void;
  /** A stream cannot be kept any more. */
  lost(): void;
  bounds?: Partial<KeptBounds>;
  /** How long events may wait for the store, in milliseconds. */
  patienceMs?: number;
  /** For how long a store that failed is left alone, in milliseconds. */
  restMs?: number;
  /** How often what is over is deleted, in milliseconds. */
  sweepMs?: number;
  /** How often a node asks whether streams that nobody follows here are read elsewhere, in milliseconds. */
  askMs?: number;
}

/** A generation that asks to be kept. */
export interface Asking {
  id: string;
  keyId: string;
  format: string;
  streamed: boolean;
  keepMs: number;
}

/** A generation that is kept: it runs here or elsewhere, or has ended. */
export interface Found {
  id: string;
  format: string;
  streamed: boolean;
  /** Null: the answer has not begun. */
  head: Head | null;
  /** Number of the event after the last one that is there now. */
  events: number;
  /** Events behind those come, now or later. */
  goesOn: boolean;
  /** Readers on this node. */
  followers: number;
  /** Not all of it could be kept. */
  lost: boolean;
  follow(from: number): Follower;
}

export type Claim =
  | { live: LiveStream }
  /** Another generation has it: by the same request, or not; of which not everything was kept, or was. */
  | { joined: string; same: boolean; lost: boolean };

const SWEEP_MS = 5000;
const RETIRED_AT_ONCE = 200;
const ASK_MS = 3000;
/** A reader elsewhere says so more often than this. */
const ELSEWHERE_MS = 8000;

export class Resumption {
  readonly #options: ResumptionOptions;
  readonly #kept: Kept;
  readonly #writer: StreamWriter;
  readonly #live = new Map<string, LiveStream>();
  /** Of streams that nobody follows here: when another node last told of a reader, and when that was heard. */
  readonly #elsewhere = new Map<string, { told: number; heard: number }>();
  /** Beside the callers of the streams that run here. */
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

  /** Characters that are kept of streams of this process. */
  get keptChars(): number {
    return this.#kept.all;
  }

  /** A generation of its own. Null: it cannot be kept now. */
  begin(asking: Asking): LiveStream | null {
    return this.#open({ ...asking, claim: null, request: null });
  }

  /**
   * Takes the claim for a generation, or finds the one that has it. Throws `StoreUnavailable`: nobody can tell whether it
   * would be the first.
   *
   * @param request what the answer depends on
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

  /** The store failed, and may have taken the claim all the same: nobody would ever run it. */
  #giveBack(start: StreamStart, secret: Uint8Array): void {
    const live = this.#make(start, secret, new Kept().open(start.keyId)!);
    live.refuse({ status: 503, headers: { "retry-after": "1" }, body: "" });
  }

  /** A claim holds also where there is no room for the answer. */
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

  /** Null: there is none for this key, or not any more. Throws `StoreUnavailable`. */
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

  /** As {@link find}, once the answer has begun, or it is certain that it never will. */
  async answered(id: string, keyId: string, gone: () => boolean): Promise<Found | null> {
    for (let ms = 25;; ms = Math.min(400, ms * 2)) {
      const found = await this.find(id, keyId);
      if (found === null || found.head !== null || !found.goesOn || gone()) return found;
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

  /** Looks after what is kept, while there is something. */
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
        // Later, or by the housekeeping of whoever has the store then.
      }
    });
  }

  /** Asks of streams that nobody follows here whether somebody does elsewhere. */
  #ask(): Promise<void> {
    return this.#busy = this.#busy.then(async () => {
      const { store, now } = this.#options;
      const alone = [...this.#live.values()].filter(({ followers }) => followers === 0);
      if (alone.length === 0 || this.#closed) return;
      try {
        const followed = await store.followedStreams(alone.map(({ id }) => id));
        for (const stream of alone) {
          const told = followed.get(stream.id);
          const before = this.#elsewhere.get(stream.id);
          // Clocks of nodes need not agree: that it moves is what tells.
          if (told !== undefined && told !== before?.told) {
            this.#elsewhere.set(stream.id, { told, heard: now() });
          }
          const heard = this.#elsewhere.get(stream.id)?.heard ?? -Infinity;
          stream.followedElsewhere(Math.abs(now() - heard) < ELSEWHERE_MS);
        }
      } catch {
        // The next time.
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
    // Others may come while this one is looked at.
    get followers() {
      return live.followers;
    },
    lost: false,
    follow: (from) => live.follow(from),
  };
}
