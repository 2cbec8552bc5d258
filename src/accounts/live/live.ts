/**
 * The live view: who watches is told of the calls of this process as they begin and end.
 *
 * Calls do not wait for watchers. What happens is collected, and a few times a second encoded once and handed to all who want
 * the same. Each watcher has a bounded buffer; what does not fit in it is left out, and the watcher is told how much. So is what
 * would make all watchers together cost more than a bounded number of bytes a second. What a watcher costs is the write to its
 * connection, some 20 µs: many of them are written to more rarely, and a few at a time.
 */
import { Failure } from "../../exchange/failure.ts";
import type { Generation } from "../../store/mod.ts";
import { pause } from "../../timing/waits.ts";
import type { CallWatch } from "./call_watch.ts";
import type { Beginning } from "../ledger.ts";
import { Elsewhere, type OtherProcesses } from "./live_elsewhere.ts";
import { add, Audience, type Chunk, lose, type Watcher } from "./live_audience.ts";
import {
  encode,
  frame,
  type LiveFilter,
  type Lost,
  matches,
  Said,
  type UnrecordedView,
} from "./live_events.ts";
import {
  type BeginningView,
  beginningView,
  type GenerationView,
  generationView,
} from "../administration/views.ts";

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

/** Each has a buffer. */
const MOST_WATCHERS = 5000;
const MOST_OF_MEMBER = 20;
const TICK_MS = 250;
/** With many watchers each is served more rarely, but not less than once a second. */
const WATCHERS_A_TICK = 250;
const MOST_TICKS = 1000 / TICK_MS;
/** So few who want the same, such as one's own calls, are served twice a second however many others there are. */
const FEW = 5;
const TICKS_OF_FEW = 2;
/** Who is told only a part of what happens, because it is too much, need not have it within the second. */
const OVERFLOWING_A_SECOND = 500;
const MOST_SECONDS = 4;
/** To write to so many takes half a millisecond, which is as long as a call waits at most. */
const WATCHERS_AT_ONCE = 25;
/** Between them others have their turn. */
const PAUSE_MS = 4;
/** What a watcher may lag behind. */
const BUFFER_BYTES = 256 << 10;
/** What all watchers together are sent in a second, at most. */
const BYTES_A_SECOND = 4 << 20;
/** Events that are kept until the next tick, at most. */
const MOST_EVENTS = 5000;
/** Of them, at least so many where only a part can be told. */
const LEAST_SAMPLED = 100;
/** So that a watcher whose connection is gone is noticed, and nothing in between takes it for dead. */
const KEEP_ALIVE_MS = 15_000;
const KEEP_ALIVE: Chunk = { bytes: encode(": still here\n\n"), holds: { events: 0, ended: 0 } };
/** How often other processes are looked after. */
const LOOK_EVERY_MS = 500;
/** How many of the calls that run, and of those that ended last, a watcher is told of at first. */
const FIRST = 100;

export class Live implements CallWatch {
  readonly #options: LiveOptions;
  /** By what they want. */
  readonly #audiences = new Map<string, Audience>();
  #watching = 0;
  #events: Said[] = [];
  #dropped: Lost = { events: 0, ended: 0 };
  /** All who watch, where all want everything and it is too much; null: it is otherwise. */
  #sampled: Audience | null = null;
  /** Events that are kept until the next time. */
  #most = MOST_EVENTS;
  #timer: ReturnType<typeof setInterval> | undefined;
  #looked = 0;
  #elsewhere: Elsewhere | null = null;
  /** What those are told at first who came since events were handed out, by what they want: a crowd that comes at once wants the same. */
  readonly #hellos = new Map<string, Uint8Array<ArrayBuffer>>();
  /** What watchers have been told of whose calls are told. */
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
    this.#events.push(new Said("start", beginning.id, () => beginningView(beginning)));
  }

  ended(generation: Generation): void {
    if (this.#watching === 0) return;
    this.#elsewhere?.endedHere(generation.id);
    if (!this.#keeps("end", generation.id)) return;
    this.#events.push(new Said("end", generation.id, () => generationView(generation)));
  }

  released(beginning: Beginning, errorCode: string | null): void {
    if (this.#watching === 0) return;
    const now = this.#options.now();
    this.#say(new Said("end", beginning.id, () => unrecordedView(beginning, errorCode, now)));
  }

  /** Events for one watcher, as server-sent events: `hello`, then `start`, `end`, `seen` and `lost`. */
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
      const wants = all ? null : (said: Said) => this.#isWanted(said, options);
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
      throw new Failure("service_unavailable", "Too many watch just now; try again soon.");
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

  /** Ends all streams: the process stops. */
  end(): void {
    for (const watcher of [...this.#everybody()]) this.#close(watcher);
  }

  /** Hands out what has happened. */
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
    // Records that nobody will be told of are not kept: thousands that live for a second make the garbage collection dearer.
    const [only, another] = this.#audiences.values();
    this.#sampled = another === undefined && only?.all && only.overflows ? only : null;
    this.#most = this.#sampled === null ? MOST_EVENTS : Math.max(LEAST_SAMPLED, 4 * this.#sampled.told);
  }

  #due(): Audience[] {
    return [...this.#audiences.values()].filter((audience) => audience.waited >= this.#ticksOf(audience));
  }

  /** Ticks from one time that an audience is served to the next. */
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

  /** Some watchers at a time, so that calls go on between them. */
  async #hand(watchers: readonly Watcher[], { bytes, holds }: Chunk): Promise<void> {
    for (const [i, { controller, lost }] of watchers.entries()) {
      if (i > 0 && i % WATCHERS_AT_ONCE === 0) await pause(PAUSE_MS);
      // Null: it has left.
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
    for (const { controller } of this.#everybody()) {
      if ((controller.desiredSize ?? 0) > 0) controller.enqueue(bytes);
    }
  }

  #open(): Elsewhere {
    const { others, now } = this.#options;
    const opened: Elsewhere = new Elsewhere(others, {
      start: (view) => this.#elsewhere === opened && this.#say(new Said("start", view.id, () => view)),
      end: (view) => this.#elsewhere === opened && this.#say(new Said("end", view.id, () => view)),
    }, now);
    return opened;
  }

  #isWanted({ event, view }: Pick<Said, "event" | "view">, { filter, member }: WatchOptions): boolean {
    return (member === undefined || this.#options.memberOf(view.key_id) === member) &&
      matches(event, view, filter);
  }

  #say(said: Said): void {
    if (this.#keeps(said.event, said.id)) this.#events.push(said);
  }

  /** Whether one more event is kept until watchers are served; else it counts as left out. */
  #keeps(event: Said["event"], id: string): boolean {
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
      // The watcher has left just now.
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

/** Who has the same name is told the same. */
function nameOf({ filter, member }: WatchOptions): string {
  return JSON.stringify([member ?? null, filter]);
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
