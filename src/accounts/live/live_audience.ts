/** A group of watchers with the same filter: events are selected and encoded once. */
import { shareBytes } from "../../transport/shared_bytes.ts";
import { type CallEvent, encode, frame, type Lost } from "./live_events.ts";

export interface Watcher {
  controller: ReadableStreamDefaultController<Uint8Array>;
  /** Whether the watcher is still authorized. */
  stillMay(): boolean;
  /** Events dropped since the last report to the watcher. */
  lost: Lost;
}

/** One piece of output for all watchers of the group. */
export interface Chunk {
  bytes: Uint8Array;
  /** Number of events in it, sent or dropped. */
  holds: Lost;
}

/** Maximum number of events waiting until the group is served. */
const MOST_WAITING = 5000;
/** Maximum number of calls whose start was sent, and whose end therefore has precedence over other events. */
const MOST_FOLLOWED = 200;

export class Audience {
  readonly watchers = new Set<Watcher>();
  /** The person whose calls they may see; absent: all. */
  readonly member: string | undefined;
  readonly #wants: ((callEvent: CallEvent) => boolean) | null;
  #waiting: CallEvent[] = [];
  #lost: Lost = { events: 0, ended: 0 };
  readonly #followed = new Set<string>();
  /** Whether events had to be dropped the last time. */
  overflows = false;
  /** Time of the last output. */
  quietSince: number;
  /** Number of events sent then. */
  told = 0;
  /** Ticks since it was served. */
  waited = 0;

  /** @param wants the filter; null: everything */
  constructor(wants: ((callEvent: CallEvent) => boolean) | null, member: string | undefined, now: number) {
    this.#wants = wants;
    this.member = member;
    this.quietSince = now;
  }

  /** Whether they want everything. */
  get all(): boolean {
    return this.#wants === null;
  }

  /** Whether the start of this call was sent, and its end was not. */
  follows(id: string): boolean {
    return this.#followed.has(id);
  }

  /** Collects the events that match the filter. */
  take(events: readonly CallEvent[], dropped: Lost): void {
    // Members must not learn how many calls others make.
    if (this.member === undefined) add(this.#lost, dropped);
    for (const callEvent of events) {
      if (this.#wants !== null && !this.#wants(callEvent)) continue;
      if (this.#waiting.length < MOST_WAITING || this.follows(callEvent.id)) this.#waiting.push(callEvent);
      else lose(this.#lost, callEvent);
    }
  }

  /** The collected events, up to this many characters; null: none. */
  chunk(most: number): Chunk | null {
    const waiting = this.#waiting;
    const lost = this.#lost;
    this.#waiting = [];
    this.#lost = { events: 0, ended: 0 };
    const told = this.#chosen(waiting, most);
    if (told.size < waiting.length) {
      for (const callEvent of waiting) if (!told.has(callEvent)) lose(lost, callEvent);
    }
    this.overflows = lost.events > 0;
    this.told = told.size;
    if (waiting.length === 0 && lost.events === 0) return null;
    let text = lost.events > 0 ? frame("lost", lost) : "";
    const holds = { ...lost };
    for (const callEvent of waiting) {
      if (!told.has(callEvent)) continue;
      text += callEvent.text;
      lose(holds, callEvent);
      this.#follow(callEvent);
    }
    return { bytes: shareBytes(encode(text)), holds };
  }

  /** Ends of calls whose start was sent come first: otherwise these calls would seem to run for ever. */
  #chosen(waiting: readonly CallEvent[], most: number): Set<CallEvent> {
    const told = new Set<CallEvent>();
    let length = 0;
    const tell = (callEvent: CallEvent) => {
      // The first event always fits.
      if (told.size > 0 && length >= most) return false;
      told.add(callEvent);
      length += callEvent.text.length;
      return true;
    };
    for (const callEvent of waiting) {
      if (this.follows(callEvent.id) && callEvent.event === "end" && !tell(callEvent)) return told;
    }
    for (const callEvent of waiting) if (!told.has(callEvent) && !tell(callEvent)) break;
    return told;
  }

  #follow({ event, id }: CallEvent): void {
    if (event === "end") this.#followed.delete(id);
    else this.#followed.add(id);
    if (this.#followed.size <= MOST_FOLLOWED) return;
    const [oldest] = this.#followed;
    this.#followed.delete(oldest);
  }
}

/** Adds counts of dropped events to `to`. */
export function add(to: Lost, more: Lost): void {
  to.events += more.events;
  to.ended += more.ended;
}

/** Counts a dropped event. */
export function lose(to: Lost, { event }: Pick<CallEvent, "event">): void {
  to.events++;
  if (event === "end") to.ended++;
}
