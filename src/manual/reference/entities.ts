/** The page of entity types, from the list of recognizers. */
import { DEFAULT_TYPES } from "../../dlp/entities.ts";
import { RECOGNIZERS } from "../../dlp/recognizers/list.ts";
import { GROUPS } from "../../dlp/recognizers/recognizer.ts";
import { code, head, markdownTable } from "./markdown.ts";

const INTRODUCTION =
  `What [data-loss prevention](../dlp.md) looks for. Each name is accepted in \`entity_types\` of a policy or a request, in any letter case; a group stands for all its types. "Default" are the types that are looked for where \`entity_types\` is left out.`;

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
