/** Watchers that want the same: what they are told is chosen and encoded once. */
import { shareBytes } from "../../transport/shared_bytes.ts";
import { encode, frame, type Lost, type Said } from "./live_events.ts";

export interface Watcher {
  controller: ReadableStreamDefaultController<Uint8Array>;
  /** Whether it may go on. */
  stillMay(): boolean;
  /** What it was not given since it was last told. */
  lost: Lost;
}

/** What all of an audience are sent. */
export interface Chunk {
  bytes: Uint8Array;
  /** What happened, told or left out. */
  holds: Lost;
}

/** Events that wait until the audience is served. */
const MOST_WAITING = 5000;
/** Calls whose beginnings were told, and whose ends therefore come before other events. */
const MOST_FOLLOWED = 200;

export class Audience {
  readonly watchers = new Set<Watcher>();
  /** The person whose calls they see; absent: all. */
  readonly member: string | undefined;
  readonly #wants: ((said: Said) => boolean) | null;
  #waiting: Said[] = [];
  #lost: Lost = { events: 0, ended: 0 };
  readonly #followed = new Set<string>();
  /** Whether more happened than it could be told when it was served last. */
  overflows = false;
  /** When it was sent something last. */
  quietSince: number;
  /** Events that it was told then. */
  told = 0;
  /** Ticks since it was served. */
  waited = 0;

  /** @param wants null: everything */
  constructor(wants: ((said: Said) => boolean) | null, member: string | undefined, now: number) {
    this.#wants = wants;
    this.member = member;
    this.quietSince = now;
  }

  /** Whether they want everything. */
  get all(): boolean {
    return this.#wants === null;
  }

  /** Whether the beginning of this call was told, and its end not. */
  follows(id: string): boolean {
    return this.#followed.has(id);
  }

  /** Keeps what it wants of what has happened. */
  take(events: readonly Said[], dropped: Lost): void {
    // How much others do is nobody else's affair.
    if (this.member === undefined) add(this.#lost, dropped);
    for (const said of events) {
      if (this.#wants !== null && !this.#wants(said)) continue;
      if (this.#waiting.length < MOST_WAITING || this.follows(said.id)) this.#waiting.push(said);
      else lose(this.#lost, said);
    }
  }

  /** What has gathered, as far as it fits into so many characters; null: nothing. */
  chunk(most: number): Chunk | null {
    const waiting = this.#waiting;
    const lost = this.#lost;
    this.#waiting = [];
    this.#lost = { events: 0, ended: 0 };
    const told = this.#chosen(waiting, most);
    if (told.size < waiting.length) {
      for (const said of waiting) if (!told.has(said)) lose(lost, said);
    }
    this.overflows = lost.events > 0;
    this.told = told.size;
    if (waiting.length === 0 && lost.events === 0) return null;
    let text = lost.events > 0 ? frame("lost", lost) : "";
    const holds = { ...lost };
    for (const said of waiting) {
      if (!told.has(said)) continue;
      text += said.text;
      lose(holds, said);
      this.#follow(said);
    }
    return { bytes: shareBytes(encode(text)), holds };
  }

  /** Ends of calls that have been told of come first: otherwise these would seem to run for ever. */
  #chosen(waiting: readonly Said[], most: number): Set<Said> {
    const told = new Set<Said>();
    let length = 0;
    const tell = (said: Said) => {
      // One fits always.
      if (told.size > 0 && length >= most) return false;
      told.add(said);
      length += said.text.length;
      return true;
    };
    for (const said of waiting) {
      if (this.follows(said.id) && said.event === "end" && !tell(said)) return told;
    }
    for (const said of waiting) if (!told.has(said) && !tell(said)) break;
    return told;
  }

  #follow({ event, id }: Said): void {
    if (event === "end") this.#followed.delete(id);
    else this.#followed.add(id);
    if (this.#followed.size <= MOST_FOLLOWED) return;
    const [oldest] = this.#followed;
    this.#followed.delete(oldest);
  }
}

/** Adds the counts of lost events up, in `to`. */
export function add(to: Lost, more: Lost): void {
  to.events += more.events;
  to.ended += more.ended;
}

/** Counts an event. */
export function lose(to: Lost, { event }: Pick<Said, "event">): void {
  to.events++;
  if (event === "end") to.ended++;
}
