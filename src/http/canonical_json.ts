/** JSON in one form for values that mean the same: fields in the order of their names, no blanks. */
import { isObject } from "../exchange/json.ts";

const isRaw = (JSON as unknown as { isRawJSON?(value: unknown): boolean }).isRawJSON ?? (() => false);

export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part) => isObject(part) && !isRaw(part) ? sorted(part) : part) ?? "";
}

function sorted(value: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(value);
  const inOrder = names.every((name, i) => i === 0 || names[i - 1] < name);
  if (inOrder) return value;
  const made = Object.create(null) as Record<string, unknown>;
  for (const name of names.sort()) made[name] = value[name];
  return made;
}
