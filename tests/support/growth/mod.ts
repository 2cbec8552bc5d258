/** Everything that can be repeated in what others send. */
import { ANSWERS } from "./answers.ts";
import { CONFIGURATIONS } from "./configurations.ts";
import type { Dimension } from "./dimension.ts";
import { OTHERS } from "./others.ts";
import { OUTSIDE } from "./outside.ts";
import { REQUESTS } from "./requests.ts";

export type { Dimension } from "./dimension.ts";

export const DIMENSIONS: readonly Dimension[] = [
  ...REQUESTS,
  ...ANSWERS,
  ...OTHERS,
  ...OUTSIDE,
  ...CONFIGURATIONS,
];

/** Work that grows faster than its input to this power is no longer linear. */
export const MOST_EXPONENT = 1.15;

/** The power of the input's size that some amounts grow with, each for twice the size of the one before. */
export function exponentOf(amounts: readonly number[]): number {
  // Least squares on logarithms, whose places are 0, 1, 2 …
  const logs = amounts.map((amount) => Math.log2(Math.max(amount, 1e-9)));
  const middle = (logs.length - 1) / 2;
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  let above = 0;
  let below = 0;
  logs.forEach((log, i) => {
    above += (i - middle) * (log - mean);
    below += (i - middle) ** 2;
  });
  return above / below;
}

/** How large something is that leaves the gateway. */
export function sizeOf(sent: unknown): number {
  return (typeof sent === "string" ? sent : JSON.stringify(sent) ?? "").length;
}
