/** Conditions of a query that filters fill, each with the parameter that it compares with. */
import type { Value } from "./rows.ts";

/** Adds a condition to both; undefined: there is none. */
export function conditionsIn(
  where: string[],
  params: Value[],
): (condition: string, value: Value | undefined) => void {
  return (condition, value) => {
    if (value !== undefined) where.push(`${condition} $${params.push(value)}`);
  };
}
