/**
 * Entity types, derived from the recognizers: names, groups, aliases, categories, and the default set. Names
 * are case-insensitive.
 */

import { RECOGNIZERS } from "./recognizers/list.ts";
import { type Category, type EntityGroup, GROUPS } from "./recognizers/recognizer.ts";

const CATEGORIES = new Map<string, Category>(
  RECOGNIZERS.map(({ type, group }) => [type, GROUPS[group].category]),
);

/** The types of each accepted name: one for a type or alias, several for a group. */
const TYPES_BY_NAME = new Map<string, readonly string[]>();
for (const [group, { aliases }] of Object.entries(GROUPS)) {
  const members = typesOf(group as EntityGroup);
  for (const name of [group, ...aliases]) TYPES_BY_NAME.set(name, members);
}
TYPES_BY_NAME.set("PII", [...typesOf("CONTACT"), ...typesOf("NETWORK"), ...typesOf("PERSON_DATA")]);
for (const { type, aliases } of RECOGNIZERS) {
  for (const name of [type, ...aliases ?? []]) TYPES_BY_NAME.set(name, [type]);
}

function typesOf(group: EntityGroup): string[] {
  return RECOGNIZERS.filter((recognizer) => recognizer.group === group).map(({ type }) => type);
}

/** The types used if a policy names none. */
export const DEFAULT_TYPES: ReadonlySet<string> = new Set(
  RECOGNIZERS.filter(({ group, byDefault }) => byDefault ?? GROUPS[group].byDefault).map(({ type }) => type),
);

/** Every accepted name, for error messages. */
export const ALL_ENTITY_NAMES: readonly string[] = [...TYPES_BY_NAME.keys()].sort();

/** The category of a type. */
export function categoryOf(type: string): Category {
  return CATEGORIES.get(type) ?? "pii";
}

/**
 * Resolves names, groups and aliases to types; undefined means the default set. Unknown names are returned
 * separately.
 */
export function resolveEntityTypes(
  names: readonly string[] | undefined,
): { types: Set<string>; unknown: string[] } {
  if (names === undefined) return { types: new Set(DEFAULT_TYPES), unknown: [] };
  const types = new Set<string>();
  const unknown: string[] = [];
  for (const given of names) {
    const meant = TYPES_BY_NAME.get(given.trim().toUpperCase().replace(/[\s-]+/g, "_"));
    if (meant === undefined) unknown.push(given);
    else for (const type of meant) types.add(type);
  }
  return { types, unknown };
}
