/**
 * Metrics of calls in a time span: total, and by model, provider, key, team and tag, with latency histograms
 * from which percentiles are computed to within a few per cent.
 */
import type { Generation } from "../../store/mod.ts";
import { type Dimension, DIMENSIONS } from "./dimensions.ts";

/** Maximum number of values per dimension; further ones are summed as {@link OTHERS}. */
const MOST_VALUES = 50;
export const OTHERS = "(others)";

/** Growth factor of the histogram's bucket widths (as logarithm). */
const GROWTH = Math.log(1.15);

function bucketOf(ms: number): number {
  return ms < 1 ? 0 : 1 + Math.floor(Math.log(ms) / GROWTH);
}

/** A histogram of milliseconds. */
export class Histogram {
  readonly counts = new Map<number, number>();
  total = 0;

  add(ms: number): void {
    this.put(bucketOf(ms), 1);
  }

  put(at: number, count: number): void {
    this.counts.set(at, (this.counts.get(at) ?? 0) + count);
    this.total += count;
  }

  merge(other: Histogram): void {
    for (const [at, count] of other.counts) this.put(at, count);
  }

  /** The middle of the bucket that contains this percentile; null: empty. */
  percentile(share: number): number | null {
    if (this.total === 0) return null;
    let left = Math.ceil(share * this.total);
    for (const at of [...this.counts.keys()].sort((a, b) => a - b)) {
      left -= this.counts.get(at)!;
      if (left <= 0) return at === 0 ? 0 : Math.exp((at - 0.5) * GROWTH);
    }
    return null;
  }
}

/** Metrics of one dimension value. */
export class Cell {
  requests = 0;
  errors = 0;
  input = 0;
  cached = 0;
  output = 0;
  searches = 0;
  cost = 0n;
  saved = 0n;
  /** How many of the requests failed without a record: sums of records do not include them. */
  unrecorded = 0;
  readonly ttft = new Histogram();
  readonly latency = new Histogram();

  /** @param ttft bucket of the time to first token, `latency` of the total time; -1: not available */
  add(g: Generation, ttft: number, latency: number): void {
    this.requests++;
    if (g.status === "failed" || g.status === "interrupted") this.errors++;
    if (g.usage !== null) {
      this.input += g.usage.input;
      this.cached += g.usage.cached;
      this.output += g.usage.output;
    }
    this.searches += g.searches;
    this.cost += g.cost;
    if (g.cacheSaved !== null && g.cacheSaved !== 0n) this.saved += g.cacheSaved;
    if (ttft >= 0) this.ttft.put(ttft, 1);
    if (latency >= 0) this.latency.put(latency, 1);
  }

  merge(other: Cell): void {
    this.requests += other.requests;
    this.errors += other.errors;
    this.unrecorded += other.unrecorded;
    this.input += other.input;
    this.cached += other.cached;
    this.output += other.output;
    this.searches += other.searches;
    this.cost += other.cost;
    this.saved += other.saved;
    this.ttft.merge(other.ttft);
    this.latency.merge(other.latency);
  }
}

/** Six counts, two amounts, two histograms. `unrecorded` is absent in data of older releases. */
type EncodedCell = [
  requests: number,
  errors: number,
  input: number,
  cached: number,
  output: number,
  searches: number,
  cost: string,
  saved: string,
  ttft: number[],
  latency: number[],
  unrecorded?: number,
];

const encodeCell = (c: Cell): EncodedCell => [
  c.requests,
  c.errors,
  c.input,
  c.cached,
  c.output,
  c.searches,
  String(c.cost),
  String(c.saved),
  [...c.ttft.counts].flat(),
  [...c.latency.counts].flat(),
  c.unrecorded,
];

function decodeCell(value: EncodedCell): Cell {
  const cell = new Cell();
  const [requests, errors, input, cached, output, searches, cost, saved, ttft, latency, unrecorded = 0] =
    value;
  Object.assign(cell, { requests, errors, input, cached, output, searches, unrecorded });
  cell.cost = BigInt(cost);
  cell.saved = BigInt(saved);
  for (let i = 0; i < ttft.length; i += 2) cell.ttft.put(ttft[i], ttft[i + 1]);
  for (let i = 0; i < latency.length; i += 2) cell.latency.put(latency[i], latency[i + 1]);
  return cell;
}

export class Rollup {
  readonly all = new Cell();
  readonly by: Record<Dimension, Map<string, Cell>> = {
    model: new Map(),
    provider: new Map(),
    key: new Map(),
    team: new Map(),
    tag: new Map(),
  };

  add(g: Generation): void {
    const ttft = g.ttftMs === null ? -1 : bucketOf(g.ttftMs);
    const latency = g.latencyMs > 0 || g.ttftMs !== null ? bucketOf(g.latencyMs) : -1;
    this.all.add(g, ttft, latency);
    this.cell("model", g.model).add(g, ttft, latency);
    if (g.provider !== null) this.cell("provider", g.provider).add(g, ttft, latency);
    this.cell("key", g.key).add(g, ttft, latency);
    if (g.team !== null) this.cell("team", g.team).add(g, ttft, latency);
    if (g.tags === null) return;
    for (const [name, value] of Object.entries(g.tags)) {
      this.cell("tag", `${name}=${value}`).add(g, ttft, latency);
    }
  }

  /** Adds a call that failed without a record. Its model is empty if it is not in the catalog. */
  addFailed({ model, key, team, tags }: Pick<Generation, "model" | "key" | "team" | "tags">): void {
    const cells = [this.all, this.cell("key", key)];
    if (model !== "") cells.push(this.cell("model", model));
    if (team !== null) cells.push(this.cell("team", team));
    for (const [name, value] of Object.entries(tags ?? {})) cells.push(this.cell("tag", `${name}=${value}`));
    for (const cell of cells) {
      cell.requests++;
      cell.errors++;
      cell.unrecorded++;
    }
  }

  /** @param most maximum number of values */
  cell(dimension: Dimension, value: string, most = MOST_VALUES): Cell {
    const cells = this.by[dimension];
    const name = cells.has(value) || cells.size < most ? value : OTHERS;
    let cell = cells.get(name);
    if (cell === undefined) cells.set(name, cell = new Cell());
    return cell;
  }

  merge(other: Rollup): void {
    this.all.merge(other.all);
    for (const dimension of DIMENSIONS) {
      for (const [value, cell] of other.by[dimension]) {
        this.cell(dimension, value, 4 * MOST_VALUES).merge(cell);
      }
    }
  }
}

/** One line of JSON for the total and one per dimension, so that unneeded ones are not parsed. */
export function encodeRollup(rollup: Rollup): string {
  const by = DIMENSIONS.map((dimension) =>
    JSON.stringify([...rollup.by[dimension]].map(([value, cell]) => [value, encodeCell(cell)]))
  );
  return [JSON.stringify(encodeCell(rollup.all)), ...by].join("\n");
}

/** @param only the one dimension to decode; absent: all */
export function decodeRollup(text: string, only?: Dimension): Rollup {
  const [all, ...by] = text.split("\n");
  const rollup = new Rollup();
  rollup.all.merge(decodeCell(JSON.parse(all)));
  for (const [i, dimension] of DIMENSIONS.entries()) {
    if (only !== undefined && dimension !== only) continue;
    const cells: [string, EncodedCell][] = JSON.parse(by[i]);
    for (const [value, cell] of cells) rollup.by[dimension].set(value, decodeCell(cell));
  }
  return rollup;
}
