/** Running and ended calls of the other processes that share the store, as far as they publish them. */
import type { Generation, RunningCalls } from "../../store/mod.ts";
import type { UnrecordedView } from "./live_events.ts";
import type { SharedCalls } from "./live_sharing.ts";
import { type BeginningView, type GenerationView, generationView } from "../administration/views.ts";

/** The other processes. Results are null while the store is unavailable, or if there is no other process. */
export interface OtherProcesses {
  /** Number of other processes, as far as known. */
  count(): number;
  /** Informs them that somebody watches here. */
  note(): Promise<void> | null;
  running(): Promise<readonly RunningCalls[]> | null;
  /** Records of all processes since a time, newest first, up to a bound. */
  ended(from: number): Promise<readonly Generation[]> | null;
}

export interface CallListener {
  start(view: BeginningView): void;
  end(view: GenerationView | UnrecordedView): void;
}

/** Interval of notes, shorter than the time after which other processes stop publishing. */
const NOTE_MS = 20_000;
/** Maximum age of calls whose ends are looked for. */
const LOOK_BACK_MS = 600_000;
/** Number of remembered ids of calls that were sent. */
const MOST_TOLD = 5000;

export class Elsewhere {
  readonly #others: OtherProcesses;
  readonly #tell: CallListener;
  readonly #now: () => number;
  #noted = -Infinity;
  /** Running calls of other processes, as sent to watchers. */
  #running = new Map<string, BeginningView>();
  /** Recently ended calls that were sent to watchers; null: not polled yet. */
  #ended: Set<string> | null = null;
  /** Number of processes that publish their calls. */
  #telling = 0;

  constructor(others: OtherProcesses, tell: CallListener, now: () => number) {
    this.#others = others;
    this.#tell = tell;
    this.#now = now;
  }

  /** The number of processes that share the store, including this one, and how many of them publish their calls. */
  get seen() {
    const nodes = 1 + this.#others.count();
    return { nodes, told: Math.min(nodes, 1 + this.#telling) };
  }

  running(): Iterable<BeginningView> {
    return this.#running.values();
  }

  /** A call ended in this process. */
  endedHere(id: string): void {
    this.#ended?.add(id);
  }

  async look(): Promise<void> {
    const now = this.#now();
    if (Math.abs(now - this.#noted) >= NOTE_MS) {
      const noting = this.#others.note();
      if (noting !== null) {
        this.#noted = now;
        await noting.catch(() => this.#noted = -Infinity);
      }
    }
    // Running calls are read first: those that end meanwhile are then found in the records.
    const running = await this.#others.running()?.catch(() => null) ?? null;
    const ended = await this.#others.ended(now - LOOK_BACK_MS)?.catch(() => null) ?? null;
    const first = this.#ended === null;
    if (ended !== null) this.#takeEnded(ended, first);
    if (running !== null) this.#takeRunning(running);
    if (running === null && ended === null) this.#telling = 0;
  }

  #takeEnded(found: readonly Generation[], first: boolean): void {
    const told = this.#ended ??= new Set();
    for (const generation of found.toReversed()) {
      if (told.has(generation.id)) continue;
      told.add(generation.id);
      this.#running.delete(generation.id);
      if (!first) this.#tell.end(generationView(generation));
    }
    if (told.size > MOST_TOLD) this.#ended = new Set(found.map(({ id }) => id));
  }

  #takeRunning(found: readonly RunningCalls[]): void {
    this.#telling = found.length;
    const running = new Map<string, BeginningView>();
    for (const { data } of found) {
      const shared: SharedCalls = JSON.parse(data);
      for (const view of shared.unrecorded) {
        if (this.#ended?.has(view.id)) continue;
        (this.#ended ??= new Set()).add(view.id);
        this.#tell.end(view);
      }
      for (const view of shared.running) {
        if (this.#ended?.has(view.id)) continue;
        running.set(view.id, view);
        if (!this.#running.has(view.id)) this.#tell.start(view);
      }
    }
    this.#running = running;
  }
}
