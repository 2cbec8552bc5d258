/** What runs, and has ended, in the other processes that share the store, as far as they tell it. */
import type { Generation, RunningCalls } from "../../store/mod.ts";
import type { UnrecordedView } from "./live_events.ts";
import type { SharedCalls } from "./live_sharing.ts";
import { type BeginningView, type GenerationView, generationView } from "../administration/views.ts";

/** The other processes; each answer is null while the store cannot be asked, or where there is no other process. */
export interface OtherProcesses {
  /** How many there are, as far as is known. */
  count(): number;
  /** Tells them that somebody watches here. */
  note(): Promise<void> | null;
  running(): Promise<readonly RunningCalls[]> | null;
  /** Records of all since a time, the newest first, as many as it takes. */
  ended(from: number): Promise<readonly Generation[]> | null;
}

export interface Told {
  start(view: BeginningView): void;
  end(view: GenerationView | UnrecordedView): void;
}

/** They are told again before they think that nobody watches any more. */
const NOTE_MS = 20_000;
/** How old calls may be whose ends are looked for. */
const LOOK_BACK_MS = 600_000;
/** Ids of calls that are known to have been told. */
const MOST_TOLD = 5000;

export class Elsewhere {
  readonly #others: OtherProcesses;
  readonly #tell: Told;
  readonly #now: () => number;
  #noted = -Infinity;
  /** That run there, as watchers have been told. */
  #running = new Map<string, BeginningView>();
  /** Calls whose ends watchers have been told of, as far as they may come up again; null: nobody has looked yet. */
  #ended: Set<string> | null = null;
  /** Processes that tell what they run. */
  #telling = 0;

  constructor(others: OtherProcesses, tell: Told, now: () => number) {
    this.#others = others;
    this.#tell = tell;
    this.#now = now;
  }

  /** Processes that share the store, with this one, and of those the ones whose calls are told as they begin. */
  get seen() {
    const nodes = 1 + this.#others.count();
    return { nodes, told: Math.min(nodes, 1 + this.#telling) };
  }

  running(): Iterable<BeginningView> {
    return this.#running.values();
  }

  /** One that ended in this process. */
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
    // First what runs: what has ended since is in the records, and not the other way round.
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
