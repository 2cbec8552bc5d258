/**
 * Converts reasoning effort between levels and token budgets, for formats that have only one of them.
 *
 * The budgets are chosen by this gateway, within the range accepted by messages providers (at least 1,024,
 * below the output limit); a caller's own number is kept.
 */
import type { Effort, ReasoningOptions } from "../exchange/prompt.ts";

const BUDGETS: readonly (readonly [Effort, number])[] = [
  ["minimal", 1024],
  ["low", 4096],
  ["medium", 10240],
  ["high", 24576],
  ["xhigh", 32768],
  ["max", 65536],
];

export const EFFORTS: readonly Effort[] = ["none", ...BUDGETS.map(([effort]) => effort)];

/** Minimum budget accepted by messages providers. */
export const LEAST_BUDGET = 1024;

/** Whether it is an effort level. */
export function isEffort(value: unknown): value is Effort {
  return typeof value === "string" && (EFFORTS as readonly string[]).includes(value);
}

/** The token budget of a level; 0 for `none`. */
export function budgetOf(effort: Effort): number {
  return BUDGETS.find(([name]) => name === effort)?.[1] ?? 0;
}

/** The lowest level whose budget is at least this. */
function effortOf(budget: number): Effort {
  if (budget <= 0) return "none";
  return BUDGETS.find(([, tokens]) => budget <= tokens)?.[0] ?? "max";
}

/** The requested level, from either field; undefined: the model's default. */
export function requestedEffort(options: ReasoningOptions | undefined): Effort | undefined {
  if (!options) return undefined;
  if (options.mode === "off") return "none";
  if (options.effort) return options.effort;
  if (options.budget !== undefined) return effortOf(options.budget);
  return options.mode === "on" ? "medium" : undefined;
}

/** The options with a changed level. */
export function changedEffort(options: ReasoningOptions | undefined, effort: Effort): ReasoningOptions {
  const { mode, budget: _, ...others } = options ?? {};
  if (effort === "none") return { ...others, mode: "off", effort };
  return { ...others, ...(mode !== undefined && mode !== "off" && { mode }), effort };
}

/** The nearest supported level; the lower one if equally near. Null `offered`: the level itself. */
export function nearestEffort(effort: Effort, offered: readonly Effort[] | null): Effort {
  if (offered === null || offered.length === 0 || offered.includes(effort)) return effort;
  const at = EFFORTS.indexOf(effort);
  let best = offered[0];
  for (const other of offered) {
    const distance = Math.abs(EFFORTS.indexOf(other) - at) - Math.abs(EFFORTS.indexOf(best) - at);
    if (distance < 0 || (distance === 0 && EFFORTS.indexOf(other) < EFFORTS.indexOf(best))) best = other;
  }
  return best;
}
