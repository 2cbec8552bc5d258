/**
 * A resumable stream running in this process: events are written to the store first, then passed to
 * followers. So everything that a client has received can be read again, even after this process was killed.
 *
 * Memory holds events that are not yet stored, or not yet read. The stream is at most one window ahead of its
 * fastest follower; slower ones read earlier events from the store. Without a follower it runs as fast as it
 * can. A stream that can no longer be stored continues without event ids.
 */
import type { StreamStart, StreamUpdate } from "../store/mod.ts";
import type { StreamCipher } from "./cipher.ts";
import { behind, eventsIn, withIds, withoutIds } from "./event_ids.ts";
import { type Follower, type Head, WINDOW } from "./follower.ts";
import type { KeptStream } from "./kept.ts";

interface Piece {
  first: number;
  events: number;
  begins: number;
  text: string;
  /** It is in the store. */
  written: boolean;
}

export interface LiveStreamOptions {
  start: StreamStart;
  cipher: StreamCipher;
  kept: KeptStream;
  now(): number;
  /** The stream has something to write. */
  touched(stream: LiveStream): void;
  /** Reads the stored part of the stream from an event on. */
  stored(event: number): Follower;
  /** It cannot be stored any more. */
  lost(why: string): void;
  /** It is completely stored, or will never be. */
  over(): void;
}

/** How long a refusal is stored, in milliseconds: only for those who are waiting for it. */
const REFUSAL_KEPT_MS = 60_000;

export class LiveStream {
  readonly #options: LiveStreamOptions;
  readonly #followers = new Set<LiveFollower>();
  #pieces: Piece[] = [];
  #events = 0;
  #chars = 0;
  #head: Head | null = null;
  #headWritten = false;
  #ended = false;
  #refused = false;
  #lost: string | null = null;
  #lossTold = false;
  /** Number of the first event sent without an id. */
  #firstUnnamed = Infinity;
  /** The end has been passed to the writer. */
  #endWritten = false;
  readonly #waiting = new Set<() => void>();
  /** It is being read on another node. */
  #elsewhere = false;
  /** Called when the last follower has left, and when one returns. */
  onFollowed: (followed: boolean) => void = () => {};

  constructor(options: LiveStreamOptions) {
    this.#options = options;
  }

  get start(): StreamStart {
    return this.#options.start;
  }

  get id(): string {
    return this.#options.start.id;
  }

  get events(): number {
    return this.#events;
  }

  /** Null: the answer has not started. */
  get head(): Head | null {
    return this.#head;
  }

  /** Characters in memory. */
  get held(): number {
    return this.#pieces.reduce((sum, { text }) => sum + text.length, 0);
  }

  get isLost(): boolean {
    return this.#lost !== null;
  }

  get isFollowed(): boolean {
    return this.#followers.size > 0 || this.#elsewhere;
  }

  get followers(): number {
    return this.#followers.size;
  }

  /** The answer starts. */
  begin(head: Head): void {
    this.#head = head;
    this.#touch();
  }

  /** The answer never starts: waiting readers get the refusal, and the claim is released. */
  refuse(head: Head): void {
    this.#refused = true;
    this.#head = head;
    // A lost stream still holds its claim in the store, so another update is needed.
    if (this.#lost !== null && !this.#ended) this.#endWritten = false;
    // Without a claim nobody else can know the id.
    const unknown = this.start.claim === null;
    this.#finish(unknown ? 0 : this.#refusalKeptMs);
    if (unknown) this.#options.over();
  }

  /** Appends the text of events. */
  append(text: string): void {
    if (text === "") return;
    const { id, first } = { id: this.id, first: this.#events };
    const named = this.start.streamed ? withIds(text, { id, first }) : { text, events: 1 };
    if (named.events === 0) return;
    const full = this.#lost === null ? this.#options.kept.take(named.text.length) : null;
    const piece = { first, events: named.events, begins: this.#chars, text: named.text, written: false };
    this.#pieces.push(piece);
    this.#events += piece.events;
    this.#chars += piece.text.length;
    if (full !== null) return this.lose(full);
    if (this.#lost !== null) this.#unname(piece);
    this.#touch();
  }

  /** No further events. */
  end(): void {
    this.#ended = true;
    this.#finish(this.start.keepMs);
  }

  #finish(keepMs: number): void {
    this.#options.kept.leave(this.#options.now() + keepMs);
    this.#touch();
  }

  get #refusalKeptMs(): number {
    return Math.min(REFUSAL_KEPT_MS, this.start.keepMs);
  }

  /** It cannot be stored any more: continues without event ids for its followers. */
  lose(why: string): void {
    if (this.#lost !== null || this.#endWritten) return;
    this.#lost = why;
    this.#options.lost(why);
    const unwritten = this.#pieces.filter((piece) => !piece.written);
    this.#firstUnnamed = unwritten[0]?.first ?? this.#events;
    for (const piece of unwritten) this.#unname(piece);
    this.#touch();
  }

  /** Whether all of it can be read again. */
  get #isWhole(): boolean {
    return this.#ended && this.#firstUnnamed >= this.#events;
  }

  /** Removes ids from events that cannot be resumed, and adds a comment with the reason before the first one. */
  #unname(piece: Piece): void {
    if (!this.start.streamed) return;
    piece.text = withoutIds(piece.text, this.id);
    if (!this.#lossTold) piece.text = `: resumption ended: ${this.#lost}\n\n${piece.text}`;
    this.#lossTold = true;
  }

  #touch(): void {
    const unknown = this.#refused && this.start.claim === null;
    if (!this.#endWritten && !unknown) this.#options.touched(this);
    if (this.#lost !== null) this.#drop();
    this.#wake();
  }

  /** Resolves when there is room for more. */
  async room(): Promise<void> {
    while (!this.#ended && this.#isAhead()) await this.changed();
  }

  #isAhead(): boolean {
    if (this.#lost === null) {
      const unwritten = this.#pieces.find((piece) => !piece.written);
      if (unwritten !== undefined && this.#chars - unwritten.begins > WINDOW) return true;
    }
    return this.#followers.size > 0 && this.#chars - this.#quickest() > WINDOW;
  }

  #quickest(): number {
    let chars = 0;
    for (const follower of this.#followers) chars = Math.max(chars, follower.chars);
    return chars;
  }

  /** Resolves at the next change, or after this many milliseconds. */
  changed(withinMs?: number): Promise<void> {
    return new Promise((resolve) => {
      if (withinMs === undefined) return void this.#waiting.add(resolve);
      const over = () => {
        clearTimeout(timer);
        this.#waiting.delete(over);
        resolve();
      };
      const timer = setTimeout(over, withinMs);
      this.#waiting.add(over);
    });
  }

  /** Number of waiters for a change. */
  get waiting(): number {
    return this.#waiting.size;
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }

  /** Resolves when every node can find it, or none ever will. */
  async findable(): Promise<void> {
    while (!this.#headWritten && this.#lost === null) await this.changed();
  }

  /** Resolves when it is completely stored, or will never be. */
  async settled(): Promise<void> {
    while (!(this.#endWritten || this.#lost !== null) || !this.#allReleased()) await this.changed();
  }

  #allReleased(): boolean {
    return this.#lost !== null || this.#pieces.every(({ written }) => written);
  }

  /** The next write, and a function to call when it is done. Null: nothing to write. */
  takeUpdate(): { update: StreamUpdate; written(): void } | null {
    const { start, cipher, now, over } = this.#options;
    const pieces = this.#lost === null ? this.#pieces.filter(({ written }) => !written) : [];
    const head = this.#headWritten ? null : this.#head;
    const ends = this.#lost !== null || this.#ended || this.#refused;
    if (pieces.length === 0 && head === null && (!ends || this.#endWritten)) return null;
    const [first] = pieces;
    const update: StreamUpdate = {
      start: this.#refused ? { ...start, claim: null } : start,
      head: head && cipher.seal(JSON.stringify(head), "head"),
      piece: first === undefined ? null : {
        stream: start.id,
        first: first.first,
        events: pieces.reduce((sum, { events }) => sum + events, 0),
        begins: first.begins,
        written: now(),
        data: cipher.seal(pieces.map(({ text }) => text).join(""), `${first.first}`),
      },
      end: !ends ? null : {
        state: this.#lost !== null && !this.#isWhole ? "lost" : this.#refused ? "refused" : "ended",
        events: Math.min(this.#firstUnnamed, this.#events),
        expires: now() + (this.#refused ? this.#refusalKeptMs : start.keepMs),
      },
    };
    return {
      update,
      written: () => {
        for (const piece of pieces) piece.written = true;
        if (head !== null) this.#headWritten = true;
        if (update.end !== null) {
          this.#endWritten = true;
          over();
        }
        this.#drop();
        this.#wake();
      },
    };
  }

  /** @param from number of the first event wanted */
  follow(from: number): LiveFollower {
    const follower = new LiveFollower(this, from);
    this.#followers.add(follower);
    if (this.#followers.size === 1 && !this.#elsewhere) this.onFollowed(true);
    return follower;
  }

  left(follower: LiveFollower): void {
    if (!this.#followers.delete(follower)) return;
    this.#drop();
    this.#wake();
    if (!this.isFollowed) this.onFollowed(false);
  }

  /** Reports whether it is read on another node. */
  followedElsewhere(followed: boolean): void {
    const before = this.isFollowed;
    this.#elsewhere = followed;
    if (before !== this.isFollowed) this.onFollowed(this.isFollowed);
  }

  /** Frees events that are stored and have been read. */
  #drop(): void {
    const { size } = this.#followers;
    const quickest = size === 0 ? Infinity : this.#quickest();
    let slowest = Infinity;
    for (const follower of this.#followers) slowest = Math.min(slowest, follower.position);
    let removed = 0;
    for (const piece of this.#pieces) {
      const end = piece.begins + piece.text.length;
      const taken = piece.first + piece.events <= slowest ||
        (end <= quickest && this.#chars - end > WINDOW);
      if (!(piece.written || this.#lost !== null) || !taken) break;
      removed++;
    }
    if (removed > 0) this.#pieces.splice(0, removed);
  }

  /** The next events for a follower. `wait`: none yet; `behind`: only in the store. */
  take(follower: LiveFollower): string | null | "wait" | "behind" {
    const { position } = follower;
    if (position >= this.#events) {
      return this.#ended && (this.#endWritten || this.#lost !== null) ? null : "wait";
    }
    const [oldest] = this.#pieces;
    if (oldest === undefined || oldest.first > position) return "behind";
    let text = "";
    for (const piece of this.#pieces) {
      if (piece.first + piece.events <= follower.position) continue;
      if (!(piece.written || this.#lost !== null) || text.length > WINDOW) break;
      text += behind(piece.text, follower.position - piece.first);
      follower.position = piece.first + piece.events;
      follower.chars = piece.begins + piece.text.length;
    }
    if (text === "") return "wait";
    this.#drop();
    this.#wake();
    return text;
  }

  stored(event: number): Follower {
    return this.#options.stored(event);
  }
}

/** A follower on the node where the stream runs. */
class LiveFollower implements Follower {
  readonly #stream: LiveStream;
  position: number;
  /** Offset of its position in the stream in characters, as far as known. */
  chars = 0;
  #left = false;
  /** Reads events that are no longer in memory. */
  #stored: Follower | null = null;

  constructor(stream: LiveStream, from: number) {
    this.#stream = stream;
    this.position = from;
  }

  async next(): Promise<string | null> {
    while (!this.#left) {
      const taken = this.#stored === null ? this.#stream.take(this) : "behind";
      if (taken === "wait") await this.#stream.changed();
      else if (taken === "behind") return await this.#fromStore();
      else return taken;
    }
    return null;
  }

  async #fromStore(): Promise<string | null> {
    // Events that are not stored are in memory, except the last ones of a lost stream.
    const { isLost } = this.#stream;
    const follower = this.#stored ??= this.#stream.stored(this.position);
    const text = await follower.next();
    if (text !== null) this.position += eventsIn(text);
    if (!isLost) this.#leaveStored();
    return text;
  }

  #leaveStored(): void {
    this.#stored?.leave();
    this.#stored = null;
  }

  leave(): void {
    this.#left = true;
    this.#leaveStored();
    this.#stream.left(this);
  }
}
