/**
 * The live view: who watches is told of the calls of this process as they begin and end.
 *
 * Calls do not wait for watchers. What happens is collected, and a few times a second encoded once and handed to all who want
 * the same. Each watcher has a bounded buffer; what does not fit in it is left out, and the watcher is told how much. So is what
 * would make all watchers together cost more than a bounded number of bytes a second.
 */
import { Failure } from "../exchange/failure.ts";
import type { Generation } from "../store/mod.ts";
import type { CallWatch } from "./call_watch.ts";
import type { Beginning } from "./ledger.ts";
import { Elsewhere, type OtherProcesses } from "./live_elsewhere.ts";
import {
  type Chunk,
  chunkOf,
  encode,
  frame,
  type LiveFilter,
  matches,
  type Said,
  type UnrecordedView,
} from "./live_events.ts";
import { type BeginningView, beginningView, generationView } from "./views.ts";

export type { LiveFilter };

export interface LiveOptions {
  now(): number;
  /** Calls that run now. */
  running(): Iterable<Beginning>;
  /** The last ones that ended; oldest first. */
  recent(): readonly Generation[];
  /** The person a key belongs to; null: nobody's. */
  memberOf(keyId: string): string | null;
  others: OtherProcesses;
}

export interface WatchOptions {
  filter: LiveFilter;
  /** Only calls of this person's keys; absent: all. */
  member?: string;
  /** Whether the watcher may go on. */
  stillMay(): boolean;
}

interface Watcher extends WatchOptions {
  controller: ReadableStreamDefaultController<Uint8Array>;
  /** The same for all that want the same. */
  wants: string;
  /** Events that it was not given since it was last told. */
  lost: number;
}

/** Each has a buffer. */
const MOST_WATCHERS = 5000;
const MOST_OF_MEMBER = 20;
const TICK_MS = 250;
/** With many watchers each is served more rarely: a write costs as much for few bytes as for many. */
const WATCHERS_A_TICK = 250;
/** To write to so many takes about a millisecond. */
const WATCHERS_AT_ONCE = 50;
/** What a watcher may lag behind. */
const BUFFER_BYTES = 256 << 10;
/** What all watchers together are sent in a second, at most. */
const BYTES_A_SECOND = 4 << 20;
/** Events that are kept until the next tick, at most. */
const MOST_EVENTS = 2000;
const KEEP_ALIVE_MS = 15_000;
/** How often other processes are looked after. */
const LOOK_EVERY_MS = 500;
/** How many of the calls that run, and of those that ended last, a watcher is told of at first. */
const FIRST = 100;

export class Live implements CallWatch {
  readonly #options: LiveOptions;
  readonly #watchers = new Set<Watcher>();
  #events: Said[] = [];
  #dropped = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  #turn = 0;
  #quietSince = 0;
  #looked = 0;
  #elsewhere: Elsewhere | null = null;
  /** What watchers have been told of whose calls are told. */
  #seen = "";
  #looking: Promise<void> | null = null;

  constructor(options: LiveOptions) {
    this.#options = options;
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  began(beginning: Beginning): void {
    if (this.#watchers.size > 0) this.#say({ event: "start", view: beginningView(beginning), text: null });
  }

  ended(generation: Generation): void {
    if (this.#watchers.size === 0) return;
    this.#elsewhere?.endedHere(generation.id);
    this.#say({ event: "end", view: generationView(generation), text: null });
  }

  released(beginning: Beginning, errorCode: string | null): void {
    if (this.#watchers.size === 0) return;
    this.#say({ event: "end", view: unrecordedView(beginning, errorCode, this.#options.now()), text: null });
  }

  /** Events for one watcher, as server-sent events: `hello`, then `start`, `end`, `seen` and `lost`. */
  watch(options: WatchOptions): ReadableStream<Uint8Array> {
    this.#refuseTooMany(options);
    let watcher: Watcher;
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        const { filter, member } = options;
        watcher = { ...options, controller, lost: 0, wants: JSON.stringify([member ?? null, filter]) };
        this.#elsewhere ??= this.#open();
        this.#seen ||= frame("seen", this.#elsewhere.seen);
        controller.enqueue(encode(this.#hello(options)));
        this.#watchers.add(watcher);
        this.#quietSince = this.#options.now();
        this.#timer ??= setInterval(() => this.flush(), TICK_MS);
      },
      cancel: () => this.#remove(watcher),
    }, new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES }));
  }

  #refuseTooMany({ member }: WatchOptions): void {
    if (this.#watchers.size >= MOST_WATCHERS) {
      throw new Failure("service_unavailable", "Too many watch just now; try again soon.");
    }
    if (member === undefined) return;
    let own = 0;
    for (const watcher of this.#watchers) if (watcher.member === member) own++;
    if (own < MOST_OF_MEMBER) return;
    throw new Failure("provider_rate_limited", `A member may watch ${MOST_OF_MEMBER} times at once.`, {
      retryAfter: 10,
    });
  }

  /** Ends all streams: the process stops. */
  end(): void {
    for (const watcher of this.#watchers) this.#close(watcher);
  }

  /** Hands out what has happened. */
  flush(): void {
    if (this.#options.now() - this.#looked >= LOOK_EVERY_MS) void this.look();
    const rounds = Math.max(1, Math.ceil(this.#watchers.size / WATCHERS_A_TICK));
    this.#turn = (this.#turn + 1) % Math.min(rounds, 1000 / TICK_MS);
    if (this.#turn !== 0) return;
    for (const watcher of this.#watchers) if (!watcher.stillMay()) this.#close(watcher);
    const events = this.#events;
    const dropped = this.#dropped;
    this.#events = [];
    this.#dropped = 0;
    if (events.length === 0 && dropped === 0) return this.#keepAlive();
    this.#quietSince = this.#options.now();
    const seconds = rounds * TICK_MS / 1000;
    const most = BYTES_A_SECOND * seconds / this.#watchers.size;
    void this.#hand([...this.#watchers], (watcher) => {
      // How much others do is nobody else's affair.
      const left = watcher.member === undefined ? dropped : 0;
      return chunkOf(events, (said) => this.#isWanted(said, watcher), { most, dropped: left });
    });
  }

  /** Some watchers at a time, so that calls go on between them. What those with the same wish get is made once. */
  async #hand(watchers: readonly Watcher[], make: (watcher: Watcher) => Chunk | null): Promise<void> {
    const chunks = new Map<string, Chunk | null>();
    for (const [i, watcher] of watchers.entries()) {
      if (i > 0 && i % WATCHERS_AT_ONCE === 0) await new Promise((resolve) => setTimeout(resolve, 0));
      if (!this.#watchers.has(watcher)) continue;
      let chunk = chunks.get(watcher.wants);
      if (chunk === undefined) chunks.set(watcher.wants, chunk = make(watcher));
      if (chunk === null) continue;
      if ((watcher.controller.desiredSize ?? 0) <= 0) {
        watcher.lost += chunk.events;
        continue;
      }
      if (watcher.lost > 0) watcher.controller.enqueue(encode(frame("lost", { events: watcher.lost })));
      watcher.lost = 0;
      watcher.controller.enqueue(chunk.bytes);
    }
  }

  /** Looks after other processes: by the store, as there is no other way to them. */
  look(): Promise<void> {
    this.#looked = this.#options.now();
    return this.#looking ??= this.#look().finally(() => this.#looking = null);
  }

  async #look(): Promise<void> {
    const elsewhere = this.#elsewhere;
    if (elsewhere === null) return;
    await elsewhere.look();
    if (this.#elsewhere !== elsewhere) return;
    const seen = frame("seen", elsewhere.seen);
    if (seen === this.#seen) return;
    this.#seen = seen;
    const bytes = encode(seen);
    for (const { controller } of this.#watchers) {
      if ((controller.desiredSize ?? 0) > 0) controller.enqueue(bytes);
    }
  }

  #open(): Elsewhere {
    const { others, now } = this.#options;
    const opened: Elsewhere = new Elsewhere(others, {
      start: (view) => this.#elsewhere === opened && this.#say({ event: "start", view, text: null }),
      end: (view) => this.#elsewhere === opened && this.#say({ event: "end", view, text: null }),
    }, now);
    return opened;
  }

  #isWanted({ event, view }: Pick<Said, "event" | "view">, { filter, member }: WatchOptions): boolean {
    return (member === undefined || this.#options.memberOf(view.key_id) === member) &&
      matches(event, view, filter);
  }

  #say(said: Said): void {
    if (this.#events.length < MOST_EVENTS) this.#events.push(said);
    else this.#dropped++;
  }

  #hello(options: WatchOptions): string {
    const running: BeginningView[] = [];
    for (const view of this.#running()) {
      if (this.#isWanted({ event: "start", view }, options)) running.push(view);
      if (running.length === FIRST) break;
    }
    const recent = this.#options.recent().map(generationView)
      .filter((view) => this.#isWanted({ event: "end", view }, options)).slice(-FIRST).reverse();
    const now = new Date(this.#options.now()).toISOString();
    return frame("hello", { now, running, recent, seen: this.#elsewhere!.seen });
  }

  *#running(): Generator<BeginningView> {
    for (const beginning of this.#options.running()) yield beginningView(beginning);
    yield* this.#elsewhere!.running();
  }

  /** So that a watcher whose connection is gone is noticed, and nothing in between takes it for dead. */
  #keepAlive(): void {
    const now = this.#options.now();
    if (now - this.#quietSince < KEEP_ALIVE_MS) return;
    this.#quietSince = now;
    const comment = encode(": still here\n\n");
    for (const { controller } of this.#watchers) {
      if ((controller.desiredSize ?? 0) > 0) controller.enqueue(comment);
    }
  }

  #close(watcher: Watcher): void {
    this.#remove(watcher);
    try {
      watcher.controller.close();
    } catch {
      // The watcher has left just now.
    }
  }

  #remove(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#events = [];
    this.#dropped = 0;
    this.#elsewhere = null;
    this.#seen = "";
  }
}

/** A call that ended just now. */
export function unrecordedView(beginning: Beginning, errorCode: string | null, now: number): UnrecordedView {
  return {
    ...beginningView(beginning),
    status: "failed",
    error_code: errorCode,
    latency_ms: Math.max(0, now - beginning.created),
    recorded: false,
  };
}
