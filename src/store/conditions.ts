/** Builds the WHERE conditions of a filter together with their parameters. */
import type { Value } from "./rows.ts";

/** Adds a condition and its parameter; does nothing if the value is undefined. */
export function conditionsIn(
  where: string[],
  params: Value[],
): (condition: string, value: Value | undefined) => void {
  return (condition, value) => {
    if (value !== undefined) where.push(`${condition} $${params.push(value)}`);
  };
}
