/** The reference page of entity types, from the list of recognizers. */
import { DEFAULT_TYPES } from "../../dlp/entities.ts";
import { RECOGNIZERS } from "../../dlp/recognizers/list.ts";
import { GROUPS } from "../../dlp/recognizers/recognizer.ts";
import { code, head, markdownTable } from "./markdown.ts";

const INTRODUCTION =
  `The types of data that [data-loss prevention](../dlp.md) finds. \`entity_types\` of a policy or a request accepts each of these names, in any letter case; the name of a group includes all its types. "Default" marks the types that are used if \`entity_types\` is not set.`;

export function entitiesPage(): string {
  const groups = Object.entries(GROUPS).map(([group, { category, aliases }]) => {
    const names = aliases.length > 0 ? ` Other names of the group: ${aliases.map(code).join(", ")}.` : "";
    const rows = RECOGNIZERS.filter((recognizer) => recognizer.group === group).map((
      { type, aliases = [] },
    ) => [
      code(type),
      DEFAULT_TYPES.has(type) ? "yes" : "no",
      aliases.map(code).join(", "),
    ]);
    return `## \`${group}\`\n\nFindings have the category \`${category}\`.${names}\n\n` +
      markdownTable(["Type", "Default", "Other names"], rows);
  });
  return `${head("Entity types", "src/dlp/recognizers/list.ts", INTRODUCTION)}\n\n${groups.join("\n\n")}\n`;
}
