/** Medians, spread, and the one table at the end. */

/** One line of the table. */
export interface Row {
  measure: string;
  unit: string;
  /** How the provider is reached; absent: in the open. */
  provider?: string;
  /** Of the gateway, one number a round; empty: not measured. */
  gateway: readonly number[];
  /** Of what it is held against, in the same rounds. */
  floor: readonly number[];
  /** Null: nothing is asked. A bound on the ratio, or on the gateway's own number where there is no floor. */
  must: Bound | null;
  stretch: Bound | null;
  /** True: bounds are held against the whole interval of the middle ratio, because one round says little. */
  interval?: boolean;
  /** Why there are no numbers, or what they need to be understood. */
  note?: string;
}

export interface Bound {
  at: number;
  better: "more" | "less";
}

export const atLeast = (at: number): Bound => ({ at, better: "more" });
export const atMost = (at: number): Bound => ({ at, better: "less" });

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** Gateway over floor, round by round: what disturbs the machine disturbs both of a round. */
export function ratios(row: Row): number[] {
  return row.gateway.flatMap((value, i) => row.floor[i] > 0 ? [value / row.floor[i]] : []);
}

/**
 * In 95 of 100 measurements the true median lies between these, however the values are spread: from the k-th lowest to the
 * k-th highest, with the largest k that a binomial distribution allows. Null: there are too few values.
 */
export function medianInterval(values: readonly number[]): [low: number, high: number] | null {
  const n = values.length;
  let outside = 0;
  let term = 0.5 ** n;
  let k = 0;
  for (; outside + term <= 0.025; k++) {
    outside += term;
    term *= (n - k) / (k + 1);
  }
  if (k === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  return [sorted[k - 1], sorted[n - k]];
}

/** What bounds are held against: the ratio, or the number itself. */
function judged(row: Row): number | null {
  if (row.gateway.length === 0) return null;
  const relative = ratios(row);
  if (row.floor.length > 0) return relative.length > 0 ? median(relative) : null;
  return median(row.gateway);
}

export function meets(row: Row, bound: Bound | null): boolean | null {
  const value = judged(row);
  if (bound === null || value === null) return null;
  return bound.better === "more" ? value >= bound.at : value <= bound.at;
}

/** What the last column says of a bound: `unclear` where the interval lies on both sides of it. */
function verdict(row: Row): string {
  const met = meets(row, row.must);
  if (met === null) return "–";
  const interval = row.interval ? medianInterval(ratios(row)) : null;
  if (interval !== null && row.must !== null) {
    const [low, high] = interval;
    if (low <= row.must.at && high > row.must.at) return "unclear";
  }
  return meets(row, row.stretch) ? "stretch" : met ? "yes" : "NO";
}

export function render(rows: readonly Row[]): string {
  const cells = [
    ["measure", "provider", "gateway", "floor", "ratio", "must", "stretch", "met"],
    ...rows.map((row) => [
      `${row.measure}, ${row.unit}`,
      row.provider ?? "plain",
      row.gateway.length === 0 ? "–" : spread(row.gateway),
      row.floor.length === 0 ? "–" : number(median(row.floor)),
      row.floor.length === 0 || row.gateway.length === 0 ? "–" : ratioText(row),
      bound(row.must),
      bound(row.stretch),
      verdict(row),
    ]),
  ];
  const widths = cells[0].map((_, i) => Math.max(...cells.map((line) => line[i].length)));
  const lines = cells.map((line) => `| ${line.map((cell, i) => cell.padEnd(widths[i])).join(" | ")} |`);
  lines.splice(1, 0, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`);
  const notes = rows.flatMap((row) => row.note === undefined ? [] : [`${row.measure}: ${row.note}`]);
  return [...lines, ...notes.map((note) => `\n${note}`)].join("\n");
}

function spread(values: readonly number[]): string {
  const middle = number(median(values));
  return values.length === 1
    ? middle
    : `${middle} [${number(Math.min(...values))}..${number(Math.max(...values))}]`;
}

function ratioText(row: Row): string {
  const all = ratios(row);
  if (all.length === 0) return "–";
  const interval = row.interval ? medianInterval(all) : null;
  if (interval === null) return median(all).toFixed(2);
  const [low, high] = interval;
  return `${median(all).toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
}

function bound(of: Bound | null): string {
  return of === null ? "–" : `${of.better === "more" ? "≥" : "≤"} ${of.at}`;
}

function number(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
