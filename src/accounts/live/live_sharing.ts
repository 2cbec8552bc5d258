/**
 * Publishes the calls of this process while somebody watches at another one, through the store, which is the
 * only connection. The watching process repeats its note; publishing stops when it has not been repeated for
 * a while.
 */
import type { Store } from "../../store/mod.ts";
import type { Beginning } from "../ledger.ts";
import type { UnrecordedView } from "./live_events.ts";
import { type BeginningView, beginningView } from "../administration/views.ts";

/** What a process publishes. */
export interface SharedCalls {
  /** Running calls; only the newest if there are very many. */
  running: BeginningView[];
  /** Calls that ended recently without a record. */
  unrecorded: UnrecordedView[];
}

export interface LiveSharingOptions {
  store: Pick<Store, "putRunningCalls">;
  node: string;
  now(): number;
  running(): Iterable<Beginning>;
  /** False: the store is unavailable. */
  ready(): boolean;
}

/** How long calls are published after a note, in milliseconds. */
const WATCHED_MS = 60_000;
const TELL_MS = 500;
const MOST_RUNNING = 200;
/** How long a call without a record is published, in milliseconds. */
const UNRECORDED_MS = 10_000;
const MOST_UNRECORDED = 50;

export class LiveSharing {
  readonly #options: LiveSharingOptions;
  #until = 0;
  #told = "";
  #unrecorded: { view: UnrecordedView; until: number }[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;
  #telling: Promise<void> | null = null;

  constructor(options: LiveSharingOptions) {
    this.#options = options;
  }

  get active(): boolean {
    return this.#timer !== undefined;
  }

  /** Somebody watches at another process. */
  watched(): void {
    this.#until = this.#options.now() + WATCHED_MS;
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => void this.tell(), TELL_MS);
    Deno.unrefTimer(this.#timer);
    void this.tell();
  }

  unrecorded(view: UnrecordedView): void {
    if (this.#timer === undefined || this.#unrecorded.length >= MOST_UNRECORDED) return;
    this.#unrecorded.push({ view, until: this.#options.now() + UNRECORDED_MS });
  }

  /** Writes changes to the store. */
  tell(): Promise<void> {
    return this.#telling ??= this.#tell().catch(() => {}).finally(() => this.#telling = null);
  }

  async #tell(): Promise<void> {
    const { store, node, now, ready } = this.#options;
    const time = now();
    if (time >= this.#until) return await this.stop();
    this.#unrecorded = this.#unrecorded.filter(({ until }) => until > time);
    if (!ready()) return;
    const shared: SharedCalls = {
      running: newest(this.#options.running()),
      unrecorded: this.#unrecorded.map(({ view }) => view),
    };
    const data = JSON.stringify(shared);
    if (data === this.#told) return;
    await store.putRunningCalls(node, data);
    this.#told = data;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#unrecorded = [];
    this.#told = "";
    if (this.#options.ready()) await this.#options.store.putRunningCalls(this.#options.node, null);
  }
}

function newest(running: Iterable<Beginning>): BeginningView[] {
  const all = [...running];
  if (all.length > MOST_RUNNING) {
    all.sort((a, b) => a.created - b.created).splice(0, all.length - MOST_RUNNING);
  }
  return all.map(beginningView);
}
