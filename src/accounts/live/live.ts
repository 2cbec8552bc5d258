/**
 * The live view: streams the starts and ends of calls to watchers.
 *
 * Calls do not wait for watchers. Events are collected, and a few times per second encoded once for all
 * watchers with the same filter. Each watcher has a bounded buffer; events that do not fit are dropped, and
 * the watcher is told how many. The total output for all watchers is limited per second in the same way. The
 * cost of a watcher is the write to its connection, about 20 µs: many watchers are written to less often, and
 * a few at a time.
 */
import { Failure } from "../../exchange/failure.ts";
import type { Generation } from "../../store/mod.ts";
import { pause } from "../../timing/waits.ts";
import type { CallWatch } from "./call_watch.ts";
import type { Beginning } from "../ledger.ts";
import { Elsewhere, type OtherProcesses } from "./live_elsewhere.ts";
import { add, Audience, type Chunk, lose, type Watcher } from "./live_audience.ts";
import {
  CallEvent,
  encode,
  frame,
  type LiveFilter,
  type Lost,
  matches,
  type UnrecordedView,
} from "./live_events.ts";
import {
  type BeginningView,
  beginningView,
  type GenerationView,
  generationView,
} from "../administration/views.ts";

export interface LiveOptions {
  now(): number;
  /** Running calls. */
  running(): Iterable<Beginning>;
  /** Recently ended calls; oldest first. */
  recent(): readonly Generation[];
  /** The person who owns a key; null: nobody. */
  memberOf(keyId: string): string | null;
  others: OtherProcesses;
}

export interface WatchOptions {
  filter: LiveFilter;
  /** Only calls of this person's keys; absent: all. */
  member?: string;
  /** Whether the watcher is still authorized. */
  stillMay(): boolean;
}

/** Limited because each has a buffer. */
const MOST_WATCHERS = 5000;
const MOST_OF_MEMBER = 20;
const TICK_MS = 250;
/** With more watchers than this per tick, each is served less often, but at least once per second. */
const WATCHERS_A_TICK = 250;
const MOST_TICKS = 1000 / TICK_MS;
/**
 * Groups of at most this many watchers with the same filter (such as a user's own calls) are served twice per
 * second whatever the total number.
 */
const FEW = 5;
const TICKS_OF_FEW = 2;
/** Rate, per second, at which watchers are served whose events have to be dropped anyway. */
const OVERFLOWING_A_SECOND = 500;
const MOST_SECONDS = 4;
/** Writes per batch: half a millisecond, which is the longest delay for a call. */
const WATCHERS_AT_ONCE = 25;
/** Pause between batches, in milliseconds, for other work. */
const PAUSE_MS = 4;
/** Buffer per watcher in bytes. */
const BUFFER_BYTES = 256 << 10;
/** Maximum output per second for all watchers together. */
const BYTES_A_SECOND = 4 << 20;
/** Maximum number of events collected per tick. */
const MOST_EVENTS = 5000;
/** Minimum number of events sent of those when only a part can be sent. */
const LEAST_SAMPLED = 100;
/** Interval of keep-alives: detects closed connections, and prevents that proxies close idle ones. */
const KEEP_ALIVE_MS = 15_000;
const KEEP_ALIVE: Chunk = { bytes: encode(": still here\n\n"), holds: { events: 0, ended: 0 } };
/** Interval at which other processes are polled, in milliseconds. */
const LOOK_EVERY_MS = 500;
/** Maximum number of running calls, and of recently ended ones, in the first event. */
const FIRST = 100;

export class Live implements CallWatch {
  readonly #options: LiveOptions;
  /** By filter. */
  readonly #audiences = new Map<string, Audience>();
  #watching = 0;
  #events: CallEvent[] = [];
  #dropped: Lost = { events: 0, ended: 0 };
  /** The only group of watchers, if all of them want everything and that is too much; null otherwise. */
  #sampled: Audience | null = null;
  /** Number of events collected until the next tick. */
  #most = MOST_EVENTS;
  #timer: ReturnType<typeof setInterval> | undefined;
  #looked = 0;
  #elsewhere: Elsewhere | null = null;
  /**
   * First events by filter, for watchers that arrived since the last tick: many arrive at once with the same
   * filter.
   */
  readonly #hellos = new Map<string, Uint8Array<ArrayBuffer>>();
  /** The last `seen` event. */
  #seen = "";
  #looking: Promise<void> | null = null;

  constructor(options: LiveOptions) {
    this.#options = options;
  }

  get watchers(): number {
    return this.#watching;
  }

  began(beginning: Beginning): void {
    if (this.#watching === 0 || !this.#keeps("start", beginning.id)) return;
    this.#events.push(new CallEvent("start", beginning.id, () => beginningView(beginning)));
  }

  ended(generation: Generation): void {
    if (this.#watching === 0) return;
    this.#elsewhere?.endedHere(generation.id);
    if (!this.#keeps("end", generation.id)) return;
    this.#events.push(new CallEvent("end", generation.id, () => generationView(generation)));
  }

  released(beginning: Beginning, errorCode: string | null): void {
    if (this.#watching === 0) return;
    const now = this.#options.now();
    this.#say(new CallEvent("end", beginning.id, () => unrecordedView(beginning, errorCode, now)));
  }

  /** A server-sent event stream for one watcher: `hello`, then `start`, `end`, `seen` and `lost`. */
  watch(options: WatchOptions): ReadableStream<Uint8Array> {
    this.#refuseTooMany(options);
    const { stillMay } = options;
    let watcher: Watcher;
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        watcher = { controller, stillMay, lost: { events: 0, ended: 0 } };
        this.#elsewhere ??= this.#open();
        this.#seen ||= frame("seen", this.#elsewhere.seen);
        const name = nameOf(options);
        let hello = this.#hellos.get(name);
        if (hello === undefined) this.#hellos.set(name, hello = encode(this.#hello(options)));
        controller.enqueue(hello);
        this.#audience(name, options).watchers.add(watcher);
        this.#watching++;
        this.#timer ??= setInterval(() => this.flush(), TICK_MS);
      },
      cancel: () => this.#remove(watcher),
    }, new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES }));
  }

  #audience(name: string, options: WatchOptions): Audience {
    const { filter, member } = options;
    let audience = this.#audiences.get(name);
    if (audience === undefined) {
      const all = member === undefined && Object.values(filter).every((value) => value === undefined);
      this.#keepAll();
      const wants = all ? null : (said: CallEvent) => this.#isWanted(said, options);
      this.#audiences.set(name, audience = new Audience(wants, member, this.#options.now()));
    }
    return audience;
  }

  #keepAll(): void {
    this.#sampled = null;
    this.#most = MOST_EVENTS;
  }

  *#everybody(): Generator<Watcher> {
    for (const { watchers } of this.#audiences.values()) yield* watchers;
  }

  #refuseTooMany({ member }: WatchOptions): void {
    if (this.#watching >= MOST_WATCHERS) {
      throw new Failure("service_unavailable", "Too many live views are open; try again soon.");
    }
    if (member === undefined) return;
    let own = 0;
    for (const audience of this.#audiences.values()) {
      if (audience.member === member) own += audience.watchers.size;
    }
    if (own < MOST_OF_MEMBER) return;
    throw new Failure("provider_rate_limited", `A member may watch ${MOST_OF_MEMBER} times at once.`, {
      retryAfter: 10,
    });
  }

  /** Ends all streams on shutdown. */
  end(): void {
    for (const watcher of [...this.#everybody()]) this.#close(watcher);
  }

  /** Sends the collected events. */
  flush(): void {
    this.#hellos.clear();
    if (Math.abs(this.#options.now() - this.#looked) >= LOOK_EVERY_MS) void this.look();
    for (const audience of this.#audiences.values()) audience.waited++;
    for (const audience of this.#due()) {
      for (const watcher of audience.watchers) if (!watcher.stillMay()) this.#close(watcher);
    }
    const due = this.#due();
    if (due.length === 0) return;
    const events = this.#events;
    const dropped = this.#dropped;
    this.#events = [];
    this.#dropped = { events: 0, ended: 0 };
    for (const audience of this.#audiences.values()) audience.take(events, dropped);
    for (const audience of due) this.#serve(audience);
    // Records that would be dropped are not kept: thousands of objects that live for a second make garbage
    // collection expensive.
    const [only, another] = this.#audiences.values();
    this.#sampled = another === undefined && only?.all && only.overflows ? only : null;
    this.#most = this.#sampled === null ? MOST_EVENTS : Math.max(LEAST_SAMPLED, 4 * this.#sampled.told);
  }

  #due(): Audience[] {
    return [...this.#audiences.values()].filter((audience) => audience.waited >= this.#ticksOf(audience));
  }

  /** Number of ticks after which an audience is served again. */
  #ticksOf({ overflows, watchers }: Audience): number {
    const ticks = Math.min(MOST_TICKS, Math.max(1, Math.ceil(this.#watching / WATCHERS_A_TICK)));
    if (overflows) {
      return Math.max(ticks, MOST_TICKS * Math.min(MOST_SECONDS, this.#watching / OVERFLOWING_A_SECOND));
    }
    return watchers.size <= FEW ? Math.min(ticks, TICKS_OF_FEW) : ticks;
  }

  #serve(audience: Audience): void {
    const share = BYTES_A_SECOND / this.#watching;
    const chunk = audience.chunk(share * audience.waited / MOST_TICKS);
    audience.waited = 0;
    const now = this.#options.now();
    if (chunk === null && Math.abs(now - audience.quietSince) < KEEP_ALIVE_MS) return;
    audience.quietSince = now;
    void this.#hand([...audience.watchers], chunk ?? KEEP_ALIVE);
  }

  /** A batch of watchers at a time, so that calls are processed in between. */
  async #hand(watchers: readonly Watcher[], { bytes, holds }: Chunk): Promise<void> {
    for (const [i, { controller, lost }] of watchers.entries()) {
      if (i > 0 && i % WATCHERS_AT_ONCE === 0) await pause(PAUSE_MS);
      // Null: the watcher has disconnected.
      if (controller.desiredSize === null) continue;
      if (controller.desiredSize <= 0) {
        add(lost, holds);
        continue;
      }
      if (lost.events > 0) {
        controller.enqueue(encode(frame("lost", lost)));
        lost.events = lost.ended = 0;
      }
      controller.enqueue(bytes);
    }
  }

  /** Polls other processes through the store, which is the only connection to them. */
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
    for (const { controller } of this.#everybody()) {
      if ((controller.desiredSize ?? 0) > 0) controller.enqueue(bytes);
    }
  }

  #open(): Elsewhere {
    const { others, now } = this.#options;
    const opened: Elsewhere = new Elsewhere(others, {
      start: (view) => this.#elsewhere === opened && this.#say(new CallEvent("start", view.id, () => view)),
      end: (view) => this.#elsewhere === opened && this.#say(new CallEvent("end", view.id, () => view)),
    }, now);
    return opened;
  }

  #isWanted({ event, view }: Pick<CallEvent, "event" | "view">, { filter, member }: WatchOptions): boolean {
    return (member === undefined || this.#options.memberOf(view.key_id) === member) &&
      matches(event, view, filter);
  }

  #say(said: CallEvent): void {
    if (this.#keeps(said.event, said.id)) this.#events.push(said);
  }

  /** Whether one more event is collected; otherwise it is counted as dropped. */
  #keeps(event: CallEvent["event"], id: string): boolean {
    if (this.#events.length < this.#most || this.#sampled?.follows(id)) return true;
    lose(this.#dropped, { event });
    return false;
  }

  #hello(options: WatchOptions): string {
    const running: BeginningView[] = [];
    for (const view of this.#running()) {
      if (this.#isWanted({ event: "start", view }, options)) running.push(view);
      if (running.length === FIRST) break;
    }
    const recent: GenerationView[] = [];
    for (const generation of this.#options.recent().toReversed()) {
      const view = generationView(generation);
      if (this.#isWanted({ event: "end", view }, options)) recent.push(view);
      if (recent.length === FIRST) break;
    }
    const now = new Date(this.#options.now()).toISOString();
    return frame("hello", { now, running, recent, seen: this.#elsewhere!.seen });
  }

  *#running(): Generator<BeginningView> {
    for (const beginning of this.#options.running()) yield beginningView(beginning);
    yield* this.#elsewhere!.running();
  }

  #close(watcher: Watcher): void {
    this.#remove(watcher);
    try {
      watcher.controller.close();
    } catch {
      // The watcher has disconnected.
    }
  }

  #remove(watcher: Watcher): void {
    for (const [name, { watchers }] of this.#audiences) {
      if (!watchers.delete(watcher)) continue;
      this.#watching--;
      if (watchers.size === 0) this.#audiences.delete(name);
    }
    if (this.#watching > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#events = [];
    this.#hellos.clear();
    this.#dropped = { events: 0, ended: 0 };
    this.#elsewhere = null;
    this.#keepAll();
    this.#seen = "";
  }
}

/** Watchers with the same name receive the same events. */
function nameOf({ filter, member }: WatchOptions): string {
  return JSON.stringify([member ?? null, filter]);
}

/** A call that ended just now without a record. */
export function unrecordedView(beginning: Beginning, errorCode: string | null, now: number): UnrecordedView {
  return {
    ...beginningView(beginning),
    status: "failed",
    error_code: errorCode,
    latency_ms: Math.max(0, now - beginning.created),
    recorded: false,
  };
}
