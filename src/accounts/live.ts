/**
 * The live view: who watches is told of the calls of this process as they begin and end.
 *
 * Calls do not wait for watchers. What happens is collected, and a few times a second encoded once and handed to all who want
 * the same. Each watcher has a bounded buffer; what does not fit in it is left out, and the watcher is told how much. So is what
 * would make all watchers together cost more than a bounded number of bytes a second.
 */
import type { Generation } from "../store/mod.ts";
import type { CallWatch } from "./call_watch.ts";
import type { Beginning } from "./ledger.ts";
import { type BeginningView, beginningView, type GenerationView, generationView } from "./views.ts";

/** Which calls a watcher wants; what is absent is any. */
export interface LiveFilter {
  key?: string;
  account?: string;
  team?: string;
  session?: string;
  model?: string;
  provider?: string;
  status?: string;
  format?: string;
  /** `name=value` */
  tag?: string;
}

/** A call that ended without a record: no provider took it. */
export interface UnrecordedView extends BeginningView {
  status: "failed";
  error_code: string | null;
  latency_ms: number;
  recorded: false;
}

export interface LiveOptions {
  now(): number;
  /** Calls that run now. */
  running(): Iterable<Beginning>;
  /** The last ones that ended; oldest first. */
  recent(): readonly Generation[];
  /** Records of all nodes since a time, the newest first, as many as it takes; null: there is no other node. */
  everywhere(from: number): Promise<readonly Generation[]> | null;
}

export interface WatchOptions {
  filter: LiveFilter;
  /** Whether the watcher may go on. */
  stillMay(): boolean;
}

type Said =
  | { event: "start"; view: BeginningView; text: string | null }
  | { event: "end"; view: GenerationView | UnrecordedView; text: string | null };

interface Watcher extends WatchOptions {
  controller: ReadableStreamDefaultController<Uint8Array>;
  /** Events that it was not given since it was last told. */
  lost: number;
}

const TICK_MS = 250;
/** With many watchers each is served more rarely: a write costs as much for few bytes as for many. */
const WATCHERS_A_TICK = 250;
/** What a watcher may lag behind. */
const BUFFER_BYTES = 256 << 10;
/** What all watchers together are sent in a second, at most. */
const BYTES_A_SECOND = 4 << 20;
/** Events that are kept until the next tick, at most. */
const MOST_EVENTS = 2000;
const KEEP_ALIVE_MS = 15_000;
/** How often the records of other nodes are looked for, and how old their calls may be. */
const LOOK_EVERY_MS = 1000;
const LOOK_BACK_MS = 600_000;
/** Ids of calls that are known to have been told. */
const MOST_TOLD = 5000;
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
  /** Ids of calls that watchers have been told of, as far as they may come up again; null: nobody has looked yet. */
  #told: Set<string> | null = null;
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
    this.#told?.add(generation.id);
    this.#say({ event: "end", view: generationView(generation), text: null });
  }

  released(beginning: Beginning, errorCode: string | null): void {
    if (this.#watchers.size === 0) return;
    const view: UnrecordedView = {
      ...beginningView(beginning),
      status: "failed",
      error_code: errorCode,
      latency_ms: Math.max(0, this.#options.now() - beginning.created),
      recorded: false,
    };
    this.#say({ event: "end", view, text: null });
  }

  /** Events for one watcher, as server-sent events: `hello`, then `start`, `end` and `lost`. */
  watch(options: WatchOptions): ReadableStream<Uint8Array> {
    let watcher: Watcher;
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        watcher = { ...options, controller, lost: 0 };
        controller.enqueue(encode(this.#hello(options.filter)));
        this.#watchers.add(watcher);
        this.#quietSince = this.#options.now();
        this.#timer ??= setInterval(() => this.flush(), TICK_MS);
      },
      cancel: () => this.#remove(watcher),
    }, new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES }));
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
    const chunks = new Map<string, Chunk | null>();
    for (const watcher of this.#watchers) {
      const name = JSON.stringify(watcher.filter);
      let chunk = chunks.get(name);
      if (chunk === undefined) chunks.set(name, chunk = chunkOf(events, watcher.filter, { most, dropped }));
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

  /** Finds what has ended on other nodes: in the store, as there is no other way to them. */
  look(): Promise<void> {
    this.#looked = this.#options.now();
    return this.#looking ??= this.#look().finally(() => this.#looking = null);
  }

  async #look(): Promise<void> {
    const found = await this.#options.everywhere(this.#looked - LOOK_BACK_MS)?.catch(() => null);
    if (!found || this.#watchers.size === 0) return;
    const first = this.#told === null;
    const told = this.#told ??= new Set();
    for (const generation of found.toReversed()) {
      if (told.has(generation.id)) continue;
      told.add(generation.id);
      if (!first) this.#say({ event: "end", view: generationView(generation), text: null });
    }
    if (told.size > MOST_TOLD) {
      this.#told = new Set([...found, ...this.#options.recent()].map(({ id }) => id));
    }
  }

  #say(said: Said): void {
    if (this.#events.length < MOST_EVENTS) this.#events.push(said);
    else this.#dropped++;
  }

  #hello(filter: LiveFilter): string {
    const running: BeginningView[] = [];
    for (const beginning of this.#options.running()) {
      const view = beginningView(beginning);
      if (matches("start", view, filter)) running.push(view);
      if (running.length === FIRST) break;
    }
    const recent = this.#options.recent().slice(-FIRST).map(generationView)
      .filter((view) => matches("end", view, filter)).reverse();
    return frame("hello", { now: new Date(this.#options.now()).toISOString(), running, recent });
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
    this.#told = null;
  }
}

const encoder = new TextEncoder();
const encode = (text: string) => encoder.encode(text);

function frame(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** What all watchers with one filter are sent. */
interface Chunk {
  bytes: Uint8Array;
  /** That happened, told or left out. */
  events: number;
}

/** Null: nothing of it is wanted. */
function chunkOf(
  events: readonly Said[],
  filter: LiveFilter,
  { most, dropped }: { most: number; dropped: number },
): Chunk | null {
  let text = "";
  let given = 0;
  let lost = dropped;
  for (const said of events) {
    if (!matches(said.event, said.view, filter)) continue;
    // One fits always.
    if (given > 0 && text.length >= most) {
      lost++;
      continue;
    }
    text += said.text ??= frame(said.event, said.view);
    given++;
  }
  if (given === 0 && lost === 0) return null;
  const before = lost > 0 ? frame("lost", { events: lost }) : "";
  return { bytes: encode(before + text), events: given + lost };
}

/** A start does not yet tell who answers, and how it ends. */
function matches(
  event: Said["event"],
  view: BeginningView & { provider?: string | null; status?: string },
  filter: LiveFilter,
): boolean {
  if (event === "start" && (filter.status !== undefined || filter.provider !== undefined)) return false;
  const is = (wanted: string | undefined, ...found: (string | null | undefined)[]) =>
    wanted === undefined || found.includes(wanted);
  const at = filter.tag?.indexOf("=") ?? -1;
  return is(filter.key, view.key, view.key_id) && is(filter.account, view.account) &&
    is(filter.team, view.team) && is(filter.session, view.session) &&
    is(filter.model, view.model, view.requested_model) && is(filter.provider, view.provider) &&
    is(filter.status, view.status) && is(filter.format, view.format) &&
    (filter.tag === undefined ||
      (at < 0
        ? Object.hasOwn(view.tags, filter.tag)
        : view.tags[filter.tag.slice(0, at)] === filter.tag.slice(at + 1)));
}
