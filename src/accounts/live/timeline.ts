/**
 * Metrics of this process's calls per minute, 5 minutes, 15 minutes, 2 hours, day and week, for the console.
 *
 * Calls are aggregated in batches. At the end of each minute with calls, changes are written to the store,
 * where all nodes find them; while it is unavailable, the last hour is kept in memory.
 */
import type { Generation, Store } from "../../store/mod.ts";
import { pause } from "../../timing/waits.ts";
import type { Dimension } from "./dimensions.ts";
import { decodeRollup, encodeRollup, Rollup } from "./rollup.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Span lengths, and how long their rows are kept. */
export const SPANS = [
  { span: MINUTE, kept: 2 * HOUR },
  { span: 5 * MINUTE, kept: 8 * HOUR },
  { span: 15 * MINUTE, kept: 2 * DAY },
  { span: 2 * HOUR, kept: 15 * DAY },
  { span: DAY, kept: 100 * DAY },
  { span: 7 * DAY, kept: 400 * DAY },
] as const;

/** Number of minutes kept in memory, for when the store is unavailable. */
const MINUTES_HERE = 60;
/** Maximum number of spans waiting for the store. */
const MOST_WAITING = 500;
const RETIRE_EVERY_MS = HOUR;
/** Rollups decoded per turn of the event loop. */
const DECODED = 20;

export interface TimelineOptions {
  store: Pick<Store, "putRollups" | "rollups" | "retireRollups" | "time">;
  node: string;
  now(): number;
  /** False: the store is unavailable. */
  ready(): boolean;
}

/** Metrics by start of the span. */
export interface SpanSums {
  rollups: Map<number, Rollup>;
  /** Whether they include the store's data. */
  store: boolean;
  /** False: there were too many calls, and only the newest are included. */
  whole: boolean;
}

export interface SpanReader {
  /** Spans of one length; `by`: the one dimension to include. */
  read(of: { span: number; from: number; to: number; by?: Dimension }): Promise<SpanSums>;
}

interface Open {
  span: number;
  starts: number;
  rollup: Rollup;
  changed: boolean;
  /** This span was closed before, and the clock was set back: the store may have a part of it. */
  again: boolean;
}

/** A call that failed without a record. */
export type Unrecorded = Pick<Generation, "model" | "key" | "team" | "tags">;

export class Timeline implements SpanReader {
  readonly #options: TimelineOptions;
  /** The current minute, not yet added to the spans: each call is aggregated once, not once per span length. */
  #fresh: { starts: number; rollup: Rollup } | null = null;
  /** The current span of each length. */
  readonly #open = new Map<number, Open>();
  /** Start of the latest span of each length. */
  readonly #latest = new Map<number, number>();
  /** Past minutes, encoded; newest last. */
  readonly #minutes: { starts: number; data: string }[] = [];
  /** Past spans that are not in the store yet. */
  #waiting: Open[] = [];
  #writing: Promise<unknown> = Promise.resolve();
  #retired = 0;

  constructor(options: TimelineOptions) {
    this.#options = options;
  }

  /** Adds calls that have just ended. */
  add(ended: readonly Generation[], failed: readonly Unrecorded[]): void {
    if (ended.length === 0 && failed.length === 0) return;
    const now = this.#options.now();
    const minute = now - now % MINUTE;
    if (this.#fresh?.starts !== minute) {
      this.#fold();
      this.#fresh = { starts: minute, rollup: new Rollup() };
    }
    const { rollup } = this.#fresh!;
    for (const generation of ended) rollup.add(generation);
    for (const one of failed) rollup.addFailed(one);
  }

  /** Adds the current minute to the spans of each length. */
  #fold(): void {
    const fresh = this.#fresh;
    this.#fresh = null;
    if (fresh === null) return;
    for (const { span } of SPANS) {
      const open = this.#at(span, fresh.starts - fresh.starts % span);
      open.rollup.merge(fresh.rollup);
      open.changed = true;
    }
  }

  /**
   * Metrics of spans of one length by start, of all nodes if the store is available: total, and by one
   * dimension or all.
   */
  async read(
    { span, from, to, by }: { span: number; from: number; to: number; by?: Dimension },
  ): Promise<SpanSums> {
    this.#fold();
    const { store, node } = this.#options;
    const rollups = new Map<number, Rollup>();
    const add = (starts: number, rollup: Rollup) => {
      if (starts < from || starts >= to) return;
      const found = rollups.get(starts);
      if (found === undefined) rollups.set(starts, rollup);
      else found.merge(rollup);
    };
    const here = new Set<number>();
    for (const open of [...this.#waiting, ...this.#open.values()]) {
      if (open.span !== span) continue;
      here.add(open.starts);
      const copy = new Rollup();
      copy.merge(open.rollup);
      add(open.starts, copy);
    }
    let decoded = 0;
    const rows = this.#options.ready() ? await store.rollups({ span, from, to }).catch(() => null) : null;
    if (rows === null && span === MINUTE) {
      for (const { starts, data } of this.#minutes) {
        if (!here.has(starts)) add(starts, decodeRollup(data, by));
      }
    }
    for (const row of rows ?? []) {
      // Yields to other work.
      if (++decoded % DECODED === 0) await pause(0);
      if (row.node === node && here.has(row.starts)) continue;
      try {
        add(row.starts, decodeRollup(row.data, by));
      } catch {
        // Written by another release in another format: a chart without it is better than none.
      }
    }
    return { rollups, store: rows !== null, whole: true };
  }

  /** Writes changes to the store. True: some are left for later. */
  write(): Promise<boolean> {
    const written = this.#writing.then(() => this.#write());
    this.#writing = written.catch(() => {});
    return written;
  }

  /** The current span. A past one is queued for the store. */
  #at(span: number, starts: number): Open {
    const open = this.#open.get(span);
    if (open?.starts === starts) return open;
    if (open !== undefined) this.#over(open);
    const latest = this.#latest.get(span) ?? -Infinity;
    this.#latest.set(span, Math.max(latest, starts));
    // If the clock was set back, a span is still written once only.
    const waits = this.#waiting.findIndex((one) => one.span === span && one.starts === starts);
    const next = waits >= 0
      ? this.#waiting.splice(waits, 1)[0]
      : { span, starts, rollup: new Rollup(), changed: false, again: starts <= latest };
    this.#open.set(span, next);
    return next;
  }

  #over(open: Open): void {
    if (open.span === MINUTE) {
      this.#minutes.push({ starts: open.starts, data: encodeRollup(open.rollup) });
      if (this.#minutes.length > MINUTES_HERE) this.#minutes.shift();
    }
    if (!open.changed) return;
    this.#waiting.push(open);
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift();
  }

  /** Adds the part of a span that this process has written before. */
  async #addStored(open: Open): Promise<void> {
    const { span, starts } = open;
    const rows = await this.#options.store.rollups({ span, from: starts, to: starts + 1 });
    for (const { node, data } of rows) if (node === this.#options.node) open.rollup.merge(decodeRollup(data));
    open.again = false;
  }

  async #write(): Promise<boolean> {
    this.#fold();
    const { store, node, now, ready } = this.#options;
    const time = now();
    for (const open of [...this.#open.values()]) {
      if (open.starts + open.span > time) continue;
      this.#open.delete(open.span);
      this.#over(open);
    }
    const changed = [...this.#waiting, ...[...this.#open.values()].filter((open) => open.changed)];
    if (changed.length === 0) return false;
    if (!ready()) return true;
    for (const open of changed) open.changed = false;
    try {
      for (const open of changed) if (open.again) await this.#addStored(open);
      const rows = changed.map(({ span, starts, rollup }) => ({
        span,
        starts,
        node,
        data: encodeRollup(rollup),
      }));
      await store.putRollups(rows);
      this.#waiting = this.#waiting.filter((open) => !changed.includes(open));
      if (Math.abs(time - this.#retired) > RETIRE_EVERY_MS) {
        this.#retired = time;
        // A clock that is ahead must not delete what all nodes still show.
        const until = Math.min(time, await store.time() ?? Infinity);
        for (const { span, kept } of SPANS) await store.retireRollups(span, until - kept);
      }
      return false;
    } catch {
      for (const open of changed) open.changed = true;
      return true;
    }
  }
}
