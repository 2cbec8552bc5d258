/**
 * The vocabulary of entity types, as it follows from the recognizers: names, groups, aliases, categories, and what is
 * scanned for when nobody says. Callers' names may be in any letter case.
 */

import { RECOGNIZERS } from "./recognizers/list.ts";
import { type Category, type EntityGroup, GROUPS } from "./recognizers/recognizer.ts";

const CATEGORIES = new Map<string, Category>(
  RECOGNIZERS.map(({ type, group }) => [type, GROUPS[group].category]),
);

/** What each accepted name stands for: a type or an alias for one type, a group for several. */
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

/** What is looked for when a policy names nothing. */
export const DEFAULT_TYPES: ReadonlySet<string> = new Set(
  RECOGNIZERS.filter(({ group, byDefault }) => byDefault ?? GROUPS[group].byDefault).map(({ type }) => type),
);

/** Every name that a request may use, for the message that refuses one it may not. */
export const ALL_ENTITY_NAMES: readonly string[] = [...TYPES_BY_NAME.keys()].sort();

/** The category that findings of a type are filed under. */
export function categoryOf(type: string): Category {
  return CATEGORIES.get(type) ?? "pii";
}

/** Names, groups and aliases become types; an absent list means the default set. Unknown names are handed back. */
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
