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

/**
 * Adds the condition on the name of a key: rows under this name, and all rows of the keys that have this name
 * at present. Does nothing if the name is undefined.
 */
export function addKeyName(
  where: string[],
  params: Value[],
  { key, keysNow = [] }: { key?: string; keysNow?: readonly string[] },
): void {
  if (key === undefined) return;
  const named = `key_name = $${params.push(key)}`;
  const ids = keysNow.map((id) => `$${params.push(id)}`);
  where.push(ids.length === 0 ? named : `(${named} OR key_id IN (${ids.join(", ")}))`);
}
